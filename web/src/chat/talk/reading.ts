// A conversation is read by three requests at once: its newest messages, its runs, and what waits to be read by a run.
// The script within index.html makes the same three before this is there.
import { api, fill, queryOf, send } from '../../lib/api/client';
import { runsOf } from './requests';
import { type Steer, steersOf } from './steers';
import type { PageRow, Run } from './talk';

interface Messages {
  data: PageRow[];
  has_more: boolean;
}

export interface Read extends Messages {
  runs: Record<string, Run>;
  steers: Steer[];
}

/**
 * How far apart the end of a run and the time of an answer may be and be the same moment, in milliseconds: the latter
 * has whole seconds.
 */
const moment = 3000;

/** Whether a run that was not known to be over may have ended since a time of the server's clock. */
export const endedSince = (at: number, runs: Record<string, Run>, before: Record<string, Run>): boolean =>
  Object.values(runs).some(
    (r) => r.ended !== undefined && before[r.id]?.ended === undefined && !(r.ended < at - moment),
  );

async function messagesOf(thread: string, query: object, signal: AbortSignal): Promise<Messages & { at: number }> {
  const path = fill('/threads/{thread_id}/messages/page', { thread_id: thread }) + queryOf(query);
  const response = await send(path, { method: 'GET', headers: { Accept: 'application/json' }, signal });
  return { at: Date.parse(response.headers.get('Date') ?? ''), ...((await response.json()) as Messages) };
}

/** Reads the newest messages of a thread, or those of a branch, its runs, and what is said to the one at work. */
export async function readThread(
  thread: string,
  query: object,
  known: () => Record<string, Run>,
  signal: AbortSignal,
): Promise<Read> {
  const before = known();
  const [messages, runs, steers] = await Promise.all([
    messagesOf(thread, query, signal),
    runsOf(thread, known, signal),
    steersOf(thread, signal).catch(() => []), // of a thread that is not there
  ]);
  // A run that has ended is not followed: what it said last has to be among the messages.
  const { data, has_more } = endedSince(messages.at, runs, before) ? await messagesOf(thread, query, signal) : messages;
  // A thread that is not there has no messages either: only the thread itself tells.
  if (data.length === 0 && Object.keys(runs).length === 0)
    await api('get', '/threads/{thread_id}', { path: { thread_id: thread } });
  return { data, has_more, runs, steers };
}
