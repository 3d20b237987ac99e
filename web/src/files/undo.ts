// Changes of runs, and how they are taken back.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, api, Trouble } from '../lib/api/client';
import { filesKey } from './data';

export type Changes = Answer<'/threads/{thread_id}/runs/{change_id}/workspace-changes', 'get'>;
export type FileChange = NonNullable<Changes['files']>[number];
export type Undone = Answer<'/threads/{thread_id}/runs/{change_id}/workspace-changes/undo', 'post'>;

/** What a run has changed; nothing is asked for where there is no run. */
export const useChanges = (thread: string, run: string) =>
  useQuery({
    queryKey: [...filesKey(thread), 'changes', run],
    queryFn: ({ signal }) =>
      api('get', '/threads/{thread_id}/runs/{change_id}/workspace-changes', {
        path: { thread_id: thread, change_id: run },
        signal,
      }),
    enabled: run !== '',
    retry: false,
  });

/** Where an undo stands: it is asked about, it met what was changed since, it is done, it failed. */
export type Undoing =
  | { at: 'rest' }
  | { at: 'asked' | 'clash'; would: Undone }
  | { at: 'done'; was: Undone; again?: boolean }
  | { at: 'failed'; error: unknown };

export interface Undo {
  state: Undoing;
  busy: boolean;
  /** Looks what an undo would do, and asks. */
  look: () => Promise<void>;
  /** Does it; force takes back what was changed since, too. */
  go: (force: boolean) => Promise<void>;
  /** Takes the undo back. */
  again: () => Promise<void>;
  rest: () => void;
}

/** An undo of what a run has changed: of some paths, or of all. */
export function useUndo(thread: string, run: string, paths: string[]): Undo {
  const client = useQueryClient();
  const [state, setState] = useState<Undoing>({ at: 'rest' });
  const [busy, setBusy] = useState(false);
  const ask = (change: string, body: { dry_run?: boolean; force?: boolean; paths?: string[] }): Promise<Undone> =>
    api('post', '/threads/{thread_id}/runs/{change_id}/workspace-changes/undo', {
      path: { thread_id: thread, change_id: change },
      body,
    });
  const guarded = async (work: () => Promise<Undoing>): Promise<void> => {
    setBusy(true);
    setState(await work().catch((error: unknown): Undoing => ({ at: 'failed', error })));
    setBusy(false);
  };
  return {
    state,
    busy,
    look: () =>
      guarded(async () => {
        const would = await ask(run, { paths, dry_run: true });
        return { at: (would.conflicts ?? []).length > 0 ? 'clash' : 'asked', would };
      }),
    go: (force) =>
      guarded(async () => {
        const was = await ask(run, { paths, force });
        if ((was.conflicts ?? []).length > 0 && !was.done) return { at: 'clash', would: was };
        void client.invalidateQueries({ queryKey: filesKey(thread) });
        return { at: 'done', was };
      }),
    again: () =>
      guarded(async () => {
        if (state.at !== 'done') return state;
        const was = await ask(state.was.undo_id, { force: true });
        void client.invalidateQueries({ queryKey: filesKey(thread) });
        return { at: 'done', was, again: true };
      }),
    rest: () => setState({ at: 'rest' }),
  };
}

/** Whether a run of the task is in the way. */
export const isBusy = (error: unknown): boolean => error instanceof Trouble && error.status === 409;

/** How many files an undo has, or would have, put back and removed. */
export const counted = (u: Undone): [number, number] => [(u.restored ?? []).length, (u.removed ?? []).length];
