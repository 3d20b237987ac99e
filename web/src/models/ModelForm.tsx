// The form of a model, on the page of models and at the first run: a way to one, its key, its test, and then it is
// stored. Nothing is stored that has not answered.
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Trouble } from '../lib/api/client';
import { useWords } from '../lib/i18n';
import { type Kept, useKept } from '../lib/kept';
import { ui } from '../ui/words';
import { useSaving } from '../ui/useSaving';
import {
  empty,
  entryOf,
  type Listed,
  modelsChanged,
  type Provider,
  providersOf,
  store,
  useList,
  useProviders,
  type Values,
  valuesOf,
  type Way,
} from './data';
import { Fields } from './ModelFields';
import { answers, remember, useTest } from './probe';
import { Outcome, Verdict } from './Verdict';
import { Ways } from './Ways';
import { models } from './words';

interface ModelFormProps {
  /** The model that is changed; without it one is added. */
  was?: Listed;
  /** Whether the one that is added becomes the default without a question. */
  first?: boolean;
  done: (name: string) => void;
  cancel?: () => void;
  /** A further way, behind the others. */
  children?: ReactNode;
}

const secrets = ['api_key'] as const;
const named = ['provider', 'model', 'base_url', 'api_key', 'name', 'settings'];

export function ModelForm({ was, first, done, cancel, children }: ModelFormProps): ReactNode {
  const { data } = useProviders();
  const form = useKept<Values>(was ? `model.${was.name}` : 'model', was ? valuesOf(was) : empty, secrets);
  if (!data) return <div className="list h-40" aria-busy="true" />;
  const all = data.providers ?? [];
  const found = data.ollama ?? undefined;
  if (was) {
    const provider = all.find((p) => p.name === was.provider);
    return provider ? (
      <Inner was={was} form={form} provider={provider} done={done} {...(cancel ? { cancel } : {})} />
    ) : null;
  }
  const offered: Way[] = [...(found ? (['ollama'] as const) : []), 'openai', 'others', 'server'];
  const way = offered.find((one) => one === form.values.way) ?? offered[0] ?? 'openai';
  const choose = (next: Way, provider: Provider | undefined): void => {
    const model = next === 'ollama' ? found?.models?.[0] : provider?.models?.[0];
    form.set({ ...empty, way: next, provider: provider?.name ?? '', model: model ?? '' });
  };
  const choices = providersOf(all, way);
  const provider = choices.find((p) => p.name === form.values.provider) ?? choices[0];
  const model =
    form.values.model ||
    (form.values.provider ? '' : ((way === 'ollama' ? found?.models?.[0] : provider?.models?.[0]) ?? ''));
  const filled: Kept<Values> = { ...form, values: { ...form.values, way, provider: provider?.name ?? '', model } };
  return (
    <Ways
      all={all}
      found={found}
      way={way}
      choose={(next) => choose(next, providersOf(all, next)[0])}
      form={
        provider && (
          <Inner
            key={`${way} ${provider.name}`}
            form={filled}
            provider={provider}
            choices={choices}
            suggestions={way === 'ollama' ? (found?.models ?? []) : (provider.models ?? [])}
            pick={(p) => choose(way, p)}
            first={first ?? false}
            done={done}
            {...(cancel ? { cancel } : {})}
          />
        )
      }
    >
      {children}
    </Ways>
  );
}

interface InnerProps {
  was?: Listed;
  form: Kept<Values>;
  provider: Provider;
  choices?: Provider[];
  suggestions?: string[];
  pick?: (p: Provider) => void;
  first?: boolean;
  done: (name: string) => void;
  cancel?: () => void;
}

function Inner({
  was,
  form,
  provider,
  choices = [],
  suggestions = provider.models ?? [],
  pick,
  first = false,
  done,
  cancel,
}: InnerProps): ReactNode {
  const w = useWords(models);
  const u = useWords(ui);
  const client = useQueryClient();
  const { data: list } = useList();
  const testing = useTest();
  const saving = useSaving(named);
  const [standard, setStandard] = useState(first);
  const [refused, setRefused] = useState(false);
  const [lacks, setLacks] = useState(false);
  const { values } = form;
  const entry = entryOf(values, was);
  const of = JSON.stringify(entry);
  const tested = testing.now?.of === of ? testing.now : null;
  const faults = { ...saving.faults, ...(tested?.trouble instanceof Trouble ? tested.trouble.faults : {}) };
  const mayChoose = !list?.default_fixed_by;
  const ready = (v: Values): boolean => v.model.trim() !== '' && (!provider.needs_base_url || v.base_url.trim() !== '');
  const set = (some: Partial<Values>, pasted = false): void => {
    form.set(some);
    saving.clear();
    setRefused(false);
    setLacks(false);
    const next = { ...values, ...some };
    if (pasted && ready(next)) void testing.start(entryOf(next, was));
  };
  const begin = (): void => {
    setRefused(false);
    if (!ready(values)) return setLacks(true);
    testing.stop();
    void testing.start(entry);
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!ready(values)) return setLacks(true);
    if (saving.busy) return;
    await saving.save(async () => {
      if (!answers(tested) && !(await testing.start(entry))) return setRefused(true);
      const name = await store(entry, !!was, standard && mayChoose);
      remember(name, testing.latest());
      testing.stop();
      form.forget();
      await modelsChanged(client);
      done(name);
    });
  };
  return (
    <form className="keyform" aria-label={was ? was.name : provider.title} noValidate onSubmit={(e) => void submit(e)}>
      <Fields
        was={was}
        values={values}
        set={set}
        provider={provider}
        choices={choices}
        suggestions={suggestions}
        faults={faults}
        pick={pick}
        test={begin}
        tested={!!tested}
      />
      {tested && <Verdict of={tested} />}
      {tested && Object.keys(faults).length === 0 && <Outcome of={tested} refused={refused} />}
      {lacks && (
        <p className="note-line bad" role="alert">
          {w.fill}
        </p>
      )}
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      {!was && !first && mayChoose && (
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={standard} onChange={(e) => setStandard(e.target.checked)} />
          {w.standard}
        </label>
      )}
      <div className="acts">
        <button type="submit" className="btn primary" disabled={saving.busy}>
          {was ? w.save : w.use(values.display_name || values.model || '…')}
        </button>
        {cancel && (
          <button
            type="button"
            className="btn ghost"
            onClick={() => {
              form.forget();
              cancel();
            }}
          >
            {u.cancel}
          </button>
        )}
        {saving.busy && (
          <span className="soft" role="status">
            {w.testing}
          </span>
        )}
      </div>
    </form>
  );
}
