// Why a fact is known: the words that it was learned from, who was told, what became of it; and to change or forget it.
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords, when } from '../lib/i18n';
import { ask, Link } from '../lib/router';
import { useFolders } from '../threads/folders';
import { Icon } from '../ui/Icon';
import { useSaving } from '../ui/useSaving';
import { ui } from '../ui/words';
import { again, categoryOf, type Fact, markOf, scopeName, scopeOf, sourceOf, type Story, useStory } from './data';
import { FactForm } from './FactForm';
import { useForget } from './forgetting';
import { Events } from './Past';
import { memory } from './words';

const close = (): void => ask({ fact: null }, true);

export function FactPanel({ id }: { id: string }): ReactNode {
  const w = useWords(memory);
  const u = useWords(ui);
  const e = useWords(errors);
  const { data, error } = useStory(id);
  const gone = error instanceof Trouble && error.status === 404;
  return (
    <aside className="panel" aria-label={w.why}>
      <div className="tabs">
        <b className="strong">{w.why}</b>
        <span className="grow" />
        <button type="button" className="btn ghost icon sm" aria-label={u.close} onClick={close}>
          <Icon name="x" />
        </button>
      </div>
      <div className="panel-body" tabIndex={0} role="region" aria-label={w.why}>
        {error && <p className="block soft">{gone ? w.missing : sentence(error, e)}</p>}
        {data && (
          <>
            <TheFact fact={data.fact} />
            <Sources story={data} />
            <Uses story={data} />
            {data.history && data.history.length > 0 && (
              <section className="block">
                <h2>{w.history}</h2>
                <Events of={data.history} />
              </section>
            )}
          </>
        )}
      </div>
    </aside>
  );
}

function TheFact({ fact: f }: { fact: Fact }): ReactNode {
  const w = useWords(memory);
  const { data: folders } = useFolders();
  const [editing, edit] = useState(false);
  const forget = useForget();
  return (
    <section className="block">
      {editing ? (
        <FactForm fact={f} done={() => edit(false)} />
      ) : (
        <>
          <p className={f.status === 'gone' ? 'fact-said struck' : 'fact-said'}>{f.content}</p>
          <p className="soft">
            {[categoryOf(f, w), scopeName(scopeOf(f), folders ?? [], w), sourceOf(f, w)].join(' · ')}
          </p>
          {f.mark && <p className="note-line">{markOf(f, w)}</p>}
          <div className="acts">
            {f.status === 'active' && (
              <button type="button" className="btn sm" onClick={() => edit(true)}>
                <Icon name="edit" />
                {w.change}
              </button>
            )}
            {f.status === 'gone' && <PutBack id={f.fact_id} />}
            <button
              type="button"
              className="btn sm danger"
              onClick={() => {
                close();
                forget(f);
              }}
            >
              <Icon name="trash" />
              {w.forget}
            </button>
          </div>
        </>
      )}
    </section>
  );
}

/** Brings back a fact that was replaced or refused. */
export function PutBack({ id }: { id: string }): ReactNode {
  const w = useWords(memory);
  const client = useQueryClient();
  const saving = useSaving();
  const back = (): void =>
    void saving.save(async () => {
      await api('post', '/memory/facts/{fact_id}/restore', { path: { fact_id: id } });
      await again(client);
    });
  return (
    <>
      <button type="button" className="btn sm" disabled={saving.busy} onClick={back}>
        <Icon name="undo" />
        {w.putBack}
      </button>
      {saving.trouble && (
        <span className="fault" role="alert">
          {saving.trouble}
        </span>
      )}
    </>
  );
}

function Sources({ story }: { story: Story }): ReactNode {
  const w = useWords(memory);
  const list = story.sources ?? [];
  if (list.length === 0) return null;
  return (
    <section className="block">
      <h2>{story.fact.mark ? w.saidBy : w.youSaid}</h2>
      {list.map((s, i) => (
        <div key={i} className="grid gap-1">
          <blockquote className="fact-quote">{s.words || w.noWords}</blockquote>
          <Link className="soft" to={`/c/${s.thread_id}${s.message_id ? `#m-${s.message_id}` : ''}`}>
            {[s.title || w.untitled, when(s.at)].join(', ')}
          </Link>
        </div>
      ))}
    </section>
  );
}

function Uses({ story }: { story: Story }): ReactNode {
  const w = useWords(memory);
  const list = story.uses ?? [];
  if (list.length === 0) return null;
  return (
    <section className="block">
      <h2>{w.usedIn}</h2>
      <ul className="grid gap-1">
        {list.map((s) => (
          <li key={s.thread_id + s.at}>
            <Link to={`/c/${s.thread_id}`}>{s.title || w.untitled}</Link> <span className="soft">{when(s.at)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
