// What is said while the server cannot be reached: it outlives reloads and tabs, and goes out once. And what lies
// outside of the pages: notifications, the count in the title, the page without a server, a new version.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { picture } from './picture';

afterAll(closeBrowser);

/** The runs of the task that a page shows. */
const runsOf = (server: Server, at: string, headers = {}): Promise<unknown[]> =>
  server.get(`/threads${at.slice(2)}/runs`, headers);

describe('without a server', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => v.close());

  it('what was said waits on a page of its own through a reload, and goes out once, with two tabs', async () => {
    v = await visit(server, { serviceWorkers: 'allow' });
    const { page } = v;
    const at = await v.say('hello first');
    await v.sees('You said: hello first');
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(
      async () => (await caches.match(new URL('offline', location.origin).href)) !== undefined,
    );
    const other = await v.tab();
    await other.goto(server.url + at);
    await other.getByText('You said: hello first').waitFor();
    await server.stop('SIGKILL');
    await page.getByRole('textbox', { name: 'Message' }).fill('hello later');
    await page.keyboard.press('Enter');
    await v.sees(/Not sent:/);
    await page.reload();
    await v.sees('The server cannot be reached');
    await page.getByRole('listitem').filter({ hasText: 'hello later' }).waitFor();
    await picture(page, 'offline');
    await server.start();
    for (const p of [page, other]) {
      await p.getByText('You said: hello later').waitFor();
      expect(await p.locator('.say', { hasText: 'hello later' }).count()).toBe(1);
    }
    expect(await runsOf(server, at)).toHaveLength(2);
    expect(await page.evaluate(() => localStorage.getItem('pudu.outbox'))).toBeNull();
  });

  /** Says something offline in a tab that is closed: the page of its task, and a tab that is online again. */
  async function leftBehind(words: string): Promise<[string, Page]> {
    v = await visit(server);
    const { page } = v;
    await v.to('/');
    // On a machine that is slow the page can be there without it, and quiet.
    await page.getByRole('textbox', { name: 'Task' }).waitFor();
    await v.quiet();
    await v.context.setOffline(true);
    await page.getByRole('textbox', { name: 'Task' }).fill(words);
    await page.keyboard.press('Enter');
    await v.sees('You are offline. Your message goes out when you are back.');
    const at = new URL(page.url()).pathname;
    const other = await v.tab();
    await page.close();
    await v.context.setOffline(false);
    return [at, other];
  }

  it('a new task goes out from another page, after its tab was closed', async () => {
    const [at, other] = await leftBehind('hello from nowhere');
    await other.goto(`${server.url}/library/agents`);
    await other.getByRole('link', { name: /hello from nowhere/ }).waitFor();
    await expect.poll(async () => (await runsOf(server, at)).length).toBe(1);
  });

  it('a new task that a busy server did not take goes out a little later', async () => {
    const [at, other] = await leftBehind('hello while busy');
    let refused = 0;
    await other.route('**/threads', (r) =>
      refused++ === 0 ? r.fulfill({ status: 503, json: { detail: 'busy' } }) : r.continue(),
    );
    await other.goto(`${server.url}/library/agents`);
    await expect.poll(async () => (await runsOf(server, at).catch(() => [])).length).toBe(1);
    expect(refused).toBeGreaterThan(1);
  });

  it('what was said and not sent can be taken back', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('hello back');
    await v.sees('You said: hello back');
    await v.context.setOffline(true);
    await page.getByRole('textbox', { name: 'Message' }).fill('not so');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Take back' }).click();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('not so');
    expect(await page.locator('.say', { hasText: 'not so' }).count()).toBe(0);
    expect(await page.evaluate(() => localStorage.getItem('pudu.outbox'))).toBeNull();
  });

  it('a new version says so when the server is back, and is loaded when one wants it', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('hello version');
    await v.sees('You said: hello version');
    await page.route(`${server.url}/`, async (r) => {
      const response = await r.fetch();
      await r.fulfill({ response, body: (await response.text()).replace(/\/index-[\w-]+\.js/, '/index-another.js') });
    });
    await server.stop('SIGKILL');
    await v.sees(/The server is not there/);
    await server.start();
    await v.sees('A new version is ready.');
    await page.getByRole('button', { name: 'Load it' }).click();
    await v.sees('You said: hello version');
  });
});

