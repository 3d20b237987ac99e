import { describe, expect, it } from 'vitest';
import type { LogEvent } from '../../lib/stream/log';
import { change, nothing, type Talk } from '../talk/talk';
import type { CallStep } from '../trail/outcome';
import { stepOf, taskOf } from './told';

let n = 0;
const event = (kind: string, data: Record<string, unknown>): LogEvent => ({
  id: `1-${++n}`,
  time: new Date(1_700_000_000_000 + n * 1000).toISOString(),
  kind,
  data,
});
const custom = (value: unknown): LogEvent => event('custom', { value });
const started = custom({
  type: 'task_started',
  task_id: 'c',
  description: 'Count',
  subagent_type: 'bash',
  run_id: 'r1',
  thread_id: 't1',
});
const asks = {
  id: 'm1',
  type: 'ai',
  content: 'I count.',
  tool_calls: [{ id: 'x', name: 'bash', args: { command: 'wc' } }],
};
const running = (message: object, total = 0): LogEvent =>
  custom({ type: 'task_running', task_id: 'c', message, usage: { total_tokens: total } });
const step = (talk: Talk, more: Partial<CallStep> = {}): CallStep => ({
  kind: 'call',
  key: 'c',
  call: { id: 'c', name: 'task', args: { description: 'Count', prompt: 'Count them.', subagent_type: 'bash' } },
  at: 0,
  open: false,
  ...(talk.calls['c'] ? { live: talk.calls['c'] } : {}),
  ...more,
});
const play = (...events: LogEvent[]): Talk => change(nothing, 'r', [event('tool_start', { call_id: 'c' }), ...events]);

describe('a task', () => {
  it('is at the step that has no result yet, and counts its tokens once', () => {
    const task = taskOf(step(play(started, running(asks, 10))), true);
    expect(task).toMatchObject({
      state: 'live',
      kind: 'bash',
      run: 'r1',
      thread: 't1',
      prompt: 'Count them.',
      tokens: 10,
    });
    expect(stepOf(task.turn)?.call.args).toEqual({ command: 'wc' });
    const result = { id: 'm2', type: 'tool', content: '3', tool_call_id: 'x' };
    expect(stepOf(taskOf(step(play(started, running(asks, 10), running(result, 10))), true).turn)).toBeUndefined();
  });

  it('has each message once when a crash has it told again', () => {
    const { turn } = taskOf(step(play(started, running(asks), started, running(asks))), true);
    expect(turn?.steps.filter((s) => s.kind === 'call')).toHaveLength(1);
  });

  it('is over however many steps it told of', () => {
    const many = Array.from({ length: 2100 }, (_, i) => running({ ...asks, id: `m${i}` }));
    const task = taskOf(step(play(started, ...many, custom({ type: 'task_completed', task_id: 'c' }))), true);
    expect(task).toMatchObject({ state: 'done' });
    expect(task.turn?.steps.filter((s) => s.kind === 'call')).toHaveLength(1999); // beside the beginning
  });

  it.each([
    ['task_completed', 'done', false],
    ['task_failed', 'bad', false],
    ['task_timed_out', 'bad', true],
    ['task_cancelled', 'stopped', false],
  ])('that ends by %s is %s', (type, state, late) => {
    const task = taskOf(
      step(play(started, custom({ type, task_id: 'c', error: 'why', usage: { total_tokens: 7 } }))),
      true,
    );
    expect(task).toMatchObject({ state, late, error: 'why', tokens: 7 });
  });

  it('in the background works on when its call has a result, until it is told that it has ended', () => {
    const result = { id: 'r', type: 'tool', content: 'The task works in the background.' };
    const ended = custom({ type: 'task_completed', task_id: 'c', result: 'Done.' });
    expect(taskOf(step(play(started, running(asks)), { result }), true)).toMatchObject({ state: 'live', ended: 0 });
    expect(taskOf(step(play(started, running(asks), ended), { result }), true).state).toBe('done');
  });

  it('is known by its result alone, and waits where a person is asked', () => {
    const result = {
      id: 'r',
      type: 'tool',
      content: 'Task failed',
      additional_kwargs: {
        subagent_status: 'failed',
        subagent_error: 'no key',
        subagent_token_usage: { total_tokens: 5 },
      },
    };
    expect(taskOf(step(nothing, { result }), false)).toMatchObject({ state: 'bad', error: 'no key', tokens: 5 });
    expect(taskOf(step(nothing, { asked: true }), false).state).toBe('ask');
  });

  it('takes no event that is not of a task', () => {
    expect(
      play(custom(null), custom('x'), custom({ type: 'task_running' }), custom({ task_id: 'c' })).calls['c']?.told,
    ).toBeUndefined();
  });
});
