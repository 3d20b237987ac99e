// The steps of a run as the lines of a timeline: what stands in each, its bars, and the scale of time that all have in
// common.
import { isHidden, type Message, textOf, type ToolCall } from '../chat/talk/message';
import { wordsNow } from '../lib/i18n';
import type { IconName } from '../ui/Icon';
import type { Step, Told } from './data';
import { inspect } from './words';

/** A bar: from and took are milliseconds since the run began. */
export interface Bar {
  from: number;
  took: number;
  look: 'model' | 'waiting' | 'tool' | 'bad' | 'point' | 'ask';
}

export interface Line {
  id: string;
  step: Step;
  bad: boolean;
  bars: Bar[];
  /** Milliseconds that it took; of a moment since the run began. */
  took: number;
  moment: boolean;
  /** Of a call of the model: what it answered. Of a tool: what it was called with, and its result. */
  answer?: Message;
  call?: ToolCall;
  result?: Message;
  /** Of the first step: what the user said. */
  said?: string;
}

/** Notices that the tries of a call tell better. */
const ofTries = ['llm_retry', 'llm_fallback', 'llm_queued'];

/** The lines of a run. */
export function linesOf({ timeline, steps, messages }: Told): Line[] {
  const began = Date.parse(timeline.began);
  const answers = new Map(messages.filter((m) => m.type === 'ai').map((m) => [m.id, m]));
  const results = new Map(messages.filter((m) => m.type === 'tool').map((m) => [m.tool_call_id ?? '', m]));
  const calls = new Map(messages.flatMap((m) => m.tool_calls ?? []).map((c) => [c.id, c]));
  const said = messages
    .filter((m) => m.type === 'human' && !isHidden(m))
    .map(textOf)
    .join('\n');
  const called = steps
    .filter((s) => s.kind === 'call')
    .map((s) => [Date.parse(s.at), Date.parse(s.call?.ended ?? s.at)] as const);
  const lines: Line[] = [];
  for (const step of steps) {
    const from = Date.parse(step.at) - began;
    if (
      step.kind === 'notice' &&
      ofTries.includes(step.notice?.type ?? '') &&
      called.some(([a, b]) => a <= from + began + 1 && from + began <= b + 1)
    )
      continue;
    const line: Line = {
      id: step.id,
      step,
      bad: false,
      took: from,
      moment: true,
      bars: [{ from, took: 0, look: 'point' }],
    };
    if (step.kind === 'call' && step.call) ofCall(line, step.call, began, answers.get(step.call.message_id ?? ''));
    if (step.kind === 'tool' && step.tool) {
      const { tool } = step;
      const result = results.get(tool.call_id);
      const call = calls.get(tool.call_id);
      line.bad = tool.failed || !!tool.exit_code;
      line.moment = false;
      line.took = tool.took_ms;
      line.bars = [{ from, took: tool.took_ms, look: line.bad ? 'bad' : 'tool' }];
      if (result) line.result = result;
      if (call) line.call = call;
    }
    if (step.kind === 'question') line.bars = [{ from, took: 0, look: 'ask' }];
    if (step.kind === 'end') line.bad = step.end?.status === 'error';
    if (step.kind === 'attempt' && step.attempt === 1 && said) line.said = said;
    lines.push(line);
  }
  return inOrder(lines);
}

/**
 * The steps with the calls of an answer in the order of the answer: which of several side by side begins first is
 * chance.
 */
function inOrder(lines: Line[]): Line[] {
  const places = new Map(lines.flatMap((l) => (l.answer?.tool_calls ?? []).map((c, i) => [c.id, i] as const)));
  const out: Line[] = [];
  for (const line of lines) {
    const place = (l: Line | undefined): number => places.get(l?.step.tool?.call_id ?? '') ?? 0;
    let at = out.length;
    while (
      line.step.tool &&
      out[at - 1]?.step.tool?.message_id === line.step.tool.message_id &&
      place(out[at - 1]) > place(line)
    )
      at--;
    out.splice(at, 0, line);
  }
  return out;
}

type Made = NonNullable<Step['call']>;

