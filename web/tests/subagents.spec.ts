// Sub-agents in a conversation: their cards with live steps, a page of their own, a stop, and an approval that one of
// them needs.
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, patience, Server, type Visitor, visit } from './kit';
import { picture } from './picture';
import { watchShifts } from './shifts';

afterAll(closeBrowser);

describe('sub-agents', () => {
  let server: Server;
  let v: Visitor;
  beforeEach(async () => {
    server = await new Server().start();
    v = await visit(server, { bypassCSP: true });
  });
  afterEach(async () => {
    await v.close();
    await server.close();
  });

  /** Begins a task in the way of working that has sub-agents. */
  const team = async (text: string): Promise<void> => {
    await v.to('/');
    await v.page.getByRole('button', { name: 'Think', exact: true }).click();
    await v.page.getByRole('menuitemradio', { name: /^Team/ }).click();
    await v.page.getByRole('textbox', { name: 'Task' }).fill(text);
    await v.page.keyboard.press('Enter');
    await v.page.waitForURL(/\/c\/[0-9a-f-]+$/);
  };
  const card = (name: string) =>
    v.page.locator('.agents > details').filter({ has: v.page.locator('summary b', { hasText: name }) });

  it('are cards with live steps, which open to what they did and to a page of their own', async () => {
    const { page } = v;
    await team('share the work');
    await v.sees('2 sub-agents side by side');
    await card('Work for long')
      .getByText(/bash · Running for i in/)
      .waitFor();
    await card('Count the lines').getByText('general-purpose · There are 3 lines.').waitFor();
    await v.sees('1 working, 1 done');
    await card('Count the lines').locator('summary').first().click();
    await card('Count the lines').getByText('Please count the lines in a.').waitFor();
    await card('Count the lines').getByText('Ran').waitFor();
    await card('Count the lines')
      .getByText(/tokens/)
      .first()
      .waitFor();
    expect(await card('Count the lines').getByRole('button', { name: 'Stop this one' }).count()).toBe(0);
    await card('Work for long').locator('summary').first().click();
    await card('Work for long').getByRole('button', { name: 'Stop this one' }).waitFor();
    expect(await found(page)).toEqual([]);
    await picture(page, 'sub-agents-light-1440');
    await card('Work for long').getByRole('link', { name: 'Open' }).click();
    await page.waitForURL(/\/sub\/[^/]+\?run=/);
    await page.getByRole('heading', { level: 1, name: 'Work for long' }).waitFor();
    await v.sees('Please work on it for long.');
    await v.sees(/part \d+/); // its output comes live
    expect(await found(page)).toEqual([]);
    await picture(page, 'sub-agent-page-light-1440');
    await page.reload();
    await v.sees('Please work on it for long.');
    await page.getByRole('link', { name: /^Back to “share the work”/ }).click();
    await v.sees('2 sub-agents side by side');
  });

  it('are stopped one by one, while their parent goes on', async () => {
    await team('share the work');
    await card('Work for long').locator('summary').first().click();
    await card('Work for long').getByRole('button', { name: 'Stop this one' }).click();
    await card('Work for long').getByText('bash · Stopped').waitFor();
    await v.sees('Both have reported.');
    await v.page.reload();
    await v.page.getByText(/^Worked/).click();
    await card('Work for long').getByText('bash · Stopped').waitFor();
    await card('Count the lines').getByText('general-purpose · There are 3 lines.').waitFor();
  });

  it('hear a word from a person', async () => {
    await team('share the work');
    await card('Work for long').locator('summary').first().click();
    await card('Work for long').getByLabel('A word to “Work for long”').fill('only the first');
    await card('Work for long').getByRole('button', { name: 'Steer' }).click();
    await card('Work for long').getByRole('status').getByText('Said. It reads it before its next step.').waitFor();
    await v.enough();
    await expect
      .poll(() => card('Work for long').locator('summary').first().innerText(), { timeout: 2 * patience })
      .toContain('You said: only the first');
  });

  it('ask in the task above for what a person must allow', async () => {
    const { page } = v;
    await team('let another make a file');
    await card('Make the file').getByText('bash · Waits for you: the question stands below').waitFor();
    await page.getByRole('button', { name: /^Allow/ }).click();
    await v.sees('It is decided by now.');
    await expect
      .poll(() => card('Make the file').locator('summary').first().innerText())
      .toContain('The file is made.');
  });

  it('are answered one by one: the other question stays open with what was typed, also over a reload', async () => {
    const { page } = v;
    const sent: string[] = [];
    page.on('request', (r) => {
      if (r.method() === 'POST' && r.url().endsWith('/runs')) sent.push(r.postData() ?? '');
    });
    await team('let two others make files');
    const cards = page.locator('form.asking');
    await expect.poll(() => cards.count()).toBe(2);
    const one = cards.filter({ hasText: 'workspace/one' });
    const two = cards.filter({ hasText: 'workspace/two' });
    await two.getByRole('button', { name: 'Refuse, say why' }).click();
    await two.getByRole('textbox').fill('not now');
    expect(await found(page)).toEqual([]);
    await picture(page, 'two-questions-light-1440');
    await page.route('**/runs', (r) => (r.request().method() === 'POST' ? r.abort() : r.continue()));
    await one.getByRole('button', { name: /^Allow/ }).click();
    await page.getByText('Your answer did not get to the server. It is kept here: send it again.').waitFor();
    await page.unroute('**/runs');
    sent.length = 0;
    await one.getByRole('button', { name: /^Allow/ }).click();
    await expect.poll(() => one.count()).toBe(0);
    expect(await two.getByRole('textbox').inputValue()).toBe('not now');
    await expect.poll(() => card('Make one').locator('summary').first().innerText()).toContain('One is made.');
    expect(await two.getByRole('textbox').inputValue()).toBe('not now');
    expect(sent).toHaveLength(1);
    await page.reload();
    await expect.poll(() => cards.count()).toBe(1);
    await two.getByRole('button', { name: 'Refuse, say why' }).click();
    await two.getByRole('button', { name: 'Refuse' }).click();
    await v.sees('Both are decided by now.');
    expect(await cards.count()).toBe(0);
    expect(sent).toHaveLength(2);
  });

  it('are answered in two tabs at once, and while the first answer is at work: no answer is lost, and none is asked for twice', async () => {
    const { page } = v;
    await team('let two others make files');
    await expect.poll(() => page.locator('form.asking').count()).toBe(2);
    const other = await v.tab();
    await other.goto(page.url());
    await expect.poll(() => other.locator('form.asking').count()).toBe(2);
    const allow = (tab: typeof page, what: string) =>
      tab
        .locator('form.asking')
        .filter({ hasText: what })
        .getByRole('button', { name: /^Allow/ })
        .click();
    await Promise.all([allow(page, 'workspace/one'), allow(other, 'workspace/two')]);
    for (const tab of [page, other]) {
      // What the other tab has answered is closed here too, though the run that brings it waits.
      await expect.poll(() => tab.locator('form.asking').count()).toBe(0);
      await tab.getByText('Both are decided by now.').waitFor();
      expect(await tab.locator('form.asking').count()).toBe(0);
    }
    const ended = await server.get<{ status: string; error: string | null }[]>(
      `/threads/${page.url().split('/c/')[1]}/runs`,
    );
    expect(ended.map((r) => [r.status, r.error])).toEqual(Array(3).fill(['success', null]));
  });

  it('are closed while a run works, when another tab has given the answer that waits behind it', async () => {
    const { page } = v;
    await team('let two others make files slowly');
    const cards = (tab: typeof page, what: string) => tab.locator('form.asking').filter({ hasText: what });
    await cards(page, 'workspace/two').waitFor();
    const other = await v.tab();
    await other.goto(page.url());
    await cards(other, 'workspace/two').waitFor();
    await cards(page, 'workspace/three')
      .getByRole('button', { name: /^Allow/ })
      .click();
    await cards(other, 'workspace/three').waitFor({ state: 'detached' });
    const three = (tab: typeof page) =>
      tab.locator('.agents > details', { hasText: 'Make three' }).filter({ hasText: 'running' });
    // That it does not wait any more is known also where the thread has told what waits, and not the run.
    await three(other).waitFor();
    await cards(other, 'workspace/two')
      .getByRole('button', { name: /^Allow/ })
      .click();
    await cards(page, 'workspace/two').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Say it' }).waitFor(); // it works still
    expect(await page.getByText('Three is made.').count()).toBe(0);
    const works = async (tab: typeof page): Promise<void> => {
      await tab.locator('.run-head', { hasText: /^Working \d/ }).waitFor();
      await three(tab).waitFor();
    };
    for (const tab of [page, other]) await works(tab);
    await page.reload();
    await works(page);
  });

  it('are answered elsewhere while an answer is on its way: who gave that one is told', async () => {
    const { page } = v;
    await v.say('it needs approval');
    await page.route('**/runs', async (r) => {
      const { command } = (r.request().postDataJSON() ?? {}) as { command?: { resume: object } };
      if (!command) return r.continue();
      const resume = Object.fromEntries(
        Object.keys(command.resume).map((id) => [id, { decisions: [{ type: 'reject', message: 'not now' }] }]),
      );
      await server.post(new URL(r.request().url()).pathname, { assistant_id: 'lead_agent', command: { resume } });
      await expect
        .poll(async () => (await fetch(`${server.url}/threads/${page.url().split('/c/')[1]}`)).text())
        .toContain('"status":"idle"');
      return r.continue();
    });
    await page.getByRole('button', { name: /^Allow/ }).click();
    await v.sees('This was answered elsewhere before; your answer changed nothing.');
    await v.sees('Refused by you:');
    expect(await page.locator('form.asking').count()).toBe(0);
  });

  it('are closed in a tab that hears of the answer when its run has ended', async () => {
    const { page } = v;
    await v.say('it needs approval');
    const other = await v.tab();
    await other.goto(page.url());
    await other.locator('form.asking').waitFor();
    await v.quiet();
    let over = (): void => {};
    const ended = new Promise<void>((done) => (over = done));
    await other.route(/\/runs\?/, async (r) => {
      await ended;
      await r.continue();
    });
    await page.getByRole('button', { name: /^Allow/ }).click();
    await v.sees('It is decided.');
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    over();
    await other.getByText('It is decided.').waitFor();
    await expect.poll(() => other.locator('form.asking').count()).toBe(0);
  });

  it('of which several ask stand in Chinese, on wide screens and narrow ones', async () => {
    const { page } = v;
    await v.to('/settings/general');
    await page.getByText('中文').first().click();
    const thread = crypto.randomUUID();
    await server.post('/threads', { thread_id: thread });
    const context = { mode: 'ultra', thinking_enabled: true, is_plan_mode: true, subagent_enabled: true };
    await server.post(`/threads/${thread}/runs`, {
      assistant_id: 'lead_agent',
      input: { messages: [{ type: 'human', content: 'let two others make files' }] },
      context,
    });
    await v.to(`/c/${thread}`);
    const cards = page.locator('form.asking');
    await expect.poll(() => cards.count()).toBe(2);
    await page.getByRole('form', { name: '允许 Pudu 运行这个命令吗？ 第 1 个，共 2 个' }).waitFor();
    await cards.nth(1).getByRole('button', { name: '拒绝并说明' }).click();
    await cards.nth(1).getByRole('textbox').fill('现在不行');
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await cards.nth(1).scrollIntoViewIfNeeded();
      expect(await found(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await picture(page, `two-questions-zh-${width}`);
    }
  });

  it('move nothing when their cards come', async () => {
    const { page } = v;
    const moved = await watchShifts(page);
    await team('share the work');
    await v.sees('1 working, 1 done');
    expect(await moved()).toEqual([]);
  });

  it('that are not there have a page that says so', async () => {
    await v.to('/c/11111111-2222-4333-8444-555555555555/sub/call_1');
    await v.sees('This sub-agent is not there, or it is not yours.');
    await v.page.getByRole('link', { name: 'Back to the task' }).waitFor();
  });
});
