// What goes wrong around a conversation: the server dies, the network goes, a token is asked for, many tabs look.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { picture } from './picture';

afterAll(closeBrowser);

describe('with a server that dies', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => v.close());

  it('a run goes on when it is back, and nothing is lost or doubled', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('a long story');
    await v.sees('Sentence number 5 ');
    await server.stop('SIGKILL');
    await page.getByText(/The server is not there/).waitFor();
    const told = await page.locator('.turn').innerText();
    await server.start();
    // The first attempt had not reached this sentence.
    await v.sees(`Sentence number ${told.split('Sentence number ').length + 1} `);
    await page.keyboard.press('Control+.');
    await v.sees('You stopped it');
    const text = await page.locator('.turn').innerText();
    expect(text.match(/Sentence number 4 /g)).toHaveLength(1);
  });

  it('a message that did not get there is kept and goes out', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('hello first');
    await v.sees('You said: hello first');
    await server.stop('SIGKILL');
    await page.getByRole('textbox', { name: 'Message' }).fill('hello later');
    await page.keyboard.press('Enter');
    await v.sees(/Not sent:/);
    await server.start();
    await v.sees('You said: hello later');
    expect(await page.locator('.say', { hasText: 'hello later' }).count()).toBe(1);
  });
});

describe('with a server that is there', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => v.close());

  it('fault 1: a second tab, and a reload, see a run that is under way from its beginning, once', async () => {
    v = await visit(server);
    const { page } = v;
    const at = await v.say('speak while you run');
    await page.locator('.live-out', { hasText: 'line 2' }).waitFor();
    const other = await v.tab();
    await other.goto(server.url + at);
    await other.locator('.live-out', { hasText: /line \d/ }).waitFor();
    await other.locator('.run-head', { hasText: 'Working' }).waitFor();
    await page.reload();
    await page.locator('.run-head', { hasText: 'Working' }).waitFor();
    await v.enough();
    await v.sees('I have counted.');
    await other.getByText('I have counted.').waitFor();
    for (const p of [page, other]) {
      expect(await p.getByText('I have counted.').count()).toBe(1);
      expect(await p.locator('.turn').count()).toBe(1);
    }
  });

  it('fault 6: a reload in the middle of an answer has it from its first word on', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('a long story');
    await v.sees('Sentence number 3 ');
    await page.reload();
    await v.sees('Sentence number 6 ');
    expect(await page.locator('.turn > .prose').innerText()).toMatch(
      /^Sentence number 0 of a story that goes on and on. Sentence number 1 /,
    );
    await page.keyboard.press('Control+.');
    await v.sees('You stopped it');
  });

  it('fault 16: what can be done with a message is reached by keyboard and by touch, on any message', async () => {
    v = await visit(server, { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });
    const { page } = v;
    await v.say('hello one');
    await v.sees('You said: hello one');
    await page.getByRole('textbox', { name: 'Message' }).fill('hello two');
    await page.keyboard.press('Enter');
    await v.sees('You said: hello two');
    await page.getByRole('button', { name: 'Answer once more' }).nth(1).waitFor();
    for (const name of ['Copy the message', 'Edit', 'Copy the answer', 'Answer once more', 'Branch from here'])
      for (const button of await page.getByRole('button', { name, exact: true }).all()) {
        expect(
          await button.evaluate((b) => [b.tabIndex, getComputedStyle(b.closest('.turn-foot') ?? b).opacity]),
          name,
        ).toEqual([0, '1']);
        const box = await button.boundingBox();
        expect(Math.min(box?.width ?? 0, box?.height ?? 0), name).toBeGreaterThanOrEqual(24);
      }
    await page.getByRole('button', { name: 'Edit', exact: true }).first().tap();
    await page.locator('.editing textarea').fill('hello three');
    await page.getByRole('button', { name: 'Send', exact: true }).tap();
    await v.sees('You said: hello three');
    await page.locator('.me .versions', { hasText: '2 of 2' }).waitFor();
  });

  it('faults 20 and 22: nothing is suggested over a question or an answer, and one foot stands below the last turn', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('hello feet');
    await v.sees('You said: hello feet');
    await page.getByRole('textbox', { name: 'Message' }).fill('ask which');
    await page.keyboard.press('Enter');
    await page.getByRole('form', { name: 'Which quarter do you mean?' }).waitFor();
    expect(await page.locator('.dock .col > *').evaluateAll((all) => all.map((it) => it.className))).toEqual([
      'composer',
    ]);
    await page.getByRole('radio', { name: 'October to December' }).check();
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await v.sees('You said: October to December');
    await page.locator('.turn.last > .turn-foot').waitFor();
    await page.mouse.move(5, 5);
    const feet = page.locator('.turn > .turn-foot:not(.mine)');
    const seen = (): Promise<string[]> => feet.evaluateAll((all) => all.map((f) => getComputedStyle(f).opacity));
    await expect.poll(async () => (await seen()).filter((o) => o === '1').length).toBe(1);
    await feet.first().getByRole('button').first().focus();
    await expect.poll(async () => (await seen())[0]).toBe('1');
  });

  it('of a task of 500 messages what is far away is not laid out, and earlier messages come above it', async () => {
    const thread = crypto.randomUUID();
    await server.post('/threads', { thread_id: thread });
    const messages = Array.from({ length: 500 }, (_, i) => ({
      type: i % 2 ? 'ai' : 'human',
      id: crypto.randomUUID(),
      content: `Message number ${i}.`,
    }));
    await server.post(`/threads/${thread}/state`, { values: { messages }, as_node: 'model' });
    v = await visit(server);
    const { page } = v;
    await v.to(`/c/${thread}`);
    await v.sees('Message number 499.');
    const laidOut = (which: number): Promise<boolean> =>
      page
        .locator('.turn')
        .nth(which)
        .locator('.say')
        .evaluate((e) => e.checkVisibility({ contentVisibilityAuto: true }));
    await expect.poll(() => laidOut(0)).toBe(false);
    expect(await laidOut(-1)).toBe(true);
    const count = await page.locator('.turn').count();
    await page.getByRole('button', { name: 'Earlier messages' }).click();
    await expect.poll(() => page.locator('.turn').count()).toBeGreaterThan(count);
    await page.locator('.turn').first().scrollIntoViewIfNeeded();
    await expect.poll(() => laidOut(0)).toBe(true);
  });

  it('eight tabs share one stream of news, and all of them know what is new', async () => {
    v = await visit(server);
    const tabs = [];
    for (let i = 0; i < 8; i++) {
      const tab = await v.tab();
      await tab.goto(`${server.url}/library/agents`);
      tabs.push(tab);
    }
    await v.say('hello tabs');
    for (const tab of tabs) await tab.getByRole('link', { name: /hello tabs/ }).waitFor();
    const figures = await (await fetch(`${server.url}/metrics`)).text();
    // The news, and the log of the run.
    expect(Number(/^pudu_streams_open (\d+)/m.exec(figures)?.[1] ?? 99)).toBeLessThanOrEqual(2);
  });

  it('without a network it says so, and goes on when that is back', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('a long story');
    await v.sees('Sentence number 3 ');
    await v.context.setOffline(true);
    await page.waitForTimeout(500);
    await page.getByRole('textbox', { name: 'Message' }).fill('and then');
    await v.context.setOffline(false);
    await v.sees('Sentence number 30 ');
    await page.keyboard.press('Control+.');
    await v.sees('You stopped it');
  });

  it('where the browser has no network, a server on the same machine is asked all the same', async () => {
    v = await visit(server);
    await v.to('/');
    await v.quiet();
    await v.page.evaluate(() => dispatchEvent(new Event('offline')));
    await v.page.getByRole('link', { name: 'Memory' }).click();
    await v.sees('Pudu knows nothing about you yet.');
  });

  it('fault 27: a task that is not there, and a page that is none, say so at once and lead back', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/c/11111111-2222-4333-8444-555555555555');
    await v.sees('This task does not exist, or it is not yours.', 3000);
    await page.getByRole('button', { name: 'Start a new task' }).click();
    await v.sees('What needs doing?');
    await v.to('/library/nothing');
    await v.sees('There is no such page.');
    await v.to('/elsewhere');
    await v.sees('There is no such page');
    await page.getByRole('link', { name: /To your tasks/ }).click();
    await v.sees('What needs doing?');
  });

  it('language and theme change at once', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/settings/general');
    const other = await v.tab();
    await other.goto(server.url);
    await page.getByRole('radio', { name: '中文' }).check();
    await page.getByRole('radio', { name: '深色' }).check();
    for (const [p, word] of [
      [page, '通用'],
      [other, '新任务'],
    ] as const) {
      // A task without a title has that name too.
      await p.getByRole('link', { name: word, exact: true }).first().waitFor();
      await expect
        .poll(() =>
          p.evaluate(() => [document.documentElement.lang, getComputedStyle(document.documentElement).colorScheme]),
        )
        .toEqual(['zh-CN', 'dark']);
    }
    await page.reload();
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
  });
});

