import { afterEach, expect, it, vi } from 'vitest';
import { Conversation } from './conversation';

afterEach(() => vi.unstubAllGlobals());

const row = (id: string) => ({
  run_id: id,
  status: 'interrupted',
  created_at: '2026-11-27T10:00:00Z',
  updated_at: '2026-11-27T10:00:01Z',
});

it('leaves a list of runs that comes late: the one that was asked for behind it knows more', async () => {
  const answers: ((rows: unknown[]) => void)[] = [];
  vi.stubGlobal(
    'fetch',
    () => new Promise((resolve) => answers.push((rows) => resolve(new Response(JSON.stringify(rows))))),
  );
  const conversation = new Conversation('t', true);
  conversation.load = () => Promise.reject(new Error('it is not loaded anew'));
  const runs = Object.fromEntries(['a', 'b'].map((id) => [id, { id, status: 'interrupted', began: 0 }]));
  // @ts-expect-error what the page knows is written from within
  conversation.view = { ...conversation.now(), talk: { ...conversation.now().talk, runs } };
  const [first, second] = [conversation.refresh(), conversation.refresh()];
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]?.([row('b'), row('a')]);
  await second;
  answers[0]?.([row('a')]);
  await first;
  expect(Object.keys(conversation.now().talk.runs)).toEqual(['b', 'a']);
});
