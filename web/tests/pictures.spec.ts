// How the main pages look, beside the pictures in tests/pictures that were accepted: in light and dark, wide and
// narrow, English and Chinese.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stand, wrongWith } from './compared';
import { closeBrowser, open, Server, type Visitor, visit } from './kit';

const server = new Server();
const at: Record<string, string> = { start: '/', models: '/settings/models', memory: '/library/memory?fact=machine' };

/** A task that has run; the id of its thread. */
const done = (content: string): Promise<string> => server.task(content, { mode: 'pro', is_plan_mode: true });

beforeAll(async () => {
  await open(true);
  await server.start();
  const sized = await done('Please size the index for 40 million passages');
  const [run] = await server.get<{ run_id: string }[]>(`/threads/${sized}/runs`);
  at['inspector'] = `/c/${sized}/run/${run?.run_id}`;
  at['task'] = `/c/${await done('Please show everything')}`;
  at['files'] = `/c/${await done('Please make a report')}?panel=files&file=outputs/report.md`;
  at['question'] = `/c/${await done('Please ask how to do it')}`;
  at['approval'] = `/c/${await done('It needs approval')}`;
  const facts = [
    {
      id: 'owner',
      category: 'identity',
      content: 'Vera answers for the finance systems of a company of 60 people in Lund.',
    },
    { id: 'reports', category: 'preference', content: 'Reports: two pages at most, the recommendation first.' },
    { id: 'machine', category: 'context', content: 'The search machine has 16 cores and 64 GB of memory.' },
  ];
  await server.post('/memory/import', { facts });
});
afterAll(async () => {
  await closeBrowser();
  await server.close();
});

/** What stands on a page once it is all there, in both languages. */
const until: Record<string, RegExp> = {
  task: /41\.0/,
  inspector: /cat workspace\/slides\.pdf/,
  files: /report\.md/,
  question: /HNSW|DiskANN|Two ways to do this|两种做法/,
  approval: /touch \/mnt/,
  memory: /16 cores/,
  models: /scripted/,
};

describe.each([
  ['light', 'wide', 'en'],
  ['dark', 'wide', 'zh'],
  ['light', 'narrow', 'zh'],
  ['dark', 'narrow', 'en'],
] as const)('in %s, %s, %s', (colorScheme, width, language) => {
  let v: Visitor;
  beforeAll(async () => {
    const viewport = width === 'wide' ? { width: 1280, height: 800 } : { width: 390, height: 844 };
    v = await visit(server, { colorScheme, viewport, timezoneId: 'UTC', reducedMotion: 'reduce' });
    await stand(v.context);
    await v.context.addInitScript(
      (l) => localStorage.setItem('pudu.settings', JSON.stringify({ language: l })),
      language,
    );
  });
  afterAll(() => v.close());

  it.each(['start', 'task', 'approval', 'question', 'files', 'inspector', 'memory', 'models'])(
    '%s looks as it was accepted',
    async (name) => {
      await v.to(at[name] ?? '');
      const seen = until[name];
      if (seen) await v.page.getByText(seen).first().waitFor();
      else await v.page.locator('textarea').waitFor();
      // A call of a tool: what a call of the model was sent has other sizes with every change of the prompt.
      if (name === 'inspector' && width === 'wide')
        await v.page
          .getByText(/cat workspace\/slides\.pdf/)
          .first()
          .click();
      expect(await wrongWith(v.page, `${name}-${width}-${colorScheme}-${language}`)).toBe('');
    },
  );
});
