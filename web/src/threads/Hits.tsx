// What a search finds, on the page of all tasks: each hit leads to its message or its file.
import type { ReactNode } from 'react';
import { useWords, when } from '../lib/i18n';
import { ask, Link } from '../lib/router';
import { shell } from '../shell/words';
import { Glyph } from '../ui/Glyph';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import { Excerpt } from './Excerpt';
import { addressOf, type Hit, useFound } from './found';
import { Broken, useFolderNames } from './Lists';
import { lists } from './listWords';
import { glyphOf, useTasks } from './tasks';

export function Hits({ q, state, folder }: { q: string; state: string; folder: string }): ReactNode {
  const w = useWords(lists);
  const archived = state === 'archived';
  const status = ({ running: 'busy', waiting: 'interrupted' } as const)[state];
  const found = useFound(q, { archived, limit: 100, ...(folder ? { folder } : {}), ...(status ? { status } : {}) });
  if (found.isError) return <Broken trouble={found.error} again={() => void found.refetch()} />;
  const hits = found.data?.hits ?? [];
  if (hits.length > 0)
    return (
      <div className="list" role="region" aria-label={w.search}>
        {hits.map((h) => (
          <HitLine key={`${h.thread_id} ${h.kind} ${h.message_id ?? h.path ?? ''}`} hit={h} />
        ))}
      </div>
    );
  if (found.data?.q !== q) return null;
  return (
    <Notice icon="search" text={archived ? w.nothingAtAll(q) : w.nothing(q)}>
      {!archived && (
        <button type="button" className="btn primary" onClick={() => ask({ state: 'archived' })}>
          {w.archivedToo}
        </button>
      )}
    </Notice>
  );
}

function HitLine({ hit }: { hit: Hit }): ReactNode {
  const s = useWords(shell);
  const nameOf = useFolderNames();
  const task = useTasks().data?.threads.find((t) => t.thread_id === hit.thread_id);
  const folder = nameOf(task?.folder_id);
  return (
    <div className="task-line over">
      {hit.kind === 'title' ? (
        <Glyph state={task ? glyphOf(task) : 'read'} />
      ) : (
        <Icon name={hit.kind === 'file' ? 'file' : 'chat'} />
      )}
      <Link className="ti to" to={addressOf(hit)}>
        <b className="cut">{hit.kind === 'title' ? <Excerpt of={hit.excerpt} /> : hit.title || s.untitled}</b>
        {hit.kind !== 'title' && (
          <span className="sn cut">
            <Excerpt of={hit.excerpt} />
          </span>
        )}
      </Link>
      <span className="fo">
        {folder && (
          <>
            <Icon name="folder" />
            <span className="cut">{folder}</span>
          </>
        )}
      </span>
      <span className="w">{when(hit.at)}</span>
    </div>
  );
}
