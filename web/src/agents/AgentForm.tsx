// The form of an agent: all of it can be made and changed here.
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { useModels } from '../chat/composer/Chips';
import { useWords } from '../lib/i18n';
import { useKept } from '../lib/kept';
import { Field } from '../ui/Field';
import { Icon } from '../ui/Icon';
import { useSaving } from '../ui/useSaving';
import { ui } from '../ui/words';
import { type Agent, agentsKey, between, fits, free, groups, save, textOf, toolName, toolsOf, type Values } from './data';
import { agents } from './words';

interface AgentFormProps {
  /** Where what is typed is kept. */
  place: string;
  start: Values;
  /** Whether the agent is there already. */
  there?: boolean;
  done: (a: Agent) => void;
  cancel?: () => void;
}

const fields = ['name', 'description', 'soul', 'model', 'temperature', 'max_tokens', 'reasoning_effort', 'thinking_enabled', 'tool_groups'];
const hottest = 2;
const longest = 200_000;

/** Whether the name that is typed is taken. */
function useTaken(name: string, there: boolean): boolean {
  const [taken, setTaken] = useState('');
  useEffect(() => {
    if (there || !fits(name)) return;
    const abort = new AbortController();
    const timer = setTimeout(() => void free(name, abort.signal).then((yes) => setTaken(yes ? '' : name), () => {}), 300);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [name, there]);
  return !there && taken !== '' && taken === name;
}

export function AgentForm({ place, start, there = false, done, cancel }: AgentFormProps): ReactNode {
  const w = useWords(agents);
  const u = useWords(ui);
  const client = useQueryClient();
  const form = useKept(place, start);
  const saving = useSaving(fields);
  const [pressed, setPressed] = useState(false);
  const { values: v } = form;
  const taken = useTaken(v.name.trim(), there);
  const wrong = {
    name: taken ? w.taken(v.name.trim()) : (pressed || v.name !== '') && !fits(v.name.trim()) ? w.badName : undefined,
    temperature: between(v.temperature, 0, hottest) ? undefined : w.badNumber(0, hottest),
    max_tokens: between(v.max_tokens, 1, longest, true) ? undefined : w.badNumber(1, longest),
  };
  const fault = (name: keyof typeof wrong): string | undefined => wrong[name] ?? saving.faults[name];
  const set = (some: Partial<Values>): void => {
    form.set(some);
    saving.clear();
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setPressed(true);
    if (!fits(v.name.trim()) || wrong.name || wrong.temperature || wrong.max_tokens) return;
    let made: Agent | undefined;
    const good = await saving.save(async () => {
      made = await save(v, there);
      await client.invalidateQueries({ queryKey: agentsKey });
    });
    if (!good || !made) return;
    form.forget();
    done(made);
  };
  return (
    <form className="grid gap-4" aria-label={there ? v.name : w.make} noValidate onSubmit={(e) => void submit(e)}>
      {!there && (
        <Field label={w.name} needed hint={w.nameHint} fault={fault('name')}>
          {(wired) => <input {...wired} className="in" value={v.name} autoComplete="off" spellCheck={false} onChange={(e) => set({ name: e.target.value })} />}
        </Field>
      )}
      <Field label={w.description} hint={w.descriptionHint} fault={saving.faults['description']}>
        {(wired) => <input {...wired} className="in" value={v.description} onChange={(e) => set({ description: e.target.value })} />}
      </Field>
      <Field label={w.soul} hint={w.soulHint} fault={saving.faults['soul']}>
        {(wired) => <textarea {...wired} className="in" rows={10} placeholder={w.soulSample} value={v.soul} onChange={(e) => set({ soul: e.target.value })} />}
      </Field>
      <Thinking values={v} set={set} faults={saving.faults} />
      <details open={v.tools !== '' || v.temperature !== '' || v.max_tokens !== '' || undefined}>
        <summary className="fold">
          <Icon name="right" className="i chev" />
          {w.more}
        </summary>
        <div className="form pt-3">
          <Tools values={v} set={set} />
          <Field label={w.temperature} hint={w.temperatureHint} fault={fault('temperature')}>
            {(wired) => <input {...wired} className="in" inputMode="decimal" value={v.temperature} onChange={(e) => set({ temperature: e.target.value })} />}
          </Field>
          <Field label={w.longest} hint={w.longestHint} fault={fault('max_tokens')}>
            {(wired) => <input {...wired} className="in" inputMode="numeric" value={v.max_tokens} onChange={(e) => set({ max_tokens: e.target.value })} />}
          </Field>
        </div>
      </details>
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      <div className="acts">
        <button type="submit" className="btn primary" disabled={saving.busy || (there && !form.changed)}>
          {there ? u.save : w.create}
        </button>
        {(cancel ?? form.changed) && (
          <button
            type="button"
            className="btn ghost"
            onClick={() => {
              form.forget();
              cancel?.();
            }}
          >
            {cancel ? u.cancel : u.giveUp}
          </button>
        )}
        <span className="soft" role="status">
          {there && form.changed ? u.unsaved : ''}
        </span>
      </div>
    </form>
  );
}

interface PartProps {
  values: Values;
  set: (some: Partial<Values>) => void;
  faults?: Record<string, string>;
}

/** Which model thinks, and how long. */
function Thinking({ values: v, set, faults = {} }: PartProps): ReactNode {
  const w = useWords(agents);
  const { data } = useModels();
  const models = data?.models ?? [];
  const gone = v.model !== '' && !models.some((m) => m.name === v.model);
  return (
    <div className="form three">
      <Field label={w.model} fault={faults['model']}>
        {(wired) => (
          <select {...wired} className="in" value={v.model} onChange={(e) => set({ model: e.target.value })}>
            <option value="">{w.modelUsual}</option>
            {models.map((m) => (
              <option key={m.name} value={m.name}>
                {m.display_name || m.name}
              </option>
            ))}
            {gone && <option value={v.model}>{v.model}</option>}
          </select>
        )}
      </Field>
      <Field label={w.thinking} fault={faults['thinking_enabled']}>
        {(wired) => (
          <select {...wired} className="in" value={v.thinking} onChange={(e) => set({ thinking: e.target.value })}>
            <option value="">{w.asChosen}</option>
            <option value="on">{w.on}</option>
            <option value="off">{w.offChoice}</option>
          </select>
        )}
      </Field>
      <Field label={w.effort} fault={faults['reasoning_effort']}>
        {(wired) => (
          <select {...wired} className="in" value={v.effort} onChange={(e) => set({ effort: e.target.value })}>
            <option value="">{w.asChosen}</option>
            {(['low', 'medium', 'high'] as const).map((x) => (
              <option key={x} value={x}>
                {w[x]}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}

/** Which tools it has: all, or those that are ticked. */
function Tools({ values: v, set }: PartProps): ReactNode {
  const w = useWords(agents);
  const has = toolsOf(v.tools);
  const all = [...groups, ...(has ?? []).filter((g) => !(groups as readonly string[]).includes(g))];
  return (
    <fieldset className="f w border-0 p-0 m-0">
      <legend className="label mb-2">{w.tools}</legend>
      <div className="choices">
        <label className="choice">
          <input type="radio" name="tools" checked={has === null} onChange={() => set({ tools: '' })} />
          {w.every}
        </label>
        <label className="choice">
          <input type="radio" name="tools" checked={has !== null} onChange={() => set({ tools: textOf(has ?? ['file:read']) })} />
          {w.chosen}
        </label>
        {has !== null &&
          all.map((g) => (
            <label key={g} className="choice">
              <input
                type="checkbox"
                checked={has.includes(g)}
                onChange={(e) => set({ tools: textOf(e.target.checked ? all.filter((x) => x === g || has.includes(x)) : has.filter((x) => x !== g)) })}
              />
              {toolName(g, w)}
            </label>
          ))}
      </div>
    </fieldset>
  );
}
