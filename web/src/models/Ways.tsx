// The ways to a model, of which one is chosen; its form opens below it.
import { type ReactNode, useId } from 'react';
import { useWords } from '../lib/i18n';
import { type Provider, providersOf, type Way } from './data';
import { models } from './words';

interface WaysProps {
  all: Provider[];
  found: { models: string[] | null } | undefined;
  way: Way;
  choose: (way: Way) => void;
  form: ReactNode;
  children?: ReactNode;
}

/** How many of the other vendors are named. */
const namedVendors = 4;

export function Ways({ all, found, way, choose, form, children }: WaysProps): ReactNode {
  const w = useWords(models);
  const others = providersOf(all, 'others');
  const names = others.slice(0, namedVendors).map((p) => p.title);
  const local = found?.models ?? [];
  const ways: [Way, string, string][] = [
    ...(found
      ? ([['ollama', w.ollama, local[0] ? w.ollamaHint(local[0], local.length - 1) : w.ollamaEmpty]] as [
          Way,
          string,
          string,
        ][])
      : []),
    ['openai', 'OpenAI', w.openaiHint],
    ['others', w.others(names.join(', '), others.length - names.length), w.openaiHint],
    ['server', w.server, w.serverHint],
  ];
  return (
    <div className="list ways" role="group" aria-label={w.which}>
      {ways.map(([key, label, hint]) => (
        <Row key={key} label={label} hint={hint} on={key === way} choose={() => choose(key)}>
          {key === way && form}
        </Row>
      ))}
      {children}
    </div>
  );
}

interface RowProps {
  label: string;
  hint: string;
  on: boolean;
  choose: () => void;
  children: ReactNode;
}

function Row({ label, hint, on, choose, children }: RowProps): ReactNode {
  const id = useId();
  return (
    <div>
      <label className="opt-row">
        <input type="radio" name="way" checked={on} onChange={choose} aria-describedby={id} aria-label={label} />
        <b>{label}</b>
        <small id={id}>{hint}</small>
      </label>
      {children}
    </div>
  );
}
