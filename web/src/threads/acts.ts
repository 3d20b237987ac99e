// What can be done with a task in a list. It is done at once on the page, and taken back when the server does not do
// it.
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, fill, Trouble } from '../lib/api/client';
import { at } from '../lib/base';
import { wordsNow } from '../lib/i18n';
import { go } from '../lib/router';
import { failed } from '../shell/Failure';
import { shell } from '../shell/words';
import { toast } from '../ui/Toasts';
import { type Folder, moveTo } from './folders';
import { edit, foldersKey, isPinned, listsKey, type Task, tasksKey } from './tasks';
import { threads as words } from './words';

/** What of a task the lists know, and what is done with it needs. */
export type Named = Pick<Task, 'thread_id' | 'title' | 'metadata' | 'archived' | 'folder_id'>;

const nameOf = (task: Named): string => task.title || wordsNow(shell).untitled;
const pathOf = (thread: string): string => `/c/${thread}`;
const isHere = (thread: string): boolean => location.pathname === at(pathOf(thread));

/**
 * The last thing done with each task that is on its way: they reach the server in the order in which they were done.
 */
const underway = new Map<string, Promise<unknown>>();

/** Sends behind what was done before with the same task. */
function behind(thread: string, send: () => Promise<unknown>): Promise<unknown> {
  const sent = (underway.get(thread) ?? Promise.resolve()).then(send, send);
  underway.set(thread, sent);
  return sent;
}

class Acts {
  constructor(private readonly client: QueryClient) {}

  /** Changes a task here; what the server says of it comes with the news. */
  private show(thread: string, some: Partial<Task> | null): void {
    edit(this.client, (all) => ({
      ...all,
      threads: all.threads.flatMap((t) => (t.thread_id !== thread ? t : some ? { ...t, ...some } : [])),
    }));
  }

  private async tell(thread: string, send: () => Promise<unknown>): Promise<boolean> {
    try {
      await behind(thread, send);
      return true;
    } catch (error) {
      void this.client.invalidateQueries({ queryKey: tasksKey });
      if (error instanceof Trouble && error.status === 401) return false; // somebody is asked to sign in
      if (error instanceof Trouble && error.status === 409) toast({ text: wordsNow(words).running, bad: true });
      else failed(error);
      return false;
    } finally {
      void this.client.invalidateQueries({ queryKey: listsKey });
    }
  }

  private mark(thread: string, marks: { archived?: boolean; pinned?: boolean; title?: string }): Promise<boolean> {
    return this.tell(thread, () =>
      api('patch', '/threads/{thread_id}/marks', { path: { thread_id: thread }, body: marks }),
    );
  }

  pin(task: Named): void {
    const pinned = !isPinned(task);
    this.show(task.thread_id, { metadata: { ...task.metadata, deerflow_pinned: pinned } });
    void this.mark(task.thread_id, { pinned });
  }

  rename(task: Named, title: string): void {
    const clean = title.trim();
    if (!clean || clean === task.title) return;
    this.show(task.thread_id, { title: clean });
    void this.mark(task.thread_id, { title: clean });
  }

  async archive(task: Named): Promise<void> {
    const archived = !task.archived;
    const w = wordsNow(words);
    this.show(task.thread_id, { archived });
    if ((await this.mark(task.thread_id, { archived })) && archived)
      toast({
        text: w.archived(nameOf(task)),
        act: { label: w.undo, go: () => void this.archive({ ...task, archived: true }) },
      });
  }

  async move(task: Named, folder: Folder | null): Promise<void> {
    this.show(task.thread_id, { folder_id: folder?.folder_id ?? '' });
    const done = await this.tell(task.thread_id, () =>
      moveTo(task.thread_id, folder?.folder_id ?? null, task.folder_id),
    );
    void this.client.invalidateQueries({ queryKey: foldersKey });
    const w = wordsNow(words);
    if (done && folder) toast({ text: w.moved(nameOf(task), folder.name) });
  }

  /** Takes it out of the bin. */
  restore(thread: string): Promise<boolean> {
    return this.tell(thread, () => api('post', '/threads/{thread_id}/restore', { path: { thread_id: thread } }));
  }

  /** Puts it into the bin. Who looks at it goes to the start, and comes back with it. */
  async remove(task: Named): Promise<void> {
    const thread = task.thread_id;
    const here = isHere(thread);
    this.show(thread, null);
    if (!(await this.tell(thread, () => api('post', '/threads/{thread_id}/trash', { path: { thread_id: thread } }))))
      return;
    if (here) go('/');
    const w = wordsNow(words);
    const undo = async (): Promise<void> => {
      if ((await this.restore(thread)) && here) go(pathOf(thread));
    };
    toast({ text: w.deleted(nameOf(task)), act: { label: w.undo, go: () => void undo() } });
  }
}

export type { Acts };

/** What can be done with tasks. */
export function useActs(): Acts {
  const client = useQueryClient();
  return useMemo(() => new Acts(client), [client]);
}

/** Saves a conversation as a file. */
export function exportTask(thread: string, format: 'md' | 'json' | 'html'): void {
  const link = document.createElement('a');
  link.href = at(`${fill('/threads/{thread_id}/export', { thread_id: thread })}?format=${format}`);
  link.download = '';
  link.click();
}

/** Opens a task to be printed. */
export const printTask = (thread: string): void => go(`${pathOf(thread)}?print=1`, isHere(thread));
