// The tasks of the user as the server has them: a list at first, and then what the news tell of each change.
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Answer, api } from '../lib/api/client';
import { wordsNow } from '../lib/i18n';
import { type Message, onNews, useNews } from '../lib/news/news';
import { shell } from '../shell/words';
import type { State } from '../ui/Glyph';

type News = Answer<'/news', 'get'>;
export type Counts = News['counts'];
/** A task: a thread as it is after its last change. */
export type Task = Omit<NonNullable<News['threads']>[number], 'metadata'> & {
  metadata: Record<string, unknown> | null;
};

export interface Tasks {
  threads: Task[];
  counts: Counts;
}

/** How many of the tasks that changed last the sidebar has; more are on the page of all tasks. */
const kept = 200;
export const tasksKey = ['tasks'] as const;
/** What begins the keys of lists that the server puts together, which are read anew when the news tell of a change. */
export const listsKey = ['lists'] as const;
/** The key of the folders. */
export const foldersKey = ['folders'] as const;

async function load(): Promise<Tasks> {
  // What the news tell while the answer is on its way may be newer than it. Where it is older, what is newer follows.
  const meanwhile: Message[] = [];
  const enough = onNews((m) => meanwhile.push(m));
  try {
    const news = await api('get', '/news', { query: { limit: kept } });
    return meanwhile.reduce(told, { threads: byTime((news.threads ?? []) as Task[]), counts: news.counts });
  } finally {
    enough();
  }
}

/** The tasks after what the news tell of one. */
function told(all: Tasks, m: Message): Tasks {
  switch (m.event) {
    case 'thread':
      return { ...all, threads: withTask(all.threads, m.data as Task) };
    case 'gone':
      return {
        ...all,
        threads: all.threads.filter((t) => t.thread_id !== (m.data as { thread_id: string }).thread_id),
      };
    case 'counts':
      return { ...all, counts: m.data as Counts };
    default:
      return all;
  }
}

/**
 * Tasks, the last updated first: the news have those first of which something was told last, such as that they were
 * read or moved.
 */
export const byTime = (list: Task[]): Task[] => [...list].sort((a, b) => b.updated_at.localeCompare(a.updated_at));

/** The tasks, the last changed first. */
export const useTasks = () => useQuery({ queryKey: tasksKey, queryFn: load, staleTime: Infinity });

/** One of them; one that is not among those that changed last is asked for. */
export function useTask(id: string): Task | undefined {
  const { data } = useTasks();
  const known = data?.threads.find((t) => t.thread_id === id);
  const old = useQuery({
    queryKey: [...listsKey, 'one', id],
    queryFn: () => listed({ ids: [id] }),
    enabled: !!data && !known,
  });
  return known ?? old.data?.list[0];
}

/** What a task is called that goes on from one with a title: the second of it, the third, whichever is free. */
export function branchTitle(title: string, all: Pick<Task, 'title'>[]): string {
  const base = title.replace(/^\d+ of /, '').replace(/（\d+）$/, '');
  const taken = new Set(all.map((t) => t.title));
  let n = 2;
  while (taken.has(wordsNow(shell).branchOf(n, base))) n++;
  return base && wordsNow(shell).branchOf(n, base);
}

/** What a task that goes on from this one is to be called, when it is made. */
export function useBranchTitle(title: string): () => string {
  const client = useQueryClient();
  return () => branchTitle(title, client.getQueryData<Tasks>(tasksKey)?.threads ?? []);
}

type Search = Answer<'/threads/search', 'post'>;

/** Tasks as the server lists them: those that are pinned first, then the last changed. */
export async function listed(by: {
  ids?: string[];
  archived?: boolean;
  trashed?: boolean;
  offset?: number;
}): Promise<{ list: Task[]; more: boolean }> {
  const select = [
    'thread_id',
    'status',
    'created_at',
    'updated_at',
    'metadata',
    'values',
    'archived',
    'temporary',
    'folder_id',
  ];
  const list = (await api('post', '/threads/search', { body: { ...by, limit: page, select } })) ?? [];
  return { list: list.map(taskOf), more: list.length === page };
}

const page = 100;

function taskOf(t: NonNullable<Search>[number]): Task {
  const { thread_id, created_at, updated_at, archived, temporary, folder_id } = t;
  const title = t.values['title'];
  return {
    thread_id,
    created_at,
    updated_at,
    read_at: null,
    state: t.status === 'busy' ? 'running' : '',
    title: typeof title === 'string' ? title : '',
    metadata: t.metadata as Task['metadata'],
    ...(archived ? { archived } : {}),
    ...(temporary ? { temporary } : {}),
    ...(folder_id ? { folder_id } : {}),
  };
}

