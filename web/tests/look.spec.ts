// How pages look: nothing that axe finds, in light and dark, wide and narrow, and nothing that scrolls sideways. With PUDU_PICTURES it takes the
// pictures of the documentation.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { foundInBoth } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';

const pictures = process.env['PUDU_PICTURES'] ?? '';

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
  const post = async (path: string, body: object, method = 'POST'): Promise<{ folder_id: string; thread_id: string }> =>
    (await fetch(server.url + path, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json();
  const { folder_id } = await post('/folders', { name: 'Finance', instructions: 'Our figures are in euros without VAT.' });
  const form = new FormData();
  form.append('files', new Blob(['a,b\n1,2\n']), 'rates.csv');
  await fetch(`${server.url}/folders/${folder_id}/files`, { method: 'POST', body: form });
  await fetch(`${server.url}/folders/${folder_id}/threads/${at.get('markdown')?.slice(3)}`, { method: 'PUT' });
  at.set('folder', `/f/${folder_id}`);
  const { thread_id } = await post('/threads', {});
  await post(`/threads/${thread_id}/marks`, { title: 'Sort the photo archive' }, 'PATCH');
  await post(`/threads/${thread_id}/trash`, {});
  at.set('bin', '/c?state=bin');
  await post('/agents', { name: 'bookkeeper', description: 'Answers for invoices and reminders. Always shows its sums.', soul: 'You never write to the bank.', tool_groups: ['file:read'] });
  await post('/approvals', { tool: 'bash', pattern: 'git status*' });
  const facts = [
    { id: 'owner', category: 'identity', content: 'Vera answers for the finance systems of a company of 60 people in Lund.' },
    { id: 'reports', category: 'preference', content: 'Reports: two pages at most, the recommendation first, figures with their source.' },
    { id: 'machine', category: 'context', content: 'The search machine has 16 cores, 64 GB of memory and no GPU.' },
    { id: 'late', category: 'constraint', content: 'Invoices are late after 30 days; disputed ones are never reminded.', scope: { projectId: folder_id } },
    { id: 'attic', category: 'context', content: 'The photo archive is on the drive named Attic.', status: 'proposed' },
  ];
  await post('/memory/import', { facts });
  await post('/memory/facts/machine', { content: 'The search machine has 16 cores, 128 GB of memory and no GPU.' }, 'PATCH');
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

const still = ['start', 'tasks', 'found', 'palette', 'folder', 'bin', 'settings', 'welcome', 'models', 'model', 'approvals', 'agents', 'new-agent', 'agent', 'memory', 'fact', 'new-fact', 'memory-history', 'toolbox', 'skills', 'skill', 'missing'];
it.each([...still, ...tasks.map(([name]) => name)])('%s has nothing that axe finds, and fits', async (name) => {
  const { page } = v;
  for (const width of [1440, 390, 320]) {
    await page.setViewportSize({ width, height: 844 });
    if (width !== 320) { // that is the page of 390, made narrower
      await v.to(`${at.get(name) ?? ''}${name === 'markdown' && width === 1440 ? '?panel=run' : ''}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
      const until = tasks.find(([n]) => n === name)?.[2];
      if (until) await v.sees(until);
    }
    await page.waitForTimeout(100);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${width} px scrolls sideways`).toBeLessThanOrEqual(0);
    const cut = (): string[] => [...document.querySelectorAll('.top, .top .btn, .me, .composer')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.className);
    expect(await page.evaluate(cut), `${width} px cuts off`).toEqual([]);
    if (width === 320) continue;
    const picture = async (colorScheme: string) => pictures && page.screenshot({ path: `${pictures}/${name}-${colorScheme}-${width}.png` });
    expect(await foundInBoth(page, picture)).toEqual([]);
  }
});
