// What is behind the line of a call: what it was given, what it said or says, and how it ended.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { lasted, useWords } from '../../lib/i18n';
import { ask } from '../../lib/router';
import { Copy } from '../../ui/Copy';
import { Icon } from '../../ui/Icon';
import { type CallStep, exitOf, type Outcome, resultOf, wholeOf } from './outcome';
import { short } from './tools';
import { Unknown } from './Unknown';
import { trail } from './words';

interface DetailProps {
  step: CallStep;
  outcome: Outcome;
}

export function CallDetail({ step, outcome }: DetailProps): ReactNode {
  const w = useWords(trail);
  const text = resultOf(step);
  const command = step.call.args['command'];
  const code = exitOf(step);
  return (
    <div className="open">
      {typeof command === 'string' ? <Command text={command} /> : <Arguments step={step} />}
      {outcome === 'maybe' && <Unknown step={step} />}
      {outcome === 'live' ? (
        <Live text={step.live?.output ?? ''} />
      ) : (
        <Output text={text || (step.live?.output ?? '')} />
      )}
      {outcome !== 'live' && (
        <div className="end">
          {step.call.name === 'bash' && (outcome === 'done' || code) && <span>{w.exit(code || '0')}</span>}
          {step.live?.millis !== undefined && outcome !== 'maybe' && <span>{lasted(step.live.millis)}</span>}
          <span className="grow" />
          <Whole text={text} name={step.call.name} />
          <Copy text={() => (typeof command === 'string' ? `${command}\n${text}` : text)} />
        </div>
      )}
    </div>
  );
}

/** A command as it was run. */
const Command = ({ text }: { text: string }): ReactNode => (
  <div className="cmd" tabIndex={0} role="group" aria-label={text.split('\n')[0] ?? ''}>
    {text}
  </div>
);

/** Arguments by their names; long ones in boxes of their own. */
function Arguments({ step }: { step: CallStep }): ReactNode {
  const all = Object.entries(step.call.args).filter(([name]) => name !== 'description' && name !== '');
  if (all.length === 0) return null;
  return (
    <dl className="args">
      {all.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? short(value) : JSON.stringify(value, null, 2)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Output while it comes: a well of a fixed height, which follows its end. */
function Live({ text }: { text: string }): ReactNode {
  const w = useWords(trail);
  const well = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (well.current) well.current.scrollTop = well.current.scrollHeight;
  }, [text]);
  return (
    <pre ref={well} className="out live-out" role="group" tabIndex={0} aria-label={w.output}>
      {text}
    </pre>
  );
}

/** A long output as a file: the one that the server has put it into, or one to save. */
function Whole({ text, name }: { text: string; name: string }): ReactNode {
  const w = useWords(trail);
  const path = wholeOf(text);
  if (path) {
    return (
      <button
        type="button"
        className="btn ghost sm"
        onClick={() => ask({ panel: 'files', file: short(path), run: null })}
      >
        <Icon name="file" />
        {w.wholeOutput}
      </button>
    );
  }
  if (text.trimEnd().split('\n').length <= 2 * ends) return null;
  const save = (): void => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    link.download = `${name}.txt`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  return (
    <button type="button" className="btn ghost sm" onClick={save}>
      <Icon name="download" />
      {w.asFile}
    </button>
  );
}

const ends = 40;

/** The first and the last lines; those between when they are asked for. */
function Output({ text }: { text: string }): ReactNode {
  const w = useWords(trail);
  const [all, setAll] = useState(false);
  const lines = text.trimEnd().split('\n');
  if (text.trim() === '') return <p className="out">{w.nothingSaid}</p>;
  const between = lines.length - 2 * ends;
  if (all || between <= 0) {
    return (
      <pre className="out" role="group" tabIndex={0} aria-label={w.output}>
        {text.trimEnd()}
      </pre>
    );
  }
  return (
    <pre className="out" role="group" tabIndex={0} aria-label={w.output}>
      {lines.slice(0, ends).join('\n')}
      {'\n'}
      <button type="button" className="btn ghost sm" onClick={() => setAll(true)}>
        {w.earlierLines(between)}
      </button>
      {'\n'}
      {lines.slice(-ends).join('\n')}
    </pre>
  );
}
