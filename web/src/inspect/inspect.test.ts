import { describe, expect, it } from 'vitest';
import { money, moneys } from '../lib/money';
import { compared } from './compare';
import type { Told } from './data';
import { linesOf, mark, scaleOf, sharesOf } from './steps';

const began = '2026-01-01T00:00:00.000Z';
const at = (ms: number): string => new Date(Date.parse(began) + ms).toISOString();

const attempt = (from: number, ms: number, more: object = {}) => ({
  model: 'm',
  began: at(from),
  first_ms: 0,
  took_ms: ms,
  wait_ms: 0,
  ...more,
});
const call = (id: string, n: number, message: string, tries: object[]) => ({
  id,
  kind: 'call',
  at: at(0),
  n,
  call: {
    model: 'm',
    provider: 'p',
    began: at(0),
    ended: at(900),
    first_ms: 1,
    took_ms: 100,
    tries,
    usage: null,
    cost: null,
    message_id: message,
    tool_calls: ['bash'],
  },
});
const tool = (from: number, exit = 0) => ({
  id: '1-5',
  kind: 'tool',
  at: at(from),
  tool: { name: 'bash', call_id: 'c1', message_id: 'a1', took_ms: 40, failed: false, exit_code: exit },
});

function told(steps: object[], command = 'ls', output = 'a\nb'): Told {
  const timeline = {
    thread_id: 't',
    run_id: 'r',
    status: 'success',
    began,
    ended: at(2000),
    attempts: 1,
    calls: 1,
    tools: 1,
    cost: [],
    steps,
    next: '',
  };
  const messages = [
    { id: 'h1', type: 'human', content: 'do it' },
    { id: 'x', type: 'human', content: 'for the model alone', additional_kwargs: { hide_from_ui: true } },
    { id: 'a1', type: 'ai', content: 'I look.', tool_calls: [{ id: 'c1', name: 'bash', args: { command } }] },
    { id: 't1', type: 'tool', content: output, tool_call_id: 'c1', name: 'bash' },
  ];
  return { timeline, steps, messages } as unknown as Told;
}

describe('the lines of a run', () => {
  const tries = [attempt(100, 50, { class: 'busy', error: 'no', wait_ms: 300 }), attempt(450, 450)];
  const steps = [
    { id: '1-1', kind: 'attempt', at: at(0), attempt: 1 },
    { id: '1-2', kind: 'notice', at: at(150), notice: { type: 'llm_retry', message: 'again' } },
    { id: '1-3', kind: 'notice', at: at(950), notice: { type: 'other', message: 'told' } },
    call('1-4', 1, 'a1', tries),
    tool(1000, 2),
    { id: '1-6', kind: 'end', at: at(2000), end: { status: 'success' } },
  ];
  const it1 = told(steps);
  const lines = linesOf(it1);

  it('have the words of the user, the answer, the arguments and the result', () => {
    expect(lines.map((l) => l.step.kind)).toEqual(['attempt', 'notice', 'call', 'tool', 'end']);
    expect(lines[0]?.said).toBe('do it');
    expect(lines[2]?.answer?.id).toBe('a1');
    expect(lines[3]?.call?.args).toEqual({ command: 'ls' });
    expect(lines[3]?.result?.id).toBe('t1');
  });

  it('have a bar for each try and each wait', () => {
    expect(lines[2]?.bars).toEqual([
      { from: 100, took: 50, look: 'bad' },
      { from: 150, took: 300, look: 'waiting' },
      { from: 450, took: 450, look: 'model' },
    ]);
    expect(lines[2]?.took).toBe(800);
    expect([lines[3]?.bad, lines[3]?.bars[0]?.look]).toEqual([true, 'bad']);
  });

  it('share a scale with at most eight marks', () => {
    const scale = scaleOf(it1, lines, 0);
    expect([scale.total, scale.tick, scale.ticks.length]).toEqual([2000, 500, 5]);
    expect([mark(500, 500), mark(30_000, 30_000), mark(3_600_000, 60_000)]).toEqual(['0.5 s', '0:30', '1:00:00']);
    for (const took of [1, 90_000, 400_000, 9e6, 2e8]) {
      const of = told([]);
      of.timeline.ended = at(took);
      expect(scaleOf(of, [], 0).ticks.length).toBeLessThanOrEqual(8);
    }
  });

  it('are compared by what they did, not by when', () => {
    const other = told([{ ...steps[0], at: at(7) }, steps[3]!, steps[4]!, steps[5]!]);
    expect(compared(lines, linesOf(other)).first).toBe(-1);
    const args = compared(lines, linesOf(told(steps, 'ls -l')));
    expect([args.first, args.rows[args.first]?.right?.text]).toEqual([1, 'I look.\nbash {\n  "command": "ls -l"\n}']);
    expect(compared(lines, linesOf(told(steps, 'ls', 'c'))).first).toBe(2);
    const short = compared(lines, linesOf(told(steps.slice(0, 4))));
    expect([short.first, short.rows[2]?.right]).toEqual([2, undefined]);
  });
});

describe('the bill', () => {
  const parts = [
    { part: 'system', count: 1, tokens: 100 },
    { part: 'tools', count: 9, tokens: 300 },
    { part: 'history', count: 3, tokens: 50 },
    { part: 'results', count: 2, tokens: 50 },
  ];
  const sum = (list: { tokens: number; cached: number }[], what: 'tokens' | 'cached'): number =>
    list.reduce((n, s) => n + s[what], 0);

  it('has the sums that the provider told', () => {
    for (const [input, cached] of [
      [1001, 777],
      [1001, 0],
      [1001, 1001],
      [7, 3],
      [500, 9999],
    ] as const) {
      const shares = sharesOf(parts, { input_tokens: input, cached_tokens: cached });
      expect([sum(shares, 'tokens'), sum(shares, 'cached')]).toEqual([input, Math.min(cached, input)]);
      for (const s of shares) expect(s.cached).toBeLessThanOrEqual(s.tokens);
    }
  });

  it('has guesses where the provider told none, and fills the beginning from the cache first', () => {
    expect(sharesOf(parts, null).map((s) => s.tokens)).toEqual([100, 300, 50, 50]);
    expect(sharesOf(parts, { input_tokens: 500, cached_tokens: 420 }).map((s) => s.cached)).toEqual([100, 300, 10, 10]);
    expect(sharesOf([], { input_tokens: 5, cached_tokens: 5 })).toEqual([]);
  });
});

it('money is told to the cent, and below it to two digits', () => {
  expect([0, 0.384, 12, 0.00123].map((amount) => money({ amount, currency: 'USD' }))).toEqual([
    '$0.00',
    '$0.38',
    '$12.00',
    '$0.0012',
  ]);
  expect(
    moneys([
      { amount: 1, currency: 'EUR' },
      { amount: 2, currency: 'USD' },
    ]),
  ).toBe('€1.00 + $2.00');
  expect(moneys(undefined)).toBe('');
  expect(money({ amount: 1, currency: 'no money' })).toBe('1.0000 no money');
});
