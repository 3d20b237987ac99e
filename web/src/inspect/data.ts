// What the inspector asks the server: the steps of a run, its messages, what a call was sent, and how the task was at a
// checkpoint.
import { useQuery } from '@tanstack/react-query';
import { type Answer, api } from '../lib/api/client';
import type { Message } from '../chat/talk/message';

export type Timeline = Answer<'/threads/{thread_id}/runs/{run_id}/timeline', 'get'>;
export type Step = NonNullable<Timeline['steps']>[number];
export type Call = Answer<'/threads/{thread_id}/runs/{run_id}/calls/{call_number}', 'get'>;
export type Then = Answer<'/threads/{thread_id}/state/{checkpoint_id}/files', 'get'>;

/** A run, with its steps and what was said in it. */
export interface Told {
  timeline: Timeline;
  steps: Step[];
  messages: Message[];
}

const page = 1000;
/** Most steps that are read of a run: longer ones are looked at with `pudu runs inspect`. */
const most = 5 * page;
/** Most messages of a run that are read. */
const mostMessages = 1000;

const isOver = (status: string | undefined): boolean =>
  status !== undefined && status !== 'running' && status !== 'pending';

async function told(thread: string, run: string, signal: AbortSignal): Promise<Told> {
  const path = { thread_id: thread, run_id: run };
  const said = api('get', '/threads/{thread_id}/runs/{run_id}/messages', { path, query: { limit: 200 }, signal });
  let timeline = await api('get', '/threads/{thread_id}/runs/{run_id}/timeline', {
    path,
    query: { limit: page },
    signal,
  });
  const steps = [...(timeline.steps ?? [])];
  while (timeline.next && steps.length < most) {
    timeline = await api('get', '/threads/{thread_id}/runs/{run_id}/timeline', {
      path,
      query: { limit: page, after: timeline.next },
      signal,
    });
    steps.push(...(timeline.steps ?? []));
  }
  return { timeline, steps, messages: await messagesOf(said, path, signal) };
}

interface Rows {
  data: { seq: number; content: Message }[] | null;
  has_more: boolean;
}

/** The messages of a run, from its last page back to its first. */
async function messagesOf(
  first: Promise<unknown>,
  path: { thread_id: string; run_id: string },
  signal: AbortSignal,
): Promise<Message[]> {
  let rows = (await first) as Rows;
  const all = [...(rows.data ?? [])];
  while (rows.has_more && rows.data?.[0] && all.length < mostMessages) {
    const query = { limit: 200, before_seq: rows.data[0].seq };
    rows = (await api('get', '/threads/{thread_id}/runs/{run_id}/messages', {
      path,
      query,
      signal,
    })) as unknown as Rows;
    all.unshift(...(rows.data ?? []));
  }
  return all.map((r) => r.content);
}

/** A run; one that is under way is asked for again and again. */
export const useRun = (thread: string, run: string) =>
  useQuery({
    queryKey: ['run', thread, run],
    queryFn: ({ signal }) => told(thread, run, signal),
    enabled: run !== '',
    staleTime: 5_000,
    refetchInterval: (q) => (q.state.data && !isOver(q.state.data.timeline.status) ? 2_000 : false),
  });

/** What a call was sent, and what came back. */
export const useCall = (thread: string, run: string, n: number) =>
  useQuery({
    queryKey: ['run', thread, run, 'call', n],
    queryFn: ({ signal }) =>
      api('get', '/threads/{thread_id}/runs/{run_id}/calls/{call_number}', {
        path: { thread_id: thread, run_id: run, call_number: String(n) },
        signal,
      }),
    enabled: n > 0,
    staleTime: Infinity,
    gcTime: 60_000,
  });

/** The runs of a task, the newest first. */
export const useRuns = (thread: string) =>
  useQuery({
    queryKey: ['runs', thread],
    queryFn: async ({ signal }) =>
      (await api('get', '/threads/{thread_id}/runs', { path: { thread_id: thread }, query: { limit: 100 }, signal })) ??
      [],
    staleTime: 5_000,
  });

/** A task as it was: what was said, and its plan. */
export interface State {
  messages: Message[];
  todos: { content: string; status: string }[];
}

export const useStateAt = (thread: string, checkpoint: string) =>
  useQuery({
    queryKey: ['state', thread, checkpoint],
    queryFn: async ({ signal }): Promise<State> => {
      const state = await api('get', '/threads/{thread_id}/state/{checkpoint_id}', {
        path: { thread_id: thread, checkpoint_id: checkpoint },
        signal,
      });
      const values = (state.values ?? {}) as Record<string, unknown>;
      return { messages: (values['messages'] ?? []) as Message[], todos: (values['todos'] ?? []) as State['todos'] };
    },
    enabled: checkpoint !== '',
    staleTime: Infinity,
    gcTime: 60_000,
  });

/** The files of a task as they were. */
export const useFilesAt = (thread: string, checkpoint: string) =>
  useQuery({
    queryKey: ['state', thread, checkpoint, 'files'],
    queryFn: ({ signal }) =>
      api('get', '/threads/{thread_id}/state/{checkpoint_id}/files', {
        path: { thread_id: thread, checkpoint_id: checkpoint },
        signal,
      }),
    enabled: checkpoint !== '',
    staleTime: 30_000,
  });
