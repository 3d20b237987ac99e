// All tasks: searched, by state, by folder; the bin. What is asked for stands in the address: /c?q=&state=&folder=
import { type ReactNode, useEffect } from 'react';
import { useWords } from '../lib/i18n';
import { ask, Link, useQueryOf } from '../lib/router';
import { useWritten } from '../lib/settled';
import { Shell } from '../shell/Shell';
import { Icon } from '../ui/Icon';
import { Bin } from './Bin';
import { FolderForm } from './FolderForm';
import { Hits } from './Hits';
import { ByDay, InState } from './Lists';
import { lists } from './listWords';
import { useFolders } from './folders';
import { threads } from './words';

const states = ['', 'running', 'waiting', 'archived', 'bin'] as const;
type StateOf = (typeof states)[number];

export default function TasksPage(): ReactNode {
  const w = useWords(lists);
  const t = useWords(threads);
  const query = useQueryOf();
  const state = states.find((s) => s === query.get('state')) ?? '';
  const folder = query.get('folder') ?? '';
  const asked = query.get('q') ?? '';
  const make = query.get('make') === 'folder';
  const [q, setQ] = useWritten(asked);
  useEffect(() => {
    document.title = `${w.title} · Pudu`;
  }, [w]);
  const words: Record<StateOf, string> = {
    '': w.all,
    running: w.running,
    waiting: w.waiting,
    archived: w.archived,
    bin: w.bin,
  };
  return (
    <Shell
      header={
        <div className="title">
          <h1>{w.title}</h1>
          <span className="grow" />
          <button type="button" className="btn ghost sm" onClick={() => ask({ make: 'folder' })}>
            <Icon name="folder" />
            {t.newFolder}
          </button>
        </div>
      }
    >
      <div className="scroll">
        <div className="page tasks">
          <div className="bar2">
            <search className="searchbox grow">
              <Icon name="search" />
              <input
                className="in"
                type="search"
                aria-label={w.search}
                placeholder={w.search}
                value={q}
                maxLength={300}
                onChange={(e) => setQ(e.target.value)}
              />
            </search>
            <div className="seg" role="group" aria-label={w.state}>
              {states.map((s) => (
                <button
                  key={s}
                  type="button"
                  aria-pressed={s === state}
                  onClick={() => ask({ state: s || null, sure: null })}
                >
                  {words[s]}
                </button>
              ))}
            </div>
          </div>
          {make && <FolderForm />}
          {!asked && !state && !folder && <FolderCards />}
          {state === 'bin' ? (
            <Bin />
          ) : asked.trim() ? (
            <Hits q={asked} state={state} folder={folder} />
          ) : state === 'running' || state === 'waiting' ? (
            <InState state={state} folder={folder} />
          ) : (
            <ByDay archived={state === 'archived'} folder={folder} />
          )}
        </div>
      </div>
    </Shell>
  );
}

function FolderCards(): ReactNode {
  const w = useWords(lists);
  const { data } = useFolders();
  if (!data?.length) return null;
  return (
    <div className="folders">
      {data.map((f) => (
        <Link key={f.folder_id} className="card folder" to={`/f/${f.folder_id}`}>
          <b>
            <Icon name="folder" />
            <span className="cut">{f.name}</span>
          </b>
          <small>{[w.tasks(f.thread_count), f.instructions && w.instructions].filter(Boolean).join(', ')}</small>
        </Link>
      ))}
    </div>
  );
}
