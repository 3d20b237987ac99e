import { describe, expect, it } from 'vitest';
import type { LogEvent } from '../../lib/stream/log';
import type { Message } from './message';
import { cameLate, endedUnheard, openOf, runOf } from './requests';
import { unread } from './steers';
import { change, nothing, taken, type Talk, unwritten, withPage } from './talk';
import { partial, turnsOf } from './turns';

let n = 0;
const event = (kind: string, data: Record<string, unknown>, more: Partial<LogEvent> = {}): LogEvent => ({
  id: `1-${++n}`,
  time: new Date(1_700_000_000_000 + n * 1000).toISOString(),
  kind,
  data,
  ...more,
});
const human = (id: string, content: string): Message => ({ id, type: 'human', content });
const said = (message: Message) => event('state', { writes: [{ c: 'messages', op: 'append', v: [message] }] });
const play = (...events: LogEvent[]): Talk => change(nothing, 'r', events);

const run = [
  event('run', { status: 'running' }),
  said(human('q', 'hello')),
  event('chunk', { message_id: 'a', reasoning: 'Let me see.' }),
  event('chunk', { message_id: 'a', text: 'I lo' }),
  event('chunk', { message_id: 'a', text: 'ok.' }),
  event('chunk', { message_id: 'a', tool_calls: [{ index: 0, id: 'c', name: 'bash', args: '{"command":"l' }] }),
  event('chunk', { message_id: 'a', tool_calls: [{ index: 0, args: 's"}' }] }),
];
const whole: Message = {
  id: 'a',
  type: 'ai',
  content: 'I look.',
  tool_calls: [{ id: 'c', name: 'bash', args: { command: 'ls' } }],
  additional_kwargs: { reasoning_content: 'Let me see.' },
};

