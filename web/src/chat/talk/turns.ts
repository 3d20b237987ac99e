// Turns: what a person said, and what Pudu did and said to it, in the order in which it came.
import { isHidden, type Message, type Row, type ToolCall, textOf, thoughtOf } from './message';
import type { Call, Run, Talk } from './talk';

/** One line of a trail, or words in it. */
export type Step =
  | { kind: 'thought'; key: string; text: string; millis?: number; open: boolean }
  | { kind: 'say'; key: string; row: Row; text: string }
  | {
      kind: 'call';
      key: string;
      call: ToolCall;
      live?: Call;
      result?: Message;
      at: number;
      open: boolean;
      asked?: boolean;
    };

export interface Turn {
  key: string;
  ask?: Row;
  steps: Step[];
  /** The last message of Pudu's, by its id: what is answered once more. */
  last?: string;
  /** The last words, when nothing came behind them. */
  answer?: Row;
  run?: Run;
  /** The run goes on in the next turn: somebody said something to it while it worked. */
  goesOn?: boolean;
}

/**
 * The turns of a conversation. A run under way that says nothing of its own brings an answer, or answers once more: the
 * last turn is its.
 */
export function turnsOf(talk: Talk, active?: Run): Turn[] {
  const turns: Turn[] = [];
  const results = new Map<string, Message>();
  for (const r of talk.rows)
    if (r.message.type === 'tool' && r.message.tool_call_id) results.set(r.message.tool_call_id, r.message);
  for (const row of talk.rows) {
    if (isHidden(row.message)) continue;
    if (row.message.type === 'human') turns.push({ key: row.message.id, ask: row, steps: [] });
    else if (row.message.type === 'ai') {
      if (turns.length === 0) turns.push({ key: 'first', steps: [] });
      add(turns.at(-1) as Turn, row, talk, results);
    }
  }
  for (const turn of turns) finish(turn, talk);
  const last = turns.at(-1);
  if (last && active && !active.says && !isActive(last.run)) last.run = active;
  for (const [i, turn] of turns.entries()) if (turn.run && turns[i + 1]?.ask?.run === turn.run.id) turn.goesOn = true;
  return turns;
}

function add(turn: Turn, row: Row, talk: Talk, results: Map<string, Message>): void {
  const m = row.message;
  turn.last = m.id;
  const thought = thoughtOf(m);
  // That no model could be asked is said by how the run ended.
  const fallback = m.additional_kwargs?.['deerflow_error_fallback'] === true && talk.runs[row.run]?.status === 'error';
  const text = fallback ? '' : textOf(m).trim();
  const busy = !!row.open;
  if (thought) turn.steps.push(thinking(row, thought, busy && !text && !m.tool_calls?.length));
  if (text) turn.steps.push({ kind: 'say', key: m.id, row, text });
  for (const [i, call] of (m.tool_calls ?? []).entries()) {
    const live = talk.calls[call.id];
    const result = results.get(call.id);
    const step: Step = { kind: 'call', key: call.id || `${m.id}-${i}`, call: whole(call), at: row.at, open: busy };
    const asked = talk.asked.some((a) => (talk.waits[a.id] ? talk.waits[a.id] === call.id : !busy));
    turn.steps.push({
      ...step,
      ...(live ? { live } : {}),
      ...(result ? { result } : {}),
      ...(asked && !result ? { asked } : {}),
    });
  }
  const run = talk.runs[row.run];
  if (run) turn.run = run;
}

function thinking(row: Row, text: string, open: boolean): Step {
  const lasted = row.message.additional_kwargs?.['thought_for'];
  return {
    kind: 'thought',
    key: `${row.message.id}-t`,
    text,
    open,
    ...(typeof lasted === 'number' ? { millis: lasted } : {}),
  };
}

/** A call with the arguments that can be read so far. */
function whole(call: ToolCall): ToolCall {
  const text = call.args[''];
  if (typeof text !== 'string') return call;
  return { ...call, args: partial(text) };
}

/** Reads the strings of a JSON object that is not whole yet. */
export function partial(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    const out: Record<string, unknown> = {};
    for (const [, name, value] of text.matchAll(/"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)/g)) {
      try {
        if (name) out[name] = JSON.parse(`"${value}"`);
      } catch {
        // an escape that is cut in two
      }
    }
    return out;
  }
}

function finish(turn: Turn, talk: Talk): void {
  const asked = turn.ask?.run ? talk.runs[turn.ask.run] : undefined;
  if (!turn.run && asked) turn.run = asked;
  const last = turn.steps.at(-1);
  if (last?.kind !== 'say') return;
  turn.answer = last.row;
  turn.steps.pop();
}

/** Whether a message is one of a turn: the person's, or one of Pudu's, their calls' results too. */
export function sameMessage(turn: Turn, id: string): boolean {
  if (turn.ask?.message.id === id || turn.answer?.message.id === id || turn.last === id) return true;
  return turn.steps.some((s) => (s.kind === 'call' ? s.result?.id === id : s.key === id || s.key === `${id}-t`));
}

/** Whether a run is under way, or waits to be. */
export const isActive = (run: Run | undefined): boolean => run?.status === 'running' || run?.status === 'pending';
