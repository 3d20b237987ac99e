// The tasks of the user as the server has them: a list at first, and then what the news tell of each change.
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Answer, api } from '../lib/api/client';
import { type Message, useNews } from '../lib/news/news';
import type { State } from '../ui/Glyph';

type News = Answer<'/news', 'get'>;
export type Counts = News['counts'];
/** A task: a thread as it is after its last change. */
export type Task = Omit<NonNullable<News['threads']>[number], 'metadata'> & { metadata: Record<string, unknown> | null };

export interface Tasks {
  threads: Task[];
  counts: Counts;
}

/** How many of the tasks that changed last the sidebar has; more are on the page of all tasks. */
const kept = 200;
export const tasksKey = ['tasks'] as const;

async function load(): Promise<Tasks> {
  const news = await api('get', '/news', { query: { limit: kept } });
  return { threads: (news.threads ?? []) as Task[], counts: news.counts };
}

/** The tasks, the last changed first. */
export const useTasks = () => useQuery({ queryKey: tasksKey, queryFn: load, staleTime: Infinity });

/** One of them, if it is among those that changed last. */
export function useTask(id: string): Task | undefined {
  return useTasks().data?.threads.find((t) => t.thread_id === id);
}

/** Keeps the tasks as the news tell; once for all pages. */
export function useTaskNews(): void {
  const client = useQueryClient();
  useNews((m) => void hear(client, m));
}

function hear(client: QueryClient, m: Message): void {
  switch (m.event) {
    case 'thread':
      edit(client, (all) => ({ ...all, threads: withTask(all.threads, m.data as Task) }));
      break;
    case 'gone': {
      const { thread_id } = m.data as { thread_id: string };
      edit(client, (all) => ({ ...all, threads: all.threads.filter((t) => t.thread_id !== thread_id) }));
      break;
    }
    case 'counts':
      edit(client, (all) => ({ ...all, counts: m.data as Counts }));
      break;
    case 'reset':
      void client.invalidateQueries({ queryKey: tasksKey });
  }
}

function edit(client: QueryClient, change: (all: Tasks) => Tasks): void {
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

export const isPinned = (task: Task): boolean => task.metadata?.['deerflow_pinned'] === true;

/** The days that tasks stand below in the sidebar. */
export type Day = 'waiting' | 'pinned' | 'today' | 'yesterday' | 'week' | 'month' | 'earlier';

/** Puts tasks below their days, in order; each stands once. */
export function byDay(tasks: Task[], now = new Date()): [Day, Task[]][] {
  const days = new Map<Day, Task[]>();
  for (const day of ['waiting', 'pinned', 'today', 'yesterday', 'week', 'month', 'earlier'] as const) days.set(day, []);
  for (const task of tasks) days.get(dayOf(task, now))?.push(task);
  return [...days].filter(([, list]) => list.length > 0);
}

function dayOf(task: Task, now: Date): Day {
  if (task.state === 'waiting') return 'waiting';
  if (isPinned(task)) return 'pinned';
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const day = 24 * 3600 * 1000;
  const time = new Date(task.updated_at).getTime();
  if (time >= midnight) return 'today';
  if (time >= midnight - day) return 'yesterday';
  if (time >= midnight - 6 * day) return 'week';
  return time >= midnight - 29 * day ? 'month' : 'earlier';
}