/** A bar for each try of a call, and for the waits between them. */
function ofCall(line: Line, call: Made, began: number, answer: Message | undefined): void {
  const tries = call.tries ?? [];
  line.bars = tries.flatMap((t): Bar[] => {
    const from = Date.parse(t.began) - began;
    const bar: Bar = { from, took: t.took_ms, look: t.error || t.class ? 'bad' : 'model' };
    return t.wait_ms > 0 ? [bar, { from: from + t.took_ms, took: t.wait_ms, look: 'waiting' }] : [bar];
  });
  if (tries.length === 0) line.bars = [{ from: line.took, took: call.took_ms, look: call.error ? 'bad' : 'model' }];
  line.moment = false;
  line.took = Math.max(Date.parse(call.ended) - Date.parse(tries[0]?.began ?? call.began), call.took_ms);
  line.bad = !!call.error;
  if (answer) line.answer = answer;
}

/** The icon of a step that is no tool's. */
export function iconOf(line: Line): IconName {
  switch (line.step.kind) {
    case 'call':
      if (line.bad) return 'x';
      if ((line.step.call?.tries?.length ?? 0) > 1) return 'retry';
      return line.step.call?.tool_calls?.length ? 'spark' : 'chat';
    case 'compaction':
      return 'wrap';
    case 'question':
      return 'ask';
    case 'run':
      return 'fork';
    case 'attempt':
      return line.said ? 'steer' : 'play';
    case 'end':
      return line.bad ? 'x' : 'check';
    default:
      return 'info';
  }
}

/** How many milliseconds the timeline shows, and where its marks stand. */
export function scaleOf(told: Told, lines: Line[], now: number): { total: number; tick: number; ticks: number[] } {
  const began = Date.parse(told.timeline.began);
  const ended = told.timeline.ended ? Date.parse(told.timeline.ended) : now;
  const last = Math.max(...lines.flatMap((l) => l.bars.map((b) => b.from + b.took)), 0);
  const total = Math.max(ended - began, last, 100);
  const tick = spans.find((s) => total / s <= 7) ?? spans.at(-1)!;
  return { total, tick, ticks: Array.from({ length: Math.floor(total / tick) + 1 }, (_, i) => i * tick) };
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const spans = [
  20,
  50,
  100,
  200,
  500,
  second,
  2 * second,
  5 * second,
  10 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  30 * minute,
  hour,
  3 * hour,
  12 * hour,
  48 * hour,
];

/** A mark of the scale: 0:30, 2:00, 1:00:00; below a second 0.2 s. */
export function mark(ms: number, tick: number): string {
  if (tick < second) return wordsNow(inspect).seconds((ms / second).toFixed(2).replace(/0$/, ''));
  const s = Math.round(ms / second);
  const two = (n: number): string => String(n).padStart(2, '0');
  return s < 3600
    ? `${Math.floor(s / 60)}:${two(s % 60)}`
    : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

/** A part of what a call was sent: its tokens, and how many of them the provider's cache served. */
export interface Share {
  part: string;
  count: number;
  tokens: number;
  cached: number;
}

interface Part {
  part: string;
  count: number;
  tokens: number;
}

/**
 * Shares out what the provider told of all to the parts, whose tokens are guesses: so their sum is its sum. What was
 * cached is the beginning: tools and system prompt, then the messages.
 */
export function sharesOf(
  parts: readonly Part[],
  usage: { input_tokens: number; cached_tokens: number } | null | undefined,
): Share[] {
  const guessed = parts.reduce((sum, p) => sum + p.tokens, 0);
  const total = usage?.input_tokens || guessed;
  const shares = parts.map((p) => ({
    part: p.part,
    count: p.count,
    tokens: guessed ? Math.round((p.tokens / guessed) * total) : 0,
    cached: 0,
  }));
  const off = total - shares.reduce((sum, s) => sum + s.tokens, 0);
  const largest = shares.reduce((a, b) => (b.tokens > a.tokens ? b : a), shares[0] ?? { tokens: 0 });
  largest.tokens += guessed ? off : 0;
  let left = Math.min(usage?.cached_tokens ?? 0, total);
  for (const name of ['tools', 'system']) {
    const s = shares.find((x) => x.part === name);
    if (!s) continue;
    s.cached = Math.min(left, s.tokens);
    left -= s.cached;
  }
  const rest = shares.filter((s) => s.part !== 'tools' && s.part !== 'system');
  const sum = rest.reduce((all, s) => all + s.tokens, 0);
  const share = sum ? Math.min(left / sum, 1) : 0;
  for (const s of rest) s.cached = Math.floor(s.tokens * share);
  left -= rest.reduce((all, s) => all + s.cached, 0);
  for (const s of rest) {
    const more = Math.min(left, s.tokens - s.cached);
    s.cached += more;
    left -= more;
  }
  return shares;
}
