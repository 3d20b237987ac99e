// What a search finds: tasks by their titles, messages, files. The server finds; the titles that the page knows are
// there at once.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type Answer, api } from '../lib/api/client';
import { isShown, listsKey, type Task } from './tasks';

export type Hit = NonNullable<Answer<'/search', 'get'>>[number];

/** How a search is narrowed. */
export interface Narrowed {
  archived?: boolean;
  folder?: string;
  status?: 'busy' | 'interrupted';
  limit?: number;
}

/** A search, and how long it took. */
export const useFound = (q: string, by: Narrowed = {}) =>
  useQuery({
    queryKey: [...listsKey, 'found', q, by],
    queryFn: async ({ signal }) => {
      const began = performance.now();
      const hits = (await api('get', '/search', { query: { q, limit: 40, ...by }, signal })) ?? [];
      return { hits, millis: performance.now() - began, q };
    },
    enabled: q.trim() !== '',
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

/** Where a hit leads: to its message or its file in its task. */
export function addressOf(hit: Hit): string {
  const task = `/c/${hit.thread_id}`;
  if (hit.message_id) return `${task}#m-${hit.message_id}`;
  return hit.path ? `${task}?panel=files&file=${encodeURIComponent(hit.path)}` : task;
}

/** The tasks that have all words of a query in their titles. */
export function titled(tasks: Task[], q: string): Task[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return tasks.filter((t) => isShown(t) && words.every((w) => t.title.toLowerCase().includes(w)));
}
