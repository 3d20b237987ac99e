// Secrets of skills: fields where a message names the skill, and where a run that had some asks a person. They go with
// the one request, and stand nowhere in the browser.
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { picture } from './picture';
import { zipped } from './zipped';

afterAll(closeBrowser);

const value = 'sesame-4711-open';
/** A skill that wants secrets. */
const skill = (secrets: string): string =>
  `---\nname: tidy-notes\ndescription: Sorts notes by date.\nrequired-secrets: [${secrets}]\n---\n\nSort the notes by date.\n`;
const lost = 'Not sent: its secrets are not kept in this browser. Edit it and type them again.';

/**
 * Everything that a browser keeps of the site: storages, every record of every database, what is cached, cookies, its
 * place.
 */
const kept = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const out: unknown[] = [{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state];
    for (const { name } of await indexedDB.databases()) {
      const db = await new Promise<IDBDatabase>((done, failed) => {
        const opening = indexedDB.open(name ?? '');
        opening.onsuccess = () => done(opening.result);
        opening.onerror = () => failed(opening.error);
      });
      for (const store of db.objectStoreNames) {
        const all = <T>(get: (s: IDBObjectStore) => IDBRequest<T>): Promise<T> =>
          new Promise((done, failed) => {
            const asking = get(db.transaction(store).objectStore(store));
            asking.onsuccess = () => done(asking.result);
            asking.onerror = () => failed(asking.error);
          });
        out.push(name, store, await all((s) => s.getAllKeys()), await all((s) => s.getAll()));
      }
      db.close();
    }
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) out.push(request.url, await (await cache.match(request))?.text());
    }
    return JSON.stringify(out);
  });

