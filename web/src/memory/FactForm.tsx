// The form of a fact: to add one, and to change one in its place.
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAgents } from '../agents/data';
import { api, Trouble } from '../lib/api/client';
import { useWords } from '../lib/i18n';
import { useKept } from '../lib/kept';
import { useFolders } from '../threads/folders';
import { Field } from '../ui/Field';
import { useSaving } from '../ui/useSaving';
import { ui } from '../ui/words';
import { again, categories, type Fact, membersOf, scopeName } from './data';
import { memory } from './words';

/** As the server bounds it. */
const longest = 2000;

/** Who writes a fact is sure of it. */
const sure = 1;

/** A form; with a fact it changes that one, else it adds one. */
export function FactForm({ fact, done }: { fact?: Fact; done: () => void }): ReactNode {
  const w = useWords(memory);
  const u = useWords(ui);
  const client = useQueryClient();
  const form = useKept(fact ? `fact.${fact.fact_id}` : 'fact', {
    content: fact?.content ?? '',
    category: fact?.category_extension || (fact?.category ?? 'context'),
    scope: '',
  });
  const saving = useSaving(['content', 'category']);
  const [fault, setFault] = useState('');
  const { values: v } = form;
  const set = (some: Partial<typeof v>): void => {
    form.set(some);
    saving.clear();
    setFault('');
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const content = v.content.trim();
    if (!content) return setFault(w.needed);
    await saving.save(async () => {
      try {
        if (fact)
          await api('patch', '/memory/facts/{fact_id}', {
            path: { fact_id: fact.fact_id },
            body: { content, category: v.category },
          });
        else
          await api('post', '/memory/facts', {
            body: { content, category: v.category, confidence: sure, ...membersOf(v.scope) },
          });
      } catch (error) {
        if (!(error instanceof Trouble && error.status === 409 && /same content/.test(error.message))) throw error;
        return setFault(w.duplicate);
      }
      form.forget();
      await again(client);
      done();
    });
  };
  const own = fact?.category_extension;
  return (
    <form
      className="grid gap-3"
      aria-label={fact ? w.change : w.add}
      noValidate
      onSubmit={(e) => void submit(e)}
      onKeyDown={(e) => e.key === 'Escape' && done()}
    >
      <Field label={w.fact} hint={w.factHint} fault={fault || saving.faults['content']}>
        {(wired) => (
          <textarea
            {...wired}
            className="in"
            rows={3}
            maxLength={longest}
            placeholder={w.factSample}
            value={v.content}
            autoFocus
            onChange={(e) => set({ content: e.target.value })}
          />
        )}
      </Field>
      <div className={fact ? 'grid' : 'form'}>
        <Field label={w.category} fault={saving.faults['category']}>
          {(wired) => (
            <select {...wired} className="in" value={v.category} onChange={(e) => set({ category: e.target.value })}>
              {own && <option value={own}>{own}</option>}
              {categories.map((c) => (
                <option key={c} value={c}>
                  {w[c]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {!fact && <Scope value={v.scope} set={(scope) => set({ scope })} />}
      </div>
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      <div className="acts">
        <button type="submit" className="btn primary" disabled={saving.busy}>
          {fact ? u.save : w.makeIt}
        </button>
        <button
          type="button"
          className="btn ghost"
          onClick={() => {
            form.forget();
            done();
          }}
        >
          {u.cancel}
        </button>
      </div>
    </form>
  );
}

/** For whom it is: all tasks, those of an agent, those in a folder. */
function Scope({ value, set }: { value: string; set: (scope: string) => void }): ReactNode {
  const w = useWords(memory);
  const { data: folders } = useFolders();
  const { data: agents } = useAgents();
  const all = [
    '',
    ...(agents?.agents ?? []).map((a) => `agent:${a.name}`),
    ...(folders ?? []).map((f) => `folder:${f.folder_id}`),
  ];
  return (
    <Field label={w.forWhom}>
      {(wired) => (
        <select {...wired} className="in" value={value} onChange={(e) => set(e.target.value)}>
          {all.map((s) => (
            <option key={s} value={s}>
              {scopeName(s, folders ?? [], w)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
