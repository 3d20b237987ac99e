// Which task is being renamed, and where on the page: in the sidebar, in a list, in the header.
import { useSyncExternalStore } from 'react';

export type Place = 'side' | 'list' | 'head';

let now = '';
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Begins to rename a task at a place; without one it ends. */
export function rename(thread: string, place: Place | null): void {
  now = place ? `${place} ${thread}` : '';
  for (const tell of listeners) tell();
}

/** Whether a task is being renamed at a place. */
export const useRenaming = (thread: string, place: Place): boolean =>
  useSyncExternalStore(subscribe, () => now === `${place} ${thread}`);

/** The line of a task that has the focus. */
export function focused(): { thread: string; place: Place; title: string; archived: boolean } | null {
  const row = document.activeElement?.closest<HTMLElement>('[data-task]');
  const { task, place, title = '', archived } = row?.dataset ?? {};
  return task && place ? { thread: task, place: place as Place, title, archived: archived === 'true' } : null;
}

/** What the line of a task says of it, for the keys. */
export const lineOf = (task: { thread_id: string; title: string; archived?: boolean | undefined }, place: Place) => ({
  'data-task': task.thread_id,
  'data-title': task.title,
  'data-archived': !!task.archived,
  'data-place': place,
});
