// Tasks by day, as the server lists them by pages, and those in a state that asks for a look.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { Link } from '../lib/router';
import { shell } from '../shell/words';
import { Notice } from '../ui/Notice';
import { ui } from '../ui/words';
import { useFolders } from './folders';
import { lists } from './listWords';
import { TaskLine } from './TaskLine';
import { type Day, dayOfTime, isPinned, listed, listsKey, type Task, useTasks } from './tasks';

/** The name of a folder. */
export function useFolderNames(): (id: string | undefined) => string | undefined {
  const { data } = useFolders();
  return (id) => data?.find((f) => f.folder_id === id)?.name;
}

/** Tasks as the news have them, where they do: a list is a moment older. */
function useFresh(): (list: Task[]) => Task[] {
  const known = new Map(useTasks().data?.threads.map((t) => [t.thread_id, t]));
  return (list) => list.map((t) => known.get(t.thread_id) ?? t);
}

/** What could not be loaded. */
export function Broken({ trouble, again }: { trouble: unknown; again: () => void }): ReactNode {
  const e = useWords(errors);
  const u = useWords(ui);
  return (
    <Notice icon="alert" text={sentence(trouble, e)}>
      <button type="button" className="btn" onClick={again}>
        {u.tryAgain}
      </button>
    </Notice>
  );
}

export function ByDay({ archived, folder, none }: { archived: boolean; folder: string; none?: string }): ReactNode {
  const w = useWords(lists);
  const s = useWords(shell);
  const fresh = useFresh();
  const within = useWithin(folder);
  const pages = useInfiniteQuery({
    queryKey: [...listsKey, 'days', archived, folder, within.data ?? ''],
    queryFn: ({ pageParam }) => listed({ ...(within.data ? { ids: within.data } : { archived }), offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: (last, all) => (last.more ? all.length * 100 : undefined),
    enabled: !folder || !!within.data,
  });
  if (pages.isError || within.isError)
    return <Broken trouble={pages.error ?? within.error} again={() => void pages.refetch()} />;
  const all = fresh(pages.data?.pages.flatMap((p) => p.list) ?? []).filter(
    (t) => !!t.archived === archived && !t.temporary,
  );
  if (all.length === 0)
    return pages.isPending ? null : (
      <None text={none ?? (archived ? w.noneArchived : w.none)} start={!archived && !none} />
    );
  return (
    <>
      {daysOf(all).map(([day, tasks]) => (
        <Section key={day} title={s[day]} tasks={tasks} named={!none} />
      ))}
      {pages.hasNextPage && (
        <button
          type="button"
          className="btn justify-self-center"
          disabled={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          {w.more}
        </button>
      )}
    </>
  );
}

/** The tasks of a folder, by their ids. */
const useWithin = (folder: string) =>
  useQuery({
    queryKey: [...listsKey, 'within', folder],
    queryFn: async () => (await api('get', '/folders/{folder_id}', { path: { folder_id: folder } })).thread_ids ?? [],
    enabled: !!folder,
  });

/** Those that are pinned, then the others by day. */
function daysOf(tasks: Task[]): [Day, Task[]][] {
  const days = new Map<Day, Task[]>();
  for (const t of [...tasks.filter(isPinned), ...tasks.filter((x) => !isPinned(x))]) {
    const day = isPinned(t) ? 'pinned' : dayOfTime(t.updated_at);
    days.set(day, [...(days.get(day) ?? []), t]);
  }
  return [...days];
}

function Section({ title, tasks, named }: { title: string; tasks: Task[]; named: boolean }): ReactNode {
  const nameOf = useFolderNames();
  return (
    <div>
      <h2 className="day">{title}</h2>
      <div className="list">
        {tasks.map((t) => (
          <TaskLine key={t.thread_id} task={t} folder={named ? nameOf(t.folder_id) : undefined} />
        ))}
      </div>
    </div>
  );
}

export function InState({ state, folder }: { state: 'running' | 'waiting'; folder: string }): ReactNode {
  const w = useWords(lists);
  const nameOf = useFolderNames();
  const found = useQuery({
    queryKey: [...listsKey, 'state', state],
    queryFn: async () => ((await api('get', '/news', { query: { state, limit: 500 } })).threads ?? []) as Task[],
  });
  if (found.isError) return <Broken trouble={found.error} again={() => void found.refetch()} />;
  const all = (found.data ?? []).filter((t) => !folder || t.folder_id === folder);
  if (all.length === 0)
    return found.isPending ? null : <None text={state === 'running' ? w.noneRunning : w.noneWaiting} />;
  return (
    <div className="list">
      {all.map((t) => (
        <TaskLine key={t.thread_id} task={t} folder={nameOf(t.folder_id)} />
      ))}
    </div>
  );
}

function None({ text, start = false }: { text: string; start?: boolean }): ReactNode {
  const w = useWords(lists);
  return (
    <Notice icon="queue" text={text}>
      {start && (
        <Link className="btn primary" to="/">
          {w.newTask}
        </Link>
      )}
    </Notice>
  );
}
