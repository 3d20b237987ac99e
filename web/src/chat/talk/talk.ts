// A conversation as this page knows it: rows from the pages of messages, and what the events of a run make of them. All
// of it is data; change makes the next conversation of one and an event.
import type { LogEvent } from '../../lib/stream/log';
import type { Message, Row, ToolCall, Versions } from './message';

/** A call of a tool while it runs, and how it ended. */
export interface Call {
  began?: number;
  ended?: number;
  millis?: number;
  failed?: boolean;
  /** What it has said so far. */
  output?: string;
  /** What was told of the sub-agent that it gave a task to. */
  told?: Told[];
}

/** An event of a sub-agent's, with its members as docs/subagents.md has them. */
export interface Told {
  type: string;
  at: number;
  [member: string]: unknown;
}

/** A run as the list of runs and its log tell. */
export interface Run {
  id: string;
  status: string;
  began: number;
  ended?: number;
  error?: string;
  stopReason?: string;
  /** The attempt that the last event was of: a run that is begun again after its server has died is in its second. */
  attempt?: number;
  /** A person stopped it; a run that waits for one has the same status in its log. */
  stopped?: boolean;
  tokens?: number;
  /** The options that it was started with, and the words. */
  context?: Record<string, unknown>;
  says?: { id: string; text: string };
  /** The interrupts that it brings the answers to, by their ids. */
  answers?: string[];
}

/** A call that waits for approval, or whatever else a run asks in its middle. */
export interface Asked {
  id: string;
  run: string;
  value: unknown;
}

export interface Talk {
  rows: Row[];
  calls: Record<string, Call>;
  runs: Record<string, Run>;
  asked: Asked[];
  /** The calls that wait, by the ids of what is asked for them: runs tell it, the thread does not. */
  waits: Record<string, string>;
}

export const nothing: Talk = { rows: [], calls: {}, runs: {}, asked: [], waits: {} };

/** How many events of a sub-agent's steps are kept; that of its end is kept besides. */
const mostTold = 2000;

/** How much of a tool's running output is kept, in characters. */
const longest = 64 * 1024;

interface Write {
  c: string;
  op: string;
  v: unknown;
}

/** Events of a run that were heard; detail is of one that is over. */
export interface Heard {
  run: string;
  events: LogEvent[];
  detail: boolean;
}

/**
 * The conversation after what was heard. Of a run that is over only its calls are wanted, and which of them wait: its
 * messages may be on another branch. And what runs say belongs to the present: an earlier place, which past is, stays
 * as it is.
 */
export function taken(talk: Talk, { run, events, detail }: Heard, past: boolean): Talk {
  const next = change(talk, run, events);
  if (detail) return { ...talk, calls: next.calls, waits: next.waits };
  return past ? { ...next, rows: talk.rows, asked: [] } : next;
}

/** The conversation after events of a run, in their order. */
export function change(talk: Talk, run: string, events: LogEvent[]): Talk {
  const draft: Talk = {
    rows: [...talk.rows],
    calls: { ...talk.calls },
    runs: { ...talk.runs },
    asked: talk.asked,
    waits: { ...talk.waits },
  };
  for (const event of events) {
    // What a run below this one does is shown in its own card, not as words of this one.
    if (event.ns?.length) continue;
    attempted(draft, run, event);
    apply(draft, run, event);
  }
  return draft;
}

function apply(t: Talk, run: string, e: LogEvent): void {
  const at = Date.parse(e.time);
  const d = e.data;
  switch (e.kind) {
    case 'run':
      return ranOn(t, run, d, at);
    case 'chunk':
      return piece(t, run, d, at);
    case 'state':
      return writes(t, run, d['writes'], at);
    case 'discard':
      t.rows = t.rows.filter((r) => !(r.open && r.message.id === d['message_id']));
      return;
    case 'tool_start':
      t.calls[String(d['call_id'])] = { began: at };
      return;
    case 'tool_end':
      ended(t, d, at);
      return writes(t, run, d['writes'], at);
    case 'progress': {
      const id = String(d['call_id']);
      const call = t.calls[id] ?? { began: at };
      t.calls[id] = {
        ...call,
        output: `${call.output ?? ''}${String(d['text']).replace(/\n$/, '')}\n`.slice(-longest),
      };
      return;
    }
    case 'custom':
      return told(t, d['value'], at);
    case 'interrupt': {
      const id = String(d['interrupt_id']);
      t.asked = [...t.asked.filter((a) => a.id !== id), { id, run, value: d['value'] }];
      if (d['call_id']) t.waits[id] = String(d['call_id']);
    }
  }
}

function told(t: Talk, value: unknown, at: number): void {
  const v = value as { type?: unknown; task_id?: unknown } | null;
  if (typeof v?.task_id !== 'string' || typeof v.type !== 'string') return;
  const call = t.calls[v.task_id] ?? {};
  const before = call.told ?? [];
  if (before.length < mostTold || v.type !== 'task_running')
    t.calls[v.task_id] = { ...call, told: [...before, { ...v, type: v.type, at }] };
}

function ranOn(t: Talk, id: string, d: Record<string, unknown>, at: number): void {
  const status = String(d['status']);
  const before = t.runs[id] ?? { id, status, began: at };
  const over = status !== 'running' && status !== 'pending';
  const run: Run = { ...before, status };
  if (over) run.ended = at;
  if (d['error']) run.error = String(d['error']);
  if (status === 'interrupted' && t.asked.every((a) => a.run !== id)) run.stopped = true;
  if (d['stop_reason']) run.stopReason = String(d['stop_reason']);
  t.runs[id] = run;
  // What a run does not answer stays open while it goes on; at its end it has asked again for what is open still.
  if (status === 'running')
    t.asked = t.asked.filter((a) => a.run === id || (before.answers && !before.answers.includes(a.id)));
  if (over) t.asked = t.asked.filter((a) => a.run === id);
  if (over) settle(t, id);
}

