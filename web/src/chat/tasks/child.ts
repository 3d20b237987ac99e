// A sub-agent at the server: where its conversation is, a word to it, and its stop.
import { api } from '../../lib/api/client';
import { uuid } from '../../lib/ids';

export interface Child {
  thread: string;
  description: string;
}

/**
 * Finds the sub-agent of a call: in the run that the address names, else in the newest one that has it. Null says that
 * there is none.
 */
export async function childOf(
  thread: string,
  call: string,
  run: string | null,
  signal: AbortSignal,
): Promise<Child | null> {
  const runs = run
    ? [run]
    : (
        (await api('get', '/threads/{thread_id}/runs', {
          path: { thread_id: thread },
          query: { limit: 100 },
          signal,
        })) ?? []
      ).map((r) => r.run_id);
  for (const run_id of runs) {
    const query = { event_types: 'subagent.start', task_id: call, limit: 1 };
    const list = await api('get', '/threads/{thread_id}/runs/{run_id}/events', {
      path: { thread_id: thread, run_id },
      query,
      signal,
    });
    const content = list?.[0]?.content as { thread_id?: string; description?: string } | undefined;
    if (content?.thread_id) return { thread: content.thread_id, description: content.description ?? '' };
  }
  return null;
}

/** Says something to a sub-agent at work. */
export const wordTo = (thread: string, text: string): Promise<unknown> =>
  api('post', '/threads/{thread_id}/runs', {
    path: { thread_id: thread },
    body: {
      assistant_id: 'lead_agent',
      input: { messages: [{ type: 'human', id: uuid(), content: text }] },
      multitask_strategy: 'steer',
      on_disconnect: 'continue',
    } as never,
  });

/** Stops a sub-agent; its parent goes on with what that says. */
export const stopOf = (thread: string, run: string): Promise<unknown> =>
  api('post', '/threads/{thread_id}/runs/{run_id}/cancel', { path: { thread_id: thread, run_id: run } });
