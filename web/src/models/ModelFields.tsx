// The fields of a model's form.
import { type FormEvent, type ReactNode, useId } from 'react';
import { useWords } from '../lib/i18n';
import { Field } from '../ui/Field';
import { Icon } from '../ui/Icon';
import type { Listed, Provider, Values } from './data';
import { models } from './words';

interface FieldsProps {
  was: Listed | undefined;
  values: Values;
  /** Changes some; pasted says that a key has come as a whole. */
  set: (some: Partial<Values>, pasted?: boolean) => void;
  provider: Provider;
  choices: Provider[];
  /** Models that the provider has. */
  suggestions: string[];
  faults: Record<string, string>;
  pick: ((p: Provider) => void) | undefined;
  test: () => void;
  tested: boolean;
}

/** The kinds of input by which a key comes at once: pasted, dropped, put there by a program that keeps passwords. */
const atOnce = new Set(['insertFromPaste', 'insertFromDrop', 'insertReplacementText']);

export function Fields(p: FieldsProps): ReactNode {
  const w = useWords(models);
  const { values, set, provider, faults } = p;
  const list = useId();
  return (
    <>
      {p.choices.length > 1 && (
        <Field label={values.way === 'server' ? w.kind : w.provider} fault={faults['provider']}>
          {(wired) => (
            <select
              {...wired}
              className="in"
              value={provider.name}
              onChange={(e) => {
                const next = p.choices.find((c) => c.name === e.target.value);
                if (next) p.pick?.(next);
              }}
            >
              {p.choices.map((c) => (
                <option key={c.name} value={c.name}>
                  {c.name === 'compatible' ? w.compatible : c.title}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {(values.way === 'server' || provider.needs_base_url || p.was) && (
        <Field
          label={w.address}
          needed={provider.needs_base_url}
          fault={faults['base_url']}
          hint={provider.needs_base_url ? w.addressHint : w.addressUsual(provider.base_url)}
        >
          {(wired) => (
            <input
              {...wired}
              className="in mono"
              inputMode="url"
              value={values.base_url}
              onChange={(e) => set({ base_url: e.target.value })}
            />
          )}
        </Field>
      )}
      <Key {...p} />
      <Field label={w.model} fault={faults['model']} hint={p.suggestions.length === 0 && w.modelHint}>
        {(wired) => (
          <>
            <input
              {...wired}
              className="in mono"
              list={list}
              value={values.model}
              onChange={(e) => set({ model: e.target.value })}
              autoComplete="off"
            />
            <datalist id={list}>
              {p.suggestions.map((m) => (
                <option key={m} value={m} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <details>
        <summary className="fold">
          <Icon name="right" className="i chev" />
          {w.more}
        </summary>
        <div className="form pt-3">
          {!p.was && (
            <Field label={w.name} fault={faults['name']} hint={w.nameHint(`${provider.name}/${values.model || '…'}`)}>
              {(wired) => (
                <input {...wired} className="in" value={values.name} onChange={(e) => set({ name: e.target.value })} />
              )}
            </Field>
          )}
          <Field label={w.shown}>
            {(wired) => (
              <input
                {...wired}
                className="in"
                value={values.display_name}
                onChange={(e) => set({ display_name: e.target.value })}
              />
            )}
          </Field>
          <Field label={w.window} hint={w.windowHint} fault={faults['settings']}>
            {(wired) => (
              <input
                {...wired}
                className="in"
                inputMode="numeric"
                value={values.context_window}
                onChange={(e) => set({ context_window: digits(e) })}
              />
            )}
          </Field>
          <Field label={w.longest}>
            {(wired) => (
              <input
                {...wired}
                className="in"
                inputMode="numeric"
                value={values.max_tokens}
                onChange={(e) => set({ max_tokens: digits(e) })}
              />
            )}
          </Field>
        </div>
      </details>
    </>
  );
}

const digits = (e: FormEvent<HTMLInputElement>): string => e.currentTarget.value.replace(/\D/g, '').slice(0, 9);

/** The field of the key with the button that tests; without a key the button alone. */
function Key({ was, values, set, provider, faults, test, tested }: FieldsProps): ReactNode {
  const w = useWords(models);
  const button = (
    <button type="button" className="btn tall justify-self-start" onClick={test}>
      {tested ? w.testAgain : w.test}
    </button>
  );
  if (values.way === 'ollama' || provider.name === 'codex') return button;
  const url = provider.key_url ? new URL(provider.key_url) : null;
  const kept = was && was.key === 'added';
  return (
    <Field
      label={w.key}
      needed={provider.needs_key && !kept && !provider.key_in_environment}
      fault={faults['api_key']}
      hint={
        <>
          {kept
            ? w.keyKept
            : provider.key_in_environment && !values.base_url
              ? w.keyFrom(provider.key_in_environment)
              : provider.needs_key
                ? ''
                : w.keyOptional}{' '}
          {url && (
            <>
              {w.keyHint}{' '}
              <a className="underline" href={url.href} target="_blank" rel="noreferrer">
                {url.host}
              </a>
              .{' '}
            </>
          )}
          {w.keySafe}
        </>
      }
    >
      {(wired) => (
        <div className="pair">
          <input
            {...wired}
            className="in mono"
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={values.api_key}
            onChange={(e) => set({ api_key: e.target.value }, atOnce.has((e.nativeEvent as InputEvent).inputType))}
          />
          {button}
        </div>
      )}
    </Field>
  );
}
