// About me: what all agents are told of the user, and how they should answer.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { useKept } from '../lib/kept';
import { Field } from '../ui/Field';
import { useSaving } from '../ui/useSaving';
import { ui } from '../ui/words';
import { words } from './words';

const key = ['profile'] as const;

export function AboutMe(): ReactNode {
  const w = useWords(words);
  const e = useWords(errors);
  const { data, error } = useQuery({ queryKey: key, queryFn: () => api('get', '/user-profile') });
  if (error instanceof Trouble && error.status === 403) return null; // switched off by the configuration
  return (
    <section className="grid gap-3" aria-labelledby="about">
      <div>
        <h2 className="sub" id="about">
          {w.about}
        </h2>
        <p className="text-ink-2">{w.aboutIntro}</p>
      </div>
      {error && <p className="note-line bad">{sentence(error, e)}</p>}
      {data && <Form saved={data.content ?? ''} />}
    </section>
  );
}

function Form({ saved }: { saved: string }): ReactNode {
  const w = useWords(words);
  const u = useWords(ui);
  const client = useQueryClient();
  const form = useKept('about', { content: saved });
  const saving = useSaving(['content']);
  const save = async (): Promise<void> => {
    const { content } = form.values;
    const there = await saving.save(async () => {
      await api('put', '/user-profile', { body: { content } });
      client.setQueryData(key, { content: content.trim() });
    });
    if (there) form.forget();
  };
  return (
    <form
      className="grid gap-3"
      aria-labelledby="about"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field label={w.aboutLabel} hint={w.aboutHint} fault={saving.faults['content']}>
        {(wired) => (
          <textarea
            {...wired}
            className="in"
            rows={6}
            placeholder={w.aboutSample}
            value={form.values.content}
            onChange={(e) => {
              form.set({ content: e.target.value });
              saving.clear();
            }}
          />
        )}
      </Field>
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      <div className="acts">
        <button type="submit" className="btn primary" disabled={!form.changed || saving.busy}>
          {u.save}
        </button>
        {form.changed && (
          <button type="button" className="btn ghost" onClick={form.forget}>
            {u.giveUp}
          </button>
        )}
        <span className="soft" role="status">
          {form.changed ? u.unsaved : ''}
        </span>
      </div>
    </form>
  );
}