describe('skills with secrets', () => {
  let server: Server;
  let v: Visitor;
  beforeEach(async () => {
    server = await new Server().start();
    v = await visit(server, { bypassCSP: true });
    const head = skill('NOTES_KEY, {name: REGION, optional: true}');
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(zipped({ 'SKILL.md': head }))]), 'tidy-notes.skill');
    const installed = await fetch(`${server.url}/skills/upload`, { method: 'POST', body: form });
    expect(await installed.text()).toContain('"skill_name":"tidy-notes"');
  });
  afterEach(async () => {
    await v.close();
    await server.close();
  });

  const box = (name = 'Message'): Locator => v.page.getByRole('textbox', { name, exact: true });
  const key = (): Locator => v.page.getByLabel('NOTES_KEY', { exact: true });
  const text = async (path: string): Promise<string> => (await fetch(server.url + path)).text();
  const thread = (): string => new URL(v.page.url()).pathname.split('/')[2] ?? '';
  /** The next request for a run, as the page sends it. */
  const asked = async (
    act: () => Promise<unknown>,
  ): Promise<{ context: { secrets?: unknown }; multitask_strategy: string }> => {
    const [request] = await Promise.all([
      v.page.waitForRequest((r) => r.method() === 'POST' && r.url().endsWith('/runs')),
      act(),
    ]);
    return request.postDataJSON() as { context: { secrets?: unknown }; multitask_strategy: string };
  };
  /** Begins a task with a key. */
  const begin = async (words: string): Promise<void> => {
    await v.to('/');
    await box('Task').fill(words);
    await key().fill(value);
    await key().press('Enter');
    await v.page.waitForURL(/\/c\/[0-9a-f-]+$/);
  };
  /** Nothing of the value stands in the browser, in the page, or in what the server tells of the task. */
  const clean = async (): Promise<void> => {
    const told = await Promise.all([
      text(`/threads/${thread()}/runs`),
      text(`/threads/${thread()}/state`),
      text(`/threads/${thread()}`),
      text(`/threads/${thread()}/messages/page`),
    ]);
    expect([await kept(v.page), await v.page.content(), ...told].join()).not.toContain(value);
  };

  it('get their secrets with the message that names them, and no browser keeps one', async () => {
    const { page } = v;
    await v.close();
    v = await visit(server, { bypassCSP: true, serviceWorkers: 'allow' }); // with its caches
    await v.to('/');
    await v.page.evaluate(() => navigator.serviceWorker.ready);
    await box('Task').fill('tidy-notes');
    await box('Task').fill('/report of May'); // has none
    await v.quiet();
    expect(await v.page.getByRole('group').count()).toBe(0);
    await box('Task').fill('/tidy-notes use the key');
    await key().waitFor();
    await v.page.getByLabel('REGION (optional)').waitFor();
    expect([await key().getAttribute('type'), await key().getAttribute('autocomplete')]).toEqual(['password', 'off']);
    await box('Task').press('Enter'); // asks once for what is missing
    await v.page.getByRole('alert').getByText('NOTES_KEY is empty').waitFor();
    expect(await key().evaluate((e) => e === document.activeElement)).toBe(true);
    expect(await found(v.page)).toEqual([]);
    await key().fill(value);
    await v.page.getByRole('alert').waitFor({ state: 'detached' });
    expect(await found(v.page)).toEqual([]);
    await picture(v.page, 'secrets');
    expect(await kept(v.page)).not.toContain(value);
    // The draft is, so that this looks where things are kept.
    expect(await kept(v.page)).toContain('/tidy-notes use the key');
    const request = await asked(() => key().press('Enter'));
    expect(request.context.secrets).toEqual({ NOTES_KEY: value });
    await v.page.waitForURL(/\/c\/[0-9a-f-]+$/);
    await v.sees(`In short, the key has ${value.length}.`);
    await key().waitFor({ state: 'detached' });
    await clean();
    await v.page.reload();
    await v.sees(`In short, the key has ${value.length}.`);
    expect(await kept(v.page)).toContain('offline'); // what the worker has cached is looked at too
    await clean();
    expect(page.isClosed()).toBe(true);
  });

  it('wait with the page when the server is away, and are asked for again after a reload', async () => {
    const { page } = v;
    await v.to('/');
    await box('Task').fill('/tidy-notes use the key');
    await key().fill(value);
    await page.route('**/threads/*/runs', (r) => (r.request().method() === 'POST' ? r.abort() : r.continue()));
    await key().press('Enter');
    await v.sees(/Not sent:/);
    expect(await kept(page)).toContain('tidy-notes use the key');
    expect(await kept(page)).not.toContain(value);
    const other = await v.tab(); // it cannot send it, and does not
    await other.goto(page.url());
    await other.getByText(lost).waitFor();
    await other.close();
    await page.reload();
    await v.sees(lost);
    expect(await found(page)).toEqual([]);
    await page.unroute('**/threads/*/runs');
    await v.quiet();
    expect(JSON.parse(await text(`/threads/${thread()}/runs`))).toEqual([]); // nothing goes out without
    await page.getByRole('alert').getByRole('button', { name: 'Edit' }).click();
    await key().waitFor();
    expect([await key().inputValue(), await box().inputValue()]).toEqual(['', '/tidy-notes use the key']);
    await key().fill(value);
    // The next one is away for a moment: the page still has them.
    await page.route('**/threads/*/runs', (r) => (r.request().method() === 'POST' ? r.abort() : r.continue()));
    await key().press('Enter');
    await v.sees(/Not sent:/);
    await page.unroute('**/threads/*/runs');
    const request = await asked(() => page.getByRole('button', { name: 'Try again' }).click());
    expect(request.context.secrets).toEqual({ NOTES_KEY: value });
    await v.sees(`In short, the key has ${value.length}.`);
    await clean();
    expect(await page.evaluate(() => localStorage.getItem('pudu.outbox'))).toBeNull();
    // The server has got the next one, and its answer did not get here: it is not lost.
    await box().fill('/tidy-notes use the key once more');
    await key().fill(value);
    await page.route('**/threads/*/runs', async (r) => {
      if (r.request().method() !== 'POST') return r.continue();
      await r.fetch();
      await r.abort();
    });
    await key().press('Enter');
    await v.sees(/Not sent:/);
    await page.reload();
    await expect.poll(() => page.getByText(`In short, the key has ${value.length}.`).count()).toBe(2);
    expect([await page.getByText(lost).count(), await page.locator('.say', { hasText: 'once more' }).count()]).toEqual([
      0, 1,
    ]);
    expect(await page.evaluate(() => localStorage.getItem('pudu.outbox'))).toBeNull();
  });

  it('that the server refuses stay with the page, and are dropped with the message', async () => {
    const { page } = v;
    await v.to('/');
    await box('Task').fill('/tidy-notes use the key');
    await key().fill(value.repeat(600));
    await key().press('Enter');
    await v.sees(/Not sent: .*NOTES_KEY/);
    expect((await page.content()) + (await kept(page))).not.toContain(value);
    await page.getByRole('button', { name: 'Take back' }).click();
    await key().waitFor();
    expect(await key().inputValue()).toBe('');
    expect(await page.evaluate(() => localStorage.getItem('pudu.outbox'))).toBeNull();
  });

  it('of a message to a run at work wait for a run of their own; without them it is said to that run', async () => {
    const { page } = v;
    await v.say('please work for a while');
    await v.sees('line 1');
    await box().fill('/tidy-notes use the key now');
    await page.getByRole('button', { name: 'Say it' }).waitFor();
    await page
      .getByText('The run at work does not get them: the message waits for its end.', { exact: false })
      .waitFor();
    await box().press('Enter');
    await page.getByRole('alert').getByText('NOTES_KEY is empty').waitFor();
    await key().fill(value);
    expect(await page.getByRole('button', { name: 'Say it' }).count()).toBe(0);
    await picture(page, 'secrets-queued');
    expect(await found(page)).toEqual([]);
    const queued = await asked(() => key().press('Enter'));
    expect([queued.context.secrets, queued.multitask_strategy]).toEqual([{ NOTES_KEY: value }, 'enqueue']);
    await page.getByRole('list', { name: 'Queue' }).getByText('Starts when this run ends').waitFor();
    await box().fill('/tidy-notes use the key by queue');
    await key().fill(value);
    const alt = await asked(() => box().press('Alt+Enter'));
    expect([alt.context.secrets, alt.multitask_strategy]).toEqual([{ NOTES_KEY: value }, 'enqueue']);
    // Taken out of the queue to be changed, it asks again.
    const line = page.getByRole('list', { name: 'Queue' }).getByRole('listitem').filter({ hasText: 'by queue' });
    await line.getByRole('button', { name: 'Edit' }).click();
    await line.waitFor({ state: 'detached' });
    expect(await key().inputValue()).toBe('');
    await box().press('Enter'); // it is asked for
    const steered = await asked(() => box().press('Enter'));
    expect([steered.context.secrets, steered.multitask_strategy]).toEqual([undefined, 'steer']);
    await clean();
    await page.getByRole('button', { name: 'Stop' }).click();
    await v.sees(`In short, the key has ${value.length}.`);
  });

  it('are asked for again by an edit and a retry, and not for a skill without', async () => {
    const { page } = v;
    await begin('/tidy-notes use the key');
    await v.sees(`In short, the key has ${value.length}.`);
    await page.getByRole('button', { name: 'Answer once more' }).click();
    const form = page.getByRole('form', { name: 'Answer once more' });
    await form.getByRole('button', { name: 'Answer once more' }).click();
    await form.getByRole('alert').getByText('NOTES_KEY is empty').waitFor();
    expect(await found(page)).toEqual([]);
    await key().fill(`${value}-2`);
    await picture(page, 'secrets-again');
    const again = await asked(() => key().press('Enter'));
    expect(again.context.secrets).toEqual({ NOTES_KEY: `${value}-2` });
    await v.sees(`In short, the key has ${value.length + 2}.`);
    await page.locator('[data-edit]').last().click();
    await key().fill(`${value}-34`);
    const edited = await asked(() => key().press('Enter'));
    expect(edited.context.secrets).toEqual({ NOTES_KEY: `${value}-34` });
    await v.sees(`In short, the key has ${value.length + 3}.`);
    await clean();
    await page.locator('[data-edit]').last().click();
    await page.getByRole('textbox', { name: 'Message' }).first().fill('/report use no key');
    await key().waitFor({ state: 'detached' });
    const plain = await asked(() => page.getByRole('textbox', { name: 'Message' }).first().press('Enter'));
    expect(plain.context.secrets).toBeUndefined();
    await v.sees('You said: /report use no key');
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    // Nothing is asked for first.
    const once = await asked(() => page.getByRole('button', { name: 'Answer once more' }).click());
    expect(once.context.secrets).toBeUndefined();
  });

  it('are given again with the answer to an approval, also after a reload', async () => {
    const { page } = v;
    await begin('/tidy-notes write with the key');
    await v.sees('May Pudu run this command?');
    await key().waitFor();
    await page.reload(); // what the browser or the tab had is gone
    await v.sees('May Pudu run this command?');
    expect(await key().inputValue()).toBe('');
    await page.getByRole('button', { name: /^Allow/ }).click();
    await page.getByRole('alert').getByText('NOTES_KEY is empty').waitFor();
    expect(await found(page)).toEqual([]);
    await key().fill(value);
    await page.getByLabel('REGION (optional)').fill('west');
    await picture(page, 'secrets-approval');
    expect(await kept(page)).not.toContain(value);
    const request = await asked(() => page.getByRole('button', { name: /^Allow/ }).click());
    expect(request.context.secrets).toEqual({ NOTES_KEY: value, REGION: 'west' });
    await v.sees(`wrote with ${value.length} in west`);
    await clean();
    await page.reload();
    await v.sees(`wrote with ${value.length} in west`);
    await clean();
    // Without them the call is answered as not run, and nobody is asked twice.
    await box().fill('/tidy-notes write with the key');
    await key().fill(value);
    await key().press('Enter');
    await page.getByRole('button', { name: /^Allow/ }).click();
    const without = await asked(() => page.getByRole('button', { name: /^Allow/ }).click());
    expect(without.context.secrets).toBeUndefined();
    await v.sees(/This command was not run/);
  });

  it('are given again with the answer to what a sub-agent asks', async () => {
    const { page } = v;
    await v.to('/');
    await page.getByRole('button', { name: 'Think', exact: true }).click();
    await page.getByRole('menuitemradio', { name: /^Team/ }).click();
    await box('Task').fill('/tidy-notes let another use the key');
    await key().fill(value);
    await key().press('Enter');
    await v.sees('May Pudu run this command?');
    await key().fill(value);
    const request = await asked(() => page.getByRole('button', { name: /^Allow/ }).click());
    expect(request.context.secrets).toEqual({ NOTES_KEY: value });
    await v.sees(new RegExp(`The other said: .*wrote with ${value.length} in nowhere`));
    await page.reload();
    await v.sees(/The other said:/);
    await clean();
  });

  it('stand in Chinese on a narrow screen', async () => {
    const { page } = v;
    await page.setViewportSize({ width: 390, height: 844 });
    await v.to('/settings/general');
    await page.getByText('中文').first().click();
    await v.to('/');
    const task = page.locator('textarea[data-composer]');
    await task.fill('/tidy-notes write with the key');
    await page.getByRole('group', { name: 'tidy-notes 的密钥' }).waitFor();
    await page.getByLabel('REGION（可选）').waitFor();
    expect(await found(page)).toEqual([]);
    await picture(page, 'secrets-zh');
    await key().fill(value);
    await key().press('Enter');
    await page.getByRole('group', { name: '本次运行的密钥' }).waitFor();
    await page.getByRole('button', { name: /^允许/ }).click();
    await page.getByText('NOTES_KEY 未填写', { exact: false }).waitFor();
    expect(await found(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await picture(page, 'secrets-approval-zh');
  });
});

