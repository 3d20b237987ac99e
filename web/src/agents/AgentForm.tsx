// The form of an agent: all of it can be made and changed here.
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { useModels } from '../chat/composer/Chips';
import { useWords } from '../lib/i18n';
import { useKept } from '../lib/kept';
import { useSkills } from '../skills/data';
import { Field } from '../ui/Field';
import { Icon } from '../ui/Icon';
import { useSaving } from '../ui/useSaving';
import { ui } from '../ui/words';
import {
  type Agent,
  agentsKey,
  between,
  fits,
  free,
  groups,
  save,
  textOf,
  toolName,
  toolsOf,
  type Values,
} from './data';
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

const fields = [
  'name',
  'description',
  'soul',
  'model',
  'temperature',
  'max_tokens',
  'reasoning_effort',
  'thinking_enabled',
  'tool_groups',
  'skills',
];
const hottest = 2;
const longest = 200_000;

/** Whether the name that is typed is taken. */
function useTaken(name: string, there: boolean): boolean {
  const [taken, setTaken] = useState('');
  useEffect(() => {
    if (there || !fits(name)) return;
    const abort = new AbortController();
    const timer = setTimeout(
      () =>
        void free(name, abort.signal).then(
          (yes) => setTaken(yes ? '' : name),
          () => {},
        ),
      300,
    );
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
          {(wired) => (
            <input
              {...wired}
              className="in"
              value={v.name}
              autoComplete="off"
              spellCheck={false}
              onChange={(e) => set({ name: e.target.value })}
            />
          )}
        </Field>
      )}
      <Field label={w.description} hint={w.descriptionHint} fault={saving.faults['description']}>
        {(wired) => (
          <input
            {...wired}
            className="in"
            value={v.description}
            onChange={(e) => set({ description: e.target.value })}
          />
        )}
      </Field>
      <Field label={w.soul} hint={w.soulHint} fault={saving.faults['soul']}>
        {(wired) => (
          <textarea
            {...wired}
            className="in"
            rows={10}
            placeholder={w.soulSample}
            value={v.soul}
            onChange={(e) => set({ soul: e.target.value })}
          />
        )}
      </Field>
      <Thinking values={v} set={set} faults={saving.faults} />
      <details open={v.tools !== '' || v.skills !== '' || v.temperature !== '' || v.max_tokens !== '' || undefined}>
        <summary className="fold">
          <Icon name="right" className="i chev" />
          {w.more}
        </summary>
        <div className="form pt-3">
          <Tools values={v} set={set} />
          <Skills values={v} set={set} fault={saving.faults['skills']} />
          <Field label={w.temperature} hint={w.temperatureHint} fault={fault('temperature')}>
            {(wired) => (
              <input
                {...wired}
                className="in"
                inputMode="decimal"
                value={v.temperature}
                onChange={(e) => set({ temperature: e.target.value })}
              />
            )}
          </Field>
          <Field label={w.longest} hint={w.longestHint} fault={fault('max_tokens')}>
            {(wired) => (
              <input
                {...wired}
                className="in"
                inputMode="numeric"
                value={v.max_tokens}
                onChange={(e) => set({ max_tokens: e.target.value })}
              />
            )}
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

interface ChoiceProps {
  name: string;
  legend: string;
  every: string;
  /** What can be chosen, by name, with the word for it. */
  all: { key: string; word: string }[];
  /** What the form has. */
  value: string;
  /** What is ticked at first when only some are to be had. */
  first: string[];
  set: (value: string) => void;
}

/** All, or those that are ticked. What is chosen and not there any more stays to be unticked. */
function Choice({ name, legend, every, all, value, first, set }: ChoiceProps): ReactNode {
  const w = useWords(agents);
  const has = toolsOf(value);
  const list = [
    ...all,
    ...(has ?? []).filter((key) => !all.some((a) => a.key === key)).map((key) => ({ key, word: key })),
  ];
  const keys = list.map((a) => a.key);
  return (
    <fieldset className="f w border-0 p-0 m-0">
      <legend className="label mb-2">{legend}</legend>
      <div className="choices">
        <label className="choice">
          <input type="radio" name={name} checked={has === null} onChange={() => set('')} />
          {every}
        </label>
        <label className="choice">
          <input type="radio" name={name} checked={has !== null} onChange={() => set(textOf(has ?? first))} />
          {w.chosen}
        </label>
        {has !== null &&
          list.map(({ key, word }) => (
            <label key={key} className="choice">
              <input
                type="checkbox"
                checked={has.includes(key)}
                onChange={(e) => set(textOf(keys.filter((x) => (x === key ? e.target.checked : has.includes(x)))))}
              />
              {word}
            </label>
          ))}
      </div>
    </fieldset>
  );
}

/** Which tools it has. */
function Tools({ values: v, set }: PartProps): ReactNode {
  const w = useWords(agents);
  const all = groups.map((key) => ({ key, word: toolName(key, w) }));
  return (
    <Choice
      name="tools"
      legend={w.tools}
      every={w.every}
      all={all}
      value={v.tools}
      first={['file:read']}
      set={(tools) => set({ tools })}
    />
  );
}

/** Which skills it may use. */
function Skills({ values: v, set, fault }: PartProps & { fault: string | undefined }): ReactNode {
  const w = useWords(agents);
  const { data } = useSkills();
  const all = (data ?? []).map((s) => ({ key: s.name, word: s.name }));
  return (
    <>
      <Choice
        name="skills"
        legend={w.skills}
        every={w.everySkill}
        all={all}
        value={v.skills}
        first={[]}
        set={(skills) => set({ skills })}
      />
      {fault && (
        <p className="fault w" role="alert">
          {fault}
        </p>
      )}
    </>
  );
}