/** Keeps the tasks as the news tell; once for all pages. */
export function useTaskNews(): void {
  const client = useQueryClient();
  useNews((m) => void hear(client, m));
}

/** What is read anew when the news tell that it has changed; by other notices it is what the models are. */
const noticed: Record<string, (readonly string[])[]> = {
  folders: [foldersKey],
  memory: [['memory']],
  skills: [['skills']],
};

function hear(client: QueryClient, m: Message): void {
  switch (m.event) {
    case 'thread': {
      const task = m.data as Task;
      const before = client.getQueryData<Tasks>(tasksKey)?.threads.find((t) => t.thread_id === task.thread_id);
      edit(client, (all) => told(all, m));
      if (placeOf(before) !== placeOf(task)) readAnew(client, foldersKey);
      listsAgain(client);
      break;
    }
    case 'gone':
      edit(client, (all) => told(all, m));
      readAnew(client, foldersKey);
      listsAgain(client);
      break;
    case 'counts':
      edit(client, (all) => told(all, m));
      break;
    case 'notice':
      for (const queryKey of noticed[(m.data as { notice?: string }).notice ?? ''] ?? [
        ['models'],
        ['info'],
        ['config-models'],
      ])
        readAnew(client, queryKey);
      break;
    case 'reset':
      for (const queryKey of [tasksKey, foldersKey, listsKey]) readAnew(client, queryKey);
  }
}

/**
 * Has something read anew. What is on its way for the first time may be older than the news: it is read once more when
 * it is there.
 */
function readAnew(client: QueryClient, queryKey: readonly string[]): void {
  for (const query of client.getQueryCache().findAll({ queryKey })) {
    const { data, fetchStatus } = query.state;
    if (data !== undefined || fetchStatus === 'idle') continue;
    void query.promise?.catch(() => {}).then(() => client.invalidateQueries({ queryKey: query.queryKey, exact: true }));
  }
  void client.invalidateQueries({ queryKey });
}

/** Where a task is counted. */
const placeOf = (task: Task | undefined): string => (task && isShown(task) ? (task.folder_id ?? '') : '');

let soon: ReturnType<typeof setTimeout> | undefined;

/** Has the lists read anew, once for all that comes within half a second. */
function listsAgain(client: QueryClient): void {
  if (soon) return;
  soon = setTimeout(() => {
    soon = undefined;
    readAnew(client, listsKey);
  }, 500);
}

/** Changes the tasks as they are known here; the server is told elsewhere. */
export function edit(client: QueryClient, change: (all: Tasks) => Tasks): void {
  client.setQueryData<Tasks>(tasksKey, (all) => all && change(all));
}

/** The list with a task as it is now, where its time puts it. */
export function withTask(list: Task[], task: Task): Task[] {
  const rest = list.filter((t) => t.thread_id !== task.thread_id);
  const at = rest.findIndex((t) => t.updated_at <= task.updated_at);
  rest.splice(at < 0 ? rest.length : at, 0, task);
  return rest.slice(0, kept);
}

/** The glyph of a task. */
export function glyphOf(task: Task): State {
  const states: Record<string, State> = { waiting: 'ask', running: 'live', failed: 'bad', answered: 'new' };
  return states[task.state] ?? 'read';
}

export const isPinned = (task: Pick<Task, 'metadata'>): boolean => task.metadata?.['deerflow_pinned'] === true;

/** Whether a task is in lists: neither archived nor temporary. */
export const isShown = (task: Task): boolean => !task.archived && !task.temporary;

/** The days that tasks stand below in the sidebar. */
export type Day = 'waiting' | 'pinned' | 'today' | 'yesterday' | 'week' | 'month' | 'earlier';

/** Puts tasks below their days, in order; each stands once. */
export function byDay(tasks: Task[], now = new Date()): [Day, Task[]][] {
  const days = new Map<Day, Task[]>();
  for (const day of ['waiting', 'pinned', 'today', 'yesterday', 'week', 'month', 'earlier'] as const) days.set(day, []);
  for (const task of tasks) if (isShown(task)) days.get(dayOf(task, now))?.push(task);
  return [...days].filter(([, list]) => list.length > 0);
}

function dayOf(task: Task, now: Date): Day {
  if (task.state === 'waiting') return 'waiting';
  return isPinned(task) ? 'pinned' : dayOfTime(task.updated_at, now);
}

/** The day that a time stands below. */
export function dayOfTime(stamp: string, now = new Date()): Day {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const day = 24 * 3600 * 1000;
  const time = new Date(stamp).getTime();
  if (time >= midnight) return 'today';
  if (time >= midnight - day) return 'yesterday';
  if (time >= midnight - 6 * day) return 'week';
  return time >= midnight - 29 * day ? 'month' : 'earlier';
}