describe('skills with secrets and a token', () => {
  it('are forgotten with the session: who signs in next is asked again', async () => {
    const server = await new Server({ token: 'let-me-in' }).start();
    const v = await visit(server);
    const { page } = v;
    const enter = async (): Promise<void> => {
      await page.getByLabel('Token').fill('let-me-in');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    };
    const head = skill('NOTES_KEY');
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(zipped({ 'SKILL.md': head }))]), 'tidy-notes.skill');
    await fetch(`${server.url}/skills/upload`, {
      method: 'POST',
      body: form,
      headers: { Authorization: 'Bearer let-me-in' },
    });
    await v.to('/');
    await enter();
    await v.say('hello inside');
    await v.sees('You said: hello inside');
    await v.quiet();
    const message = page.getByRole('textbox', { name: 'Message', exact: true });
    await message.fill('/tidy-notes use the key');
    await page.getByLabel('NOTES_KEY').fill(value);
    await v.context.clearCookies();
    await page.getByLabel('NOTES_KEY').press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await kept(page)).not.toContain(value);
    await enter();
    await v.sees(lost);
    await page.getByRole('alert').getByRole('button', { name: 'Edit' }).click();
    expect(await page.getByLabel('NOTES_KEY').inputValue()).toBe('');
    await page.getByLabel('NOTES_KEY').fill(value);
    await page.getByLabel('NOTES_KEY').press('Enter');
    await v.sees(`In short, the key has ${value.length}.`);
    await v.close();
    await server.close();
  });
});