describe('with a token', () => {
  const server = new Server({ token: 'let-me-in' });
  const enter = async (page: Page): Promise<void> => {
    await page.getByLabel('Token').fill('let-me-in');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => v.close());

  it('fault 11: what was said by somebody who is signed out outlives a reload, and goes out after the sign-in, once', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/');
    await enter(page);
    const at = await v.say('hello inside');
    await v.sees('You said: hello inside');
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await v.quiet();
    await v.context.clearCookies();
    await page.getByRole('textbox', { name: 'Message' }).fill('hello after');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.reload();
    await enter(page);
    await v.sees('You said: hello after');
    expect(await page.locator('.say', { hasText: 'hello after' }).count()).toBe(1);
    expect(await runsOf(server, at, { Authorization: 'Bearer let-me-in' })).toHaveLength(2);
  });

  it('a refusal from before somebody signed in is asked for again, and asks nobody to sign in', async () => {
    v = await visit(server);
    const { page } = v;
    let arrive = (): void => {};
    const late = new Promise<void>((resolve) => (arrive = resolve));
    const seen: number[] = [];
    await page.route('**/news?*', async (r) => {
      const response = await r.fetch();
      seen.push(response.status());
      if (response.status() === 401) await late;
      await r.fulfill({ response });
    });
    await v.to('/');
    await enter(page);
    arrive();
    await expect.poll(() => seen).toContain(200);
    expect(seen[0]).toBe(401);
    await v.quiet();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('a file that was refused before somebody signed in is sent again, and asks nobody to sign in', async () => {
    v = await visit(server);
    const { page } = v;
    let arrive = (): void => {};
    const late = new Promise<void>((resolve) => (arrive = resolve));
    const seen: number[] = [];
    await page.route('**/uploads', async (r) => {
      const response = await r.fetch();
      seen.push(response.status());
      if (response.status() === 401) await late;
      await r.fulfill({ response });
    });
    await v.to('/');
    await page
      .locator('input[type=file]')
      .setInputFiles([{ name: 'early.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') }]);
    await expect.poll(() => seen).toEqual([401]);
    await enter(page);
    arrive();
    await page.getByRole('button', { name: 'Remove early.csv' }).waitFor();
    expect(seen).toEqual([401, 200]);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});

describe('outside of the pages', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => v.close());

  it('the title counts what waits, a notification tells of it where no tab is looked at, and leads there', async () => {
    v = await visit(server);
    const { page } = v;
    await page.addInitScript(() => {
      const w = window as unknown as {
        told: { title: string; body: string; tag: string; onclick?: () => void }[];
        Notification: unknown;
      };
      w.told = [];
      w.Notification = class {
        static permission = 'granted';
        onclick?: () => void;
        constructor(title: string, o: { body: string; tag: string }) {
          w.told.push(Object.assign(this, { title, ...o }));
        }
        close(): void {}
      };
      Object.defineProperty(document, 'hidden', { get: () => location.pathname.startsWith('/settings') });
    });
    await v.to('/settings/general');
    await page.getByRole('heading', { name: 'General' }).waitFor();
    const thread = crypto.randomUUID();
    await server.post('/threads', { thread_id: thread });
    await server.post(`/threads/${thread}/runs`, {
      assistant_id: 'lead_agent',
      input: { messages: [{ type: 'human', content: 'it needs approval' }] },
    });
    await page.waitForFunction(() => document.title.startsWith('(1) '));
    await page.waitForFunction(() => (window as unknown as { told: unknown[] }).told.length === 1);
    expect(
      await page.evaluate(() =>
        (window as unknown as { told: { body: string; tag: string }[] }).told.map((t) => [t.body, t.tag]),
      ),
    ).toEqual([['Waits for you', thread]]);
    await page.evaluate(() => (window as unknown as { told: { onclick?: () => void }[] }).told[0]?.onclick?.());
    await v.sees('May Pudu run this command?');
    await page.getByRole('button', { name: /^Allow/ }).click();
    await v.sees('It is decided.');
    await page.waitForFunction(() => !/^\(/.test(document.title));
  });

  it('asks whether to tell the end of a run when the first long one is under way, not before', async () => {
    v = await visit(server);
    const { page } = v;
    await page.addInitScript(() => {
      const w = window as unknown as { asked: number; Notification: unknown };
      w.asked = 0;
      const requestPermission = async (): Promise<string> => {
        w.asked++;
        return 'granted';
      };
      w.Notification = { permission: 'default', requestPermission };
    });
    await v.to('/'); // a page that is there before its clock is stopped
    await page.clock.install();
    await v.say('a long story');
    await v.sees('Sentence number 1 ');
    const button = page.getByRole('button', { name: 'Tell me when it is done' });
    await page.clock.runFor(30_000);
    expect(await button.count()).toBe(0);
    await page.clock.runFor(31_000);
    await button.click();
    await button.waitFor({ state: 'hidden' });
    expect(await page.evaluate(() => (window as unknown as { asked: number }).asked)).toBe(1);
  });

  it('fault 15: the menu of modes closes on a choice; nothing turns under reduced motion, and glyphs show in forced colours', async () => {
    v = await visit(server, { reducedMotion: 'reduce', forcedColors: 'active' });
    const { page } = v;
    await v.to('/');
    await page.getByRole('button', { name: /Think/ }).click();
    for (const mode of ['Quick', 'Think', 'Plan', 'Team'])
      expect(await page.getByRole('menuitemradio', { name: new RegExp(`^${mode}`) }).isEnabled()).toBe(true);
    await page.getByRole('menuitemradio', { name: /Quick/ }).click();
    expect(await page.getByRole('menu').count()).toBe(0);
    await page.getByRole('textbox', { name: 'Task' }).fill('speak while you run');
    await page.keyboard.press('Enter');
    const dot = page.locator('.step .st.live .fg');
    await dot.waitFor();
    // No ring stands still.
    expect(await dot.evaluate((c) => [getComputedStyle(c).r, getComputedStyle(c).stroke])).toEqual(['4px', 'none']);
    const ring = page.locator('.step .st.live svg');
    await ring.waitFor();
    expect(await ring.evaluate((r) => getComputedStyle(r).animationName)).toBe('none');
    expect(await page.locator('.step .st.live').innerText()).not.toBe('');
    await page.keyboard.press('Control+.');
    await v.sees('You stopped it');
    expect(await page.locator('.stopline .sq').evaluate((s) => getComputedStyle(s).backgroundColor)).not.toBe(
      await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    );
  });

  it('can be installed', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/settings/general');
    const manifest = (await page.evaluate(async () =>
      (await fetch((document.querySelector('link[rel=manifest]') as HTMLLinkElement).href)).json(),
    )) as { icons: { src: string }[]; start_url: string };
    expect(manifest.start_url).toBe('./');
    for (const { src } of manifest.icons)
      expect((await fetch(new URL(src, server.url))).headers.get('content-type')).toBe('image/png');
  });
});