describe('with a token', () => {
  const server = new Server({ token: 'let-me-in' });
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => v.close());

  it('a page asks for it once, over itself, and goes on', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/');
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await v.sees('That is not the token of this server.');
    await page.getByLabel('Token').fill('let-me-in');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await v.say('hello inside');
    await v.sees('You said: hello inside');
    await page.reload();
    await v.sees('You said: hello inside');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('a message outlives a session that ended', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/sign-in?next=/settings/general');
    await page.getByLabel('Token').fill('let-me-in');
    await page.keyboard.press('Enter');
    // No dialog is there that could close: before this nobody is signed in.
    await page.waitForURL(/\/settings\/general$/);
    await v.quiet();
    await v.say('hello again');
    await v.sees('You said: hello again');
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await v.quiet(); // else what the page still asks for would be refused before the message
    await v.context.clearCookies();
    await page.getByRole('textbox', { name: 'Message' }).fill('hello after');
    await page.keyboard.press('Enter');
    await page.getByLabel('Token').fill('let-me-in');
    await page.keyboard.press('Enter');
    await v.sees('You said: hello after');
    expect(await page.locator('.say', { hasText: 'hello after' }).count()).toBe(1);
  });
});

describe('without a model', () => {
  const server = new Server({ model: false });
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => v.close());

  it('the first run says so, and plays the demonstration, which is labelled', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/');
    await page.waitForURL(/\/welcome$/);
    await v.sees('Pudu needs a model to think with');
    await page.getByRole('button', { name: 'Play the demonstration' }).click();
    await v.sees('The three best months are');
    await page.getByText('Demonstration', { exact: true }).waitFor();
    await page.locator('.turn-foot:not(.mine)').waitFor();
    await picture(page, 'task');
  });
});
