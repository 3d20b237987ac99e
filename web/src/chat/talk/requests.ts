// What runs are asked for with, and what is read from the list of runs.
import type { Sent } from '../../files/uploads';
import { api } from '../../lib/api/client';
import type { Secrets } from '../secrets/held';
import { type Message, textOf } from './message';
import type { Asked, Run } from './talk';
import { isActive } from './turns';

/** What a run is started with, beside the words. */
export interface Options {
  model?: string;
  mode?: Mode;
  effort?: string;
  agent?: string;
  /** The folder that a new task is put into, before its first run is told what that says. */
  folder?: string;
  /** The files that the message comes with. */
  files?: Sent[];
}

export type Mode = 'quick' | 'think' | 'plan' | 'team';

/** The ways of working, in the words that DeerFlow's client sends. */
const modes: Record<Mode, object> = {
  quick: { mode: 'flash', thinking_enabled: false, is_plan_mode: false, subagent_enabled: false },
  think: { mode: 'thinking', thinking_enabled: true, is_plan_mode: false, subagent_enabled: false },
  plan: { mode: 'pro', thinking_enabled: true, is_plan_mode: true, subagent_enabled: false },
  team: { mode: 'ultra', thinking_enabled: true, is_plan_mode: true, subagent_enabled: true },
};

/** The body of a request for a run. */
export interface RunRequest {
  context: object;
  [member: string]: unknown;
}

/** The request of a run that begins with a message. */
export function requestOf(id: string, text: string, o: Options): RunRequest {
  const context = {
    ...(o.model ? { model_name: o.model } : {}),
    ...(o.mode ? modes[o.mode] : {}),
    ...(o.effort ? { reasoning_effort: o.effort } : {}),
    ...(o.agent ? { agent_name: o.agent } : {}),
  };
  return {
    input: {
      messages: [{ type: 'human', id, content: text, ...(o.files ? { additional_kwargs: { files: o.files } } : {}) }],
    },
    context,
    multitask_strategy: 'enqueue',
    on_disconnect: 'continue',
  };
}

export interface RunRow {
  run_id: string;
  status: string;
  created_at: string;
  updated_at: string;
  total_tokens: number;
  stop_reason: string | null;
  /** What the request has said to the run, if that was at work already. */
  steer_id?: string;
  error: string | null;
  /** What of its request had no effect. */
  metadata?: { pudu_warnings?: string[] };
  kwargs?: {
    context?: unknown;
    input?: { messages?: { id?: string; content?: Message['content'] }[] | null } | null;
    command?: { resume?: unknown } | null;
  };
}

/** What became of an answer: the server has it, or it has not, or had another one before. */
export type Arrival = boolean | 'elsewhere';

/** Whether a run was to bring an answer and found nothing that waits for it. */
export const cameLate = (r: RunRow): boolean =>
  r.metadata?.pudu_warnings?.some((w) => w.startsWith('command.resume:')) ?? false;

/** The interrupts that the value of a resume answers by their ids. */
function answersIn(resume: unknown): string[] | undefined {
  if (!resume || typeof resume !== 'object' || Array.isArray(resume) || 'decisions' in resume) return undefined;
  return Object.keys(resume);
}

/** The questions that no run brings an answer to: one that waits in the queue, or is at work, does so already. */
export function openOf(talk: { asked: Asked[]; runs: Record<string, Run> }): Asked[] {
  const brought = new Set(Object.values(talk.runs).flatMap((r) => (isActive(r) ? (r.answers ?? []) : [])));
  return brought.size === 0 ? talk.asked : talk.asked.filter((a) => !brought.has(a.id));
}

/** A run of the list. */
export function runOf(r: RunRow): Run {
  const run: Run = { id: r.run_id, status: r.status, began: Date.parse(r.created_at), tokens: r.total_tokens };
  const said = r.kwargs?.input?.messages?.at(-1);
  if (!isActive(run)) run.ended = Date.parse(r.updated_at);
  if (r.status === 'interrupted') run.stopped = true;
  if (r.error) run.error = r.error;
  if (r.stop_reason) run.stopReason = r.stop_reason;
  if (r.kwargs?.context) run.context = r.kwargs.context as Record<string, unknown>;
  const answers = answersIn(r.kwargs?.command?.resume);
  if (answers) run.answers = answers;
  if (said) run.says = { id: said.id ?? '', text: textOf({ id: '', type: '', content: said.content ?? '' }) };
  return run;
}

/** Of what is known of a run and what was read: a run that is over does not go on. */
export function newer(known: Run | undefined, read: Run): Run {
  if (!known || isActive(known) || !isActive(read)) return known?.attempt ? { ...read, attempt: known.attempt } : read;
  return { ...read, ...known };
}

/**
 * Whether a run has ended of which the page had not heard that: nothing of it was read, also not what it asks and what
 * it has answered.
 */
export const endedUnheard = (runs: Record<string, Run>, known: Record<string, Run>): boolean =>
  Object.values(runs).some((r) => !isActive(r) && (!known[r.id] || isActive(known[r.id])));

/** The newest runs of a thread, with what is known of them. */
export async function runsOf(
  thread: string,
  known: () => Record<string, Run>,
  signal: AbortSignal,
): Promise<Record<string, Run>> {
  const list = await api('get', '/threads/{thread_id}/runs', {
    path: { thread_id: thread },
    query: { limit: 100 },
    signal,
  });
  const before = known();
  return Object.fromEntries(
    (list ?? []).map((r) => [r.run_id, newer(before[r.run_id], runOf(r as unknown as RunRow))]),
  );
}

/** Cancels a run. */
export const cancelRun = (thread: string, run: string): Promise<unknown> =>
  api('post', '/threads/{thread_id}/runs/{run_id}/cancel', { path: { thread_id: thread, run_id: run } });

/** Starts a run, with secrets that only it gets; with a key it is the same one however often it is asked for. */
export async function startRun(thread: string, request: RunRequest, secrets?: Secrets, key?: string): Promise<RunRow> {
  const context = { ...request.context, ...(secrets ? { secrets } : {}) };
  const run = await api('post', '/threads/{thread_id}/runs', {
    path: { thread_id: thread },
    headers: key ? { 'Idempotency-Key': key } : {},
    body: { assistant_id: 'lead_agent', config: { recursion_limit: 1000 }, ...request, context } as never,
  });
  return run as unknown as RunRow;
}

/** The calls that wait on a thread. */
export async function waitingOf(thread: string, signal: AbortSignal): Promise<Asked[]> {
  const read = await api('get', '/threads/{thread_id}', { path: { thread_id: thread }, signal });
  const { interrupts } = read as { interrupts?: Record<string, { id?: string; value?: unknown }[]> };
  const lists = Object.values(interrupts ?? {});
  return lists.flat().map((i) => ({ id: i.id ?? '', run: '', value: i.value }));
}