describe('a conversation', () => {
  it('has what is said to a run at its place, and knows that the run goes on', () => {
    const talk = play(
      ...run,
      said(whole),
      said(human('s', 'be brief')),
      said({ id: 'b', type: 'ai', content: 'Yes.' }),
    );
    const [first, second] = turnsOf(talk);
    expect([first?.goesOn, first?.answer, second?.ask?.message.id, second?.goesOn, second?.answer?.message.id]).toEqual(
      [true, undefined, 's', undefined, 'b'],
    );
    const waits = [
      { id: '1', message: 's', text: 'be brief' },
      { id: '2', message: 't', text: 'and polite' },
    ];
    expect(unread(waits, talk.rows).map((s) => s.id)).toEqual(['2']);
  });

  it('is at work in its last turn while a run brings an answer, or answers once more, and not while one begins with words of its own', () => {
    const asks: Talk = { ...play(...run, said(whole), event('run', { status: 'interrupted' })), asked: [] };
    const goesOn = { id: 's', status: 'running', began: 9 };
    const before = { ...asks, rows: [...asks.rows, { message: human('p', 'before it'), run: 'r', at: 1 }] };
    expect(turnsOf(asks, goesOn)[0]?.run).toBe(goesOn);
    expect(turnsOf(before, goesOn).map((t) => t.run?.id)).toEqual(['r', 's']);
    for (const other of [undefined, { ...goesOn, says: { id: 'm', text: 'next' } }])
      expect(turnsOf(asks, other)[0]?.run?.id).toBe('r');
    const both = play(...run); // what is at work already stays its turn's, whatever waits behind it
    expect(turnsOf(both, { ...goesOn, status: 'pending' })[0]?.run?.id).toBe('r');
  });

  it('takes of a run that is over its calls alone, and of what runs say nothing into an earlier place', () => {
    const events = [said(whole), event('tool_end', { call_id: 'c', millis: 7 })];
    const here = play(said(human('q', 'hello')));
    const detail = taken(here, { run: 'r', events, detail: true }, false);
    expect([detail.rows, detail.runs, detail.calls['c']?.millis]).toEqual([here.rows, here.runs, 7]);
    const past = taken(
      here,
      { run: 'r', events: [event('run', { status: 'running' }), ...events], detail: false },
      true,
    );
    expect([past.rows, past.runs['r']?.status]).toEqual([here.rows, 'running']);
    expect(taken(here, { run: 'r', events, detail: false }, false).rows.map((r) => r.message.id)).toEqual(['q', 'a']);
  });

  it('shows what a model writes while it writes, in the place where it stays', () => {
    const [turn] = turnsOf(play(...run));
    expect(turn?.steps.map((s) => s.kind)).toEqual(['thought', 'say', 'call']);
    expect(turn?.steps[2]).toMatchObject({ call: { name: 'bash', args: { command: 'ls' } }, open: true });
    const after = change(play(...run), 'r', [said(whole)]);
    expect(after.rows.map((r) => r.message.id)).toEqual(['q', 'a']);
    expect(after.rows[1]?.open).toBeUndefined();
  });

  it('takes the last words as the answer, unless something comes behind them', () => {
    const turn = turnsOf(play(...run.slice(0, 5)))[0];
    expect(turn?.answer?.message.content).toBe('I look.');
    expect(turnsOf(play(...run))[0]?.answer).toBeUndefined();
  });

  it('is the same when events come twice, or a page brings what is there', () => {
    const once = play(...run, said(whole));
    const twice = change(once, 'r', [...run, said(whole)]);
    expect(twice.rows.map((r) => r.message)).toEqual(once.rows.map((r) => r.message));
    const again = play(...run);
    expect(change({ ...again, rows: unwritten(again.rows, 'r') }, 'r', run).rows).toEqual(again.rows);
    const page = [human('q', 'hello'), whole].map((content, i) => ({
      run_id: 'r',
      seq: i + 1,
      created_at: '2026-11-25T10:00:00Z',
      content,
    }));
    expect(withPage(once, page, true).rows.map((r) => r.message.id)).toEqual(['q', 'a']);
  });

  it('knows how a call began, what it says and how it ended', () => {
    const talk = play(
      ...run,
      event('tool_start', { call_id: 'c', tool: 'bash' }),
      event('progress', { call_id: 'c', text: 'one' }),
      event('progress', { call_id: 'c', text: 'two\n' }),
    );
    expect(talk.calls['c']).toMatchObject({ output: 'one\ntwo\n' });
    const done = change(talk, 'r', [event('tool_end', { call_id: 'c', is_error: true, millis: 176 })]);
    expect(done.calls['c']).toMatchObject({ failed: true, millis: 176, output: 'one\ntwo\n' });
  });

  it('withdraws what a broken attempt was writing, and keeps what a stopped run had', () => {
    const resumed = change(play(...run), 'r', [event('chunk', { message_id: 'b', text: 'I be' }, { id: '2-1' })]);
    expect(resumed.rows.map((r) => r.message.id)).toEqual(['q', 'b']);
    const discarded = change(play(...run), 'r', [event('discard', { message_id: 'a' })]);
    expect(discarded.rows.map((r) => r.message.id)).toEqual(['q']);
    const stopped = change(play(...run), 'r', [event('run', { status: 'interrupted' })]);
    expect(stopped.rows.map((r) => [r.message.id, r.open])).toEqual([
      ['q', undefined],
      ['a', undefined],
    ]);
  });

  it('shows nothing that is for the model alone, and only the words of the user', () => {
    const talk = play(
      said({ id: 'do-not-render-1', type: 'human', content: 'hidden' }),
      said({ ...human('2', 'hidden'), additional_kwargs: { hide_from_ui: true } }),
      said({ ...human('3', '<uploads/> mine'), additional_kwargs: { original_user_content: 'mine' } }),
    );
    expect(turnsOf(talk).map((t) => t.key)).toEqual(['3']);
  });

  it('leaves the words of runs below to their own cards', () => {
    expect(play(event('chunk', { message_id: 'x', text: 'hi' }, { ns: ['call_1'] })).rows).toEqual([]);
  });
});

describe('arguments that are not whole', () => {
  it('are read as far as they go', () => {
    expect(partial('{"path":"a/b.md","content":"one\\ntw')).toEqual({ path: 'a/b.md', content: 'one\ntw' });
    expect(partial('{"path":"a\\')).toEqual({ path: 'a' });
    expect(partial('')).toEqual({});
  });
});