/** Rows without what a run is writing: its log, read from the beginning, says it again. */
export function unwritten(rows: Row[], run: string): Row[] {
  return rows.filter((r) => !(r.open && r.run === run && r.message.type === 'ai'));
}

/**
 * Takes back what an attempt was writing when it broke off, once another goes on: the id of an event begins with its
 * attempt.
 */
function attempted(t: Talk, id: string, e: LogEvent): void {
  const attempt = Number.parseInt(e.id, 10);
  const before = t.runs[id];
  if (before?.attempt && before.attempt < attempt) t.rows = unwritten(t.rows, id);
  if (before?.attempt !== attempt)
    t.runs[id] = { ...(before ?? { id, status: 'running', began: Date.parse(e.time) }), attempt };
}

/** Ends what a run that is over was writing: what is there stays. */
function settle(t: Talk, run: string): void {
  t.rows = t.rows.map((r) => (r.open && r.run === run ? closed(r) : r));
}

function closed(row: Row): Row {
  const { open: _, ...rest } = row;
  return rest;
}

interface CallPiece {
  index: number;
  id?: string;
  name?: string;
  args?: string;
}

/**
 * Adds a piece of a message that a model is writing. Arguments of calls are kept as the text that they are until they
 * are whole.
 */
function piece(t: Talk, run: string, d: Record<string, unknown>, at: number): void {
  const id = String(d['message_id']);
  const index = t.rows.findLastIndex((r) => r.message.id === id);
  const old = t.rows[index];
  if (old && !old.open) return; // it is in the state already
  const m: Message = old?.message ?? { id, type: 'ai', content: '', tool_calls: [], additional_kwargs: {} };
  const more = m.additional_kwargs ?? {};
  const next: Message = {
    ...m,
    content: `${m.content as string}${(d['text'] as string | undefined) ?? ''}`,
    tool_calls: withCalls(m.tool_calls ?? [], d['tool_calls'] as CallPiece[] | undefined),
    additional_kwargs: d['reasoning']
      ? {
          ...more,
          reasoning_content: `${(more['reasoning_content'] as string | undefined) ?? ''}${String(d['reasoning'])}`,
          thought_for: at - (old?.at ?? at),
        }
      : more,
  };
  const row: Row = { message: next, run, at: old?.at ?? at, open: true };
  if (old) t.rows[index] = row;
  else t.rows.push(row);
}

function withCalls(calls: ToolCall[], pieces: CallPiece[] | undefined): ToolCall[] {
  if (!pieces) return calls;
  const out = [...calls];
  for (const p of pieces) {
    const old = out[p.index] ?? { id: '', name: '', args: { '': '' } };
    out[p.index] = {
      id: p.id ?? old.id,
      name: p.name ?? old.name,
      args: { '': `${String(old.args[''])}${p.args ?? ''}` },
    };
  }
  return out.filter(Boolean);
}

function ended(t: Talk, d: Record<string, unknown>, at: number): void {
  const id = String(d['call_id']);
  const millis = Number(d['millis'] ?? 0);
  t.calls[id] = {
    ...(t.calls[id] ?? { began: at - millis }),
    ended: at,
    millis,
    ...(d['is_error'] ? { failed: true } : {}),
  };
}

function writes(t: Talk, run: string, list: unknown, at: number): void {
  for (const w of (list ?? []) as Write[]) {
    if (w.c !== 'messages' || (w.op !== 'append' && w.op !== 'replace')) continue;
    for (const m of w.v as Message[]) put(t.rows, { message: m, run, at }, w.op === 'append');
  }
}

/** Puts a message in its place: that of the row with its id, or the end. */
function put(rows: Row[], row: Row, append: boolean): void {
  const at = rows.findLastIndex((r) => r.message.id === row.message.id);
  const old = rows[at];
  if (old) {
    rows[at] = {
      ...row,
      message: timed(row.message, old.message),
      run: old.run || row.run,
      at: old.at,
      ...(old.versions ? { versions: old.versions } : {}),
    };
  } else if (append) rows.push(row);
}

/** A message with how long it was thought about, which only who was there has seen. */
function timed(m: Message, seen: Message | undefined): Message {
  const lasted = seen?.additional_kwargs?.['thought_for'];
  return lasted ? { ...m, additional_kwargs: { ...m.additional_kwargs, thought_for: lasted } } : m;
}

/** A row of the pages of messages. */
export interface PageRow {
  run_id: string;
  seq: number;
  created_at: string;
  content: unknown;
  versions?: Versions | null;
}

/**
 * The conversation with a page of messages: what the page has, then what this page knows beyond it and is still open.
 */
export function withPage(talk: Talk, page: PageRow[], whole: boolean): Talk {
  const known = new Map(talk.rows.map((r) => [r.message.id, r.message]));
  const rows = page.map(
    (r): Row => ({
      message: timed(r.content as Message, known.get((r.content as Message).id)),
      run: r.run_id,
      at: Date.parse(r.created_at),
      ...(r.versions ? { versions: r.versions } : {}),
    }),
  );
  const there = new Set(rows.map((r) => r.message.id));
  const beyond = talk.rows.filter((r) => !there.has(r.message.id) && (!whole || r.open));
  return {
    ...talk,
    rows: whole ? [...rows, ...beyond] : [...rows, ...talk.rows.filter((r) => !there.has(r.message.id))],
  };
}
