// What the server tells while a page is still being made: nothing of it may be missed, however slow the page is.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { watchShifts } from './shifts';

afterAll(closeBrowser);

/** Holds back the answers of the server to requests until they may arrive; tells when there is a first one. */
async function hold(page: Page, requests: string): Promise<{ answered: Promise<void>; arrive: () => void }> {
  let arrive = (): void => {};
  let came = (): void => {};
  const delay = new Promise<void>((resolve) => (arrive = resolve));
  const answered = new Promise<void>((resolve) => (came = resolve));
  await page.route(requests, async (r) => {
    const response = await r.fetch();
    came();
    await delay;
    await r.fulfill({ response });
  });
  return { answered, arrive };
}

describe('news', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => v.close());

  /** Has a task begun elsewhere that waits for somebody, and comes back with its id when the server says so. */
  async function asked(): Promise<string> {
    const thread = crypto.randomUUID();
    await server.post('/threads', { thread_id: thread });
    await server.post(`/threads/${thread}/runs`, {
      assistant_id: 'lead_agent',
      input: { messages: [{ type: 'human', content: 'it needs approval' }] },
    });
    const waiting = async (): Promise<boolean> =>
      (await (await fetch(`${server.url}/news?state=waiting`)).text()).includes(thread);
    await expect.poll(waiting).toBe(true);
    return thread;
  }

  it('that come while the list is on its way are newer than the list', async () => {
    v = await visit(server);
    const { page } = v;
    const { answered, arrive } = await hold(page, '**/news?*');
    await page.addInitScript(() => {
      const w = window as unknown as { heard: string };
      w.heard = '';
      const Real = SharedWorker;
      window.SharedWorker = class extends Real {
        constructor(...args: ConstructorParameters<typeof SharedWorker>) {
          super(...args);
          this.port.addEventListener(
            'message',
            (e: MessageEvent<{ event: string; data: { thread_id?: string; state?: string } | null }>) => {
              w.heard += e.data.event;
              if (e.data.data?.state === 'waiting') w.heard += e.data.data.thread_id;
            },
          );
        }
      };
    });
    await v.to('/library/agents');
    await answered;
    const hears = (what: string): Promise<unknown> =>
      page.waitForFunction((w) => (window as unknown as { heard: string }).heard.includes(w), what);
    await hears('open'); // it has joined, and the stream is there
    await hears(await asked());
    expect(await page.getByRole('heading', { name: 'Needs you' }).count()).toBe(0);
    arrive();
    await page.getByRole('heading', { name: 'Needs you' }).waitFor();
  });

  it.each(['there', 'on its way'])(
    'that came before a page had joined the tabs that listen are read by it, when its list is %s',
    async (list) => {
      v = await visit(server);
      await v.to('/library/agents');
      const waiting = (page: Page): Promise<number> =>
        page.getByRole('region', { name: 'Needs you' }).getByRole('link').count();
      const listed = (page: Page): Promise<void> =>
        page.getByRole('navigation', { name: 'All tasks' }).getByRole('link', { name: 'All tasks' }).waitFor();
      await listed(v.page);
      const before = await waiting(v.page);
      const late = await v.tab();
      await late.addInitScript(() => {
        const Real = SharedWorker;
        const w = window as unknown as { join: () => void };
        window.SharedWorker = class {
          readonly port: MessagePort;
          constructor(...args: ConstructorParameters<typeof SharedWorker>) {
            const { port1, port2 } = new MessageChannel();
            this.port = port1;
            w.join = () => {
              const { port } = new Real(...args);
              port.onmessage = (e) => port2.postMessage(e.data);
              port2.onmessage = (e) => port.postMessage(e.data);
            };
          }
        } as unknown as typeof SharedWorker;
      });
      const held = await hold(late, '**/news?*');
      await late.goto(`${server.url}/library/agents`);
      await held.answered;
      if (list === 'there') {
        held.arrive();
        await listed(late);
      }
      await asked();
      await expect.poll(() => waiting(v.page)).toBe(before + 1);
      expect(await waiting(late)).toBe(list === 'there' ? before : 0);
      await late.evaluate(() => (window as unknown as { join: () => void }).join());
      held.arrive();
      await expect.poll(() => waiting(late)).toBe(before + 1);
    },
  );

  it('of a run that began while its task was being loaded are followed', async () => {
    v = await visit(server);
    const { page } = v;
    const at = await v.say('hello loading');
    await v.sees('You said: hello loading');
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    const late = await v.tab();
    let arrive = (): void => {};
    const delay = new Promise<void>((resolve) => (arrive = resolve));
    const answered = new Promise<void>((resolve) => {
      let first = true;
      void late.route('**/runs?*', async (r) => {
        if (!first) return await r.continue();
        first = false;
        const response = await r.fetch();
        resolve();
        await delay;
        await r.fulfill({ response });
      });
    });
    await late.goto(server.url + at);
    await answered;
    await page.getByRole('textbox', { name: 'Message' }).fill('a long story');
    await page.keyboard.press('Enter');
    await v.sees('Sentence number 2 ');
    arrive();
    await late.getByText('Sentence number 3 ').waitFor();
    await page.keyboard.press('Control+.'); // on a slow machine it may be over already
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
  });

  it('of what stands on the desk of the start page move nothing there', async () => {
    // All that the tests above have left on the desk has room.
    v = await visit(server, { viewport: { width: 1440, height: 1400 } });
    const { page } = v;
    const state = async (thread: string): Promise<string> =>
      (await server.get<{ threads: { thread_id: string; state: string }[] }>('/news')).threads.find(
        (t) => t.thread_id === thread,
      )?.state ?? '';
    const threads = [crypto.randomUUID(), crypto.randomUUID()];
    for (const thread_id of threads) {
      await server.post('/threads', { thread_id });
      await server.post(`/threads/${thread_id}/runs`, {
        assistant_id: 'lead_agent',
        input: { messages: [{ type: 'human', content: 'hello there' }] },
      });
      await expect.poll(() => state(thread_id)).toBe('answered');
    }
    const moved = await watchShifts(page);
    await v.to('/');
    const rows = page.locator('.deskrow');
    await rows.last().locator('.st.new').waitFor();
    const before = await rows.evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    expect(before.slice(-2)).toEqual([...threads].reverse().map((id) => `/c/${id}`));
    await fetch(`${server.url}/threads/${threads[1]}/read`, { method: 'PUT' });
    await rows
      .nth(before.length - 2)
      .locator('.st:not(.new)')
      .waitFor();
    await asked(); // what comes stands below what is there
    await expect.poll(() => rows.count()).toBe(before.length + 1);
    expect((await rows.evaluateAll((all) => all.map((a) => a.getAttribute('href')))).slice(0, -1)).toEqual(before);
    expect(await moved()).toEqual([]);
  });
});