describe('questions', () => {
  const waits = (run: string, ...ids: string[]): Talk['asked'] => ids.map((id) => ({ id, run, value: null }));
  const row = (resume: unknown): Parameters<typeof runOf>[0] => ({
    run_id: 'r',
    status: 'running',
    created_at: '',
    updated_at: '',
    total_tokens: 0,
    stop_reason: null,
    error: null,
    kwargs: { command: { resume } },
  });

  it('that a run brings no answer to stay open while it works, and not beyond what it has asked again', () => {
    const run = { id: 'r', status: 'pending', began: 0, answers: ['a'] };
    const before: Talk = { ...nothing, runs: { r: run }, asked: waits('q', 'a', 'b') };
    const works = change(before, 'r', [event('run', { status: 'running' })]);
    expect(works.asked.map((a) => a.id)).toEqual(['b']);
    expect(change(works, 'r', [event('run', { status: 'success' })]).asked).toEqual([]);
    const again = [event('interrupt', { interrupt_id: 'b' }), event('run', { status: 'interrupted' })];
    expect(change(works, 'r', again).asked.map((a) => a.id)).toEqual(['b']);
  });

  it('that a thread tells of stand at their own calls when the log of the run has said which these are', () => {
    const two: Message = {
      id: 'a',
      type: 'ai',
      content: '',
      tool_calls: ['c', 'd'].map((id) => ({ id, name: 'task', args: {} })),
    };
    const events = [
      event('interrupt', { interrupt_id: 'of c', call_id: 'c' }),
      event('interrupt', { interrupt_id: 'of d', call_id: 'd' }),
    ];
    const asked = (talk: Talk): unknown => turnsOf(talk)[0]?.steps.map((s) => s.kind === 'call' && !!s.asked);
    const before: Talk = { ...play(said(human('q', 'go')), said(two)), asked: waits('', 'of d') };
    expect(asked(before)).toEqual([true, true]);
    const after = taken(before, { run: 'r', events, detail: true }, false);
    expect([asked(after), after.asked]).toEqual([[false, true], before.asked]);
  });

  it('whose answer waits in the queue are not asked once more', () => {
    const run = { id: 'r', status: 'pending', began: 0, answers: ['a'] };
    const asked = waits('q', 'a', 'b');
    expect(openOf({ asked, runs: { r: run } }).map((a) => a.id)).toEqual(['b']);
    expect(openOf({ asked, runs: { r: { ...run, status: 'success' } } })).toEqual(asked);
  });

  it('are known of the request of a run, where it answers by ids', () => {
    expect(runOf(row({ a: { decisions: [] } })).answers).toEqual(['a']);
    for (const resume of ['yes', { decisions: [] }, [1], undefined]) expect(runOf(row(resume)).answers).toBeUndefined();
  });

  it('are brought an answer by a run that has no words, and words may come in parts', () => {
    const says = (messages: object[] | null) =>
      runOf({ ...row('yes'), kwargs: { input: { messages: messages as never } } }).says;
    const parts = [{ type: 'text', text: 'look ' }, { type: 'image_url' }, { type: 'text', text: 'here' }];
    expect([says(null), says([{ id: 'm', content: 'go' }]), says([{ content: parts }])]).toEqual([
      undefined,
      { id: 'm', text: 'go' },
      { id: '', text: 'look here' },
    ]);
  });

  it('may have been answered by a run that ended before the page had heard of it', () => {
    const [works, over] = [
      { id: 'r', status: 'running', began: 0 },
      { id: 'r', status: 'success', began: 0, ended: 1 },
    ];
    expect([endedUnheard({ r: over }, {}), endedUnheard({ r: over }, { r: works })]).toEqual([true, true]);
    expect([endedUnheard({ r: over }, { r: over }), endedUnheard({ r: works }, {})]).toEqual([false, false]);
  });

  it('were answered before where the run warns that its answer had no effect', () => {
    const warned = (...pudu_warnings: string[]) => cameLate({ ...row({}), metadata: { pudu_warnings } });
    expect([warned('command.resume: nothing was resumed'), warned('context: modelName'), cameLate(row({}))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
