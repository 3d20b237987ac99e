// A task that was given to a sub-agent, as the events of its call and its result tell of it.
import type { Message, Row } from '../talk/message';
import type { Talk, Told } from '../talk/talk';
import { type Step, type Turn, turnsOf } from '../talk/turns';
import { type CallStep, outcomeOf } from '../trail/outcome';

export type TaskState = 'todo' | 'live' | 'ask' | 'done' | 'bad' | 'stopped';

export interface Task {
  call: string;
  description: string;
  prompt: string;
  kind: string;
  /** Where its own conversation is found; empty before it has begun. */
  run: string;
  thread: string;
  state: TaskState;
  /** It was stopped because its time was up. */
  late: boolean;
  /** Why it failed. */
  error: string;
  began: number;
  ended: number;
  tokens: number;
  /** What it did, and its answer. */
  turn: Turn | undefined;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The task of a call; active says whether the run that gave it is under way. */
export function taskOf(step: CallStep, active: boolean): Task {
  const told = step.live?.told ?? [];
  const first = told.find((t) => t.type === 'task_started');
  const last = told.at(-1);
  const result = step.result?.additional_kwargs ?? {};
  const status = text(result['subagent_status']) || (over(last) ? text(last?.type).slice('task_'.length) : '');
  return {
    call: step.call.id,
    description: text(step.call.args['description']) || text(first?.['description']),
    prompt: text(step.call.args['prompt']),
    kind: text(step.call.args['subagent_type']) || text(first?.['subagent_type']),
    run: text(first?.['run_id']),
    thread: text(first?.['thread_id']),
    state: stateOf(step, active, status),
    late: status === 'timed_out',
    error: text(result['subagent_error']) || text(last?.['error']),
    began: first?.at ?? step.live?.began ?? step.at,
    ended: over(last) ? (last?.at ?? 0) : told.length > 0 ? 0 : (step.live?.ended ?? 0),
    tokens: tokensOf(told, result['subagent_token_usage']),
    turn: turnOf(told),
  };
}

const over = (t: Told | undefined): boolean => !!t && t.type !== 'task_started' && t.type !== 'task_running';

const ends: Record<string, TaskState> = { completed: 'done', failed: 'bad', timed_out: 'bad', cancelled: 'stopped' };

function stateOf(step: CallStep, active: boolean, status: string): TaskState {
  if (step.asked) return 'ask';
  if (ends[status]) return ends[status];
  // A call that leaves its task in the background has a result at once; what was told says that it works on.
  const told = step.live?.told;
  if (told?.length && !over(told.at(-1))) return active ? 'live' : 'stopped';
  const outcome = outcomeOf(step, active);
  if (outcome === 'live') return 'live';
  if (outcome === 'will') return 'todo';
  return outcome === 'done' ? 'done' : outcome === 'stopped' ? 'stopped' : 'bad';
}

/** What it has taken: the last event that counts says it. */
function tokensOf(told: Told[], result: unknown): number {
  const usage = (told.findLast((t) => t['usage'])?.['usage'] ?? result) as { total_tokens?: number } | undefined;
  return usage?.total_tokens ?? 0;
}

/** The messages that were told of, as a turn. Told once more after a crash, one stands where it stood. */
function turnOf(told: Told[]): Turn | undefined {
  const rows = new Map<string, Row>();
  const calls: Talk['calls'] = {};
  for (const t of told) {
    const message = t['message'] as Message | undefined;
    if (!message) continue;
    rows.set(message.id, { message, run: '', at: t.at });
    for (const call of message.tool_calls ?? []) calls[call.id] = { began: t.at };
    const began = message.tool_call_id && calls[message.tool_call_id]?.began;
    if (message.tool_call_id && began) calls[message.tool_call_id] = { began, ended: t.at, millis: t.at - began };
  }
  return turnsOf({ rows: [...rows.values()], calls, runs: {}, asked: [], waits: {} })[0];
}

/** The step that it is at: its last call without a result. */
export const stepOf = (turn: Turn | undefined): CallStep | undefined =>
  turn?.steps.findLast((s): s is Extract<Step, { kind: 'call' }> => s.kind === 'call' && !s.result);
