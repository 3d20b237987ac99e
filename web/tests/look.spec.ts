// How pages look: nothing that axe finds, in light and dark, wide and narrow, and nothing that scrolls sideways. With
// PUDU_PICTURES it takes the pictures of the documentation.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { foundInBoth } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { furnish } from './library';
import { picture } from './picture';

const tasks: [string, string, string | RegExp][] = [
  ['markdown', 'show everything', '41.0'],
  ['diagrams', 'code and formulas', 'That is all of it.'],
  ['failed-command', 'fail the command', 'It failed, as it had to.'],
  ['approval', 'it needs approval', 'May Pudu run this command?'],
  ['question', 'ask what is missing', 'Signed by'],
  ['approach', 'ask how', 'Two ways to do this'],
  ['risk', 'ask about the risk', /This cannot be undone/],
  ['failed', 'break down while you compare the offers of all suppliers of paper', /It could not finish/],
];

/** A folder with a file and a task, a task in the bin, an agent, an approval. */
async function prepare(server: Server, at: Map<string, string>): Promise<void> {
  const { folder_id } = await server.post<{ folder_id: string }>('/folders', {
    name: 'Finance',
    instructions: 'Our figures are in euros without VAT.',
  });
  const form = new FormData();
  form.append('files', new Blob(['a,b\n1,2\n']), 'rates.csv');
  await fetch(`${server.url}/folders/${folder_id}/files`, { method: 'POST', body: form });
  await fetch(`${server.url}/folders/${folder_id}/threads/${at.get('markdown')?.slice(3)}`, { method: 'PUT' });
  at.set('folder', `/f/${folder_id}`);
  const { thread_id } = await server.post<{ thread_id: string }>('/threads', {});
  await server.post(`/threads/${thread_id}/marks`, { title: 'Sort the photo archive' }, 'PATCH');
  await server.post(`/threads/${thread_id}/trash`, {});
  at.set('bin', '/c?state=bin');
  await server.post('/approvals', { tool: 'bash', pattern: 'git status*' });
  await furnish(server, folder_id);
}

const server = new Server();
let v: Visitor;
const at = new Map<string, string>([
  ['start', '/'],
  ['settings', '/settings/general'],
  ['tasks', '/c'],
  ['found', '/c?q=everything'],
  ['palette', '/c?find='],
  ['welcome', '/welcome'],
  ['models', '/settings/models?model=other'],
  ['model', '/settings/models?add'],
  ['approvals', '/settings/approvals'],
  ['agents', '/library/agents'],
  ['new-agent', '/library/agents?new'],
  ['agent', '/library/agents/bookkeeper'],
  ['memory', '/library/memory'],
  ['fact', '/library/memory?fact=machine'],
  ['new-fact', '/library/memory?add'],
  ['memory-history', '/library/memory?show=history'],
  ['toolbox', '/settings/toolbox'],
  ['skills', '/library/skills'],
  ['skill', '/library/skills/report'],
  ['missing', '/c/11111111-2222-4333-8444-555555555555'],
]);

beforeAll(async () => {
  await server.start();
  v = await visit(server, { colorScheme: 'light', bypassCSP: true });
  for (const [name, task] of tasks) at.set(name, `/c/${await server.task(task)}`);
  await prepare(server, at);
});
afterAll(async () => {
  await v.close();
  await closeBrowser();
  await server.close();
});

const still = [
  'start',
  'tasks',
  'found',
  'palette',
  'folder',
  'bin',
  'settings',
  'welcome',
  'models',
  'model',
  'approvals',
  'agents',
  'new-agent',
  'agent',
  'memory',
  'fact',
  'new-fact',
  'memory-history',
  'toolbox',
  'skills',
  'skill',
  'missing',
];
it.each([...still, ...tasks.map(([name]) => name)])('%s has nothing that axe finds, and fits', async (name) => {
  const { page } = v;
  for (const width of [1440, 390, 320]) {
    await page.setViewportSize({ width, height: 844 });
    if (width !== 320) {
      // that is the page of 390, made narrower
      await v.to(`${at.get(name) ?? ''}${name === 'markdown' && width === 1440 ? '?panel=run' : ''}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
      const until = tasks.find(([n]) => n === name)?.[2];
      if (until) await v.sees(until);
    }
    await page.waitForTimeout(100);
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      `${width} px scrolls sideways`,
    ).toBeLessThanOrEqual(0);
    const cut = (): string[] =>
      [...document.querySelectorAll('.top, .top .btn, .me, .composer')]
        .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
        .map((e) => e.className);
    expect(await page.evaluate(cut), `${width} px cuts off`).toEqual([]);
    if (width === 320) continue;
    const taken = async (colorScheme: string) => picture(page, `${name}-${colorScheme}-${width}`);
    expect(await foundInBoth(page, taken)).toEqual([]);
  }
});
