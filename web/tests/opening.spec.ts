// How a task opens: what it is made of is asked for at once, the newest turns stand there first, and nothing moves.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { watchShifts } from './shifts';

describe('a task', () => {
  const server = new Server();
  let v: Visitor;
  let thread = '';
  const turns = 30;
  beforeAll(async () => {
    await server.start();
    thread = (await server.post<{ thread_id: string }>('/threads', {})).thread_id;
    const messages = Array.from({ length: 2 * turns }, (_, i) => ({
      id: `m${i}`,
      type: i % 2 ? 'ai' : 'human',
      content: `Message ${i}. ${'It has some words. '.repeat(i % 7)}`,
    }));
    await server.post(`/threads/${thread}/state`, { values: { messages } });
  });
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  afterEach(() => v.close());

  it('is asked for before the scripts of the page are there, each part once', async () => {
    v = await visit(server);
    await v.to(`/c/${thread}`);
    await v.sees(`Message ${2 * turns - 1}.`);
    const asked = await v.page.evaluate(() => {
      const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
      const all = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      return all.map((e) => ({
        what: e.name.replace(/^.*\/([a-z]+)(-[^/]*)?(\?.*)?$/, '$1').replace(/^.*\//, ''),
        early: e.startTime < (page?.domInteractive ?? 0),
      }));
    });
    for (const what of ['page', 'steers'])
      expect(
        asked.filter((a) => a.what === what),
        what,
      ).toEqual([{ what, early: true }]);
    expect(asked.find((a) => a.what === 'runs')?.early).toBe(true);
    expect(await v.page.locator('head link[rel=modulepreload][href*="/assets/task-"]').count()).toBe(1);
  });

  it('stands at its end while the older turns come above, and nothing moves', async () => {
    v = await visit(server);
    const moved = await watchShifts(v.page);
    await v.page.addInitScript(() => {
      const w = window as unknown as { first: number };
      new MutationObserver(() => (w.first ||= document.querySelectorAll('.turn').length)).observe(document, {
        childList: true,
        subtree: true,
      });
    });
    await v.to(`/c/${thread}`);
    await expect.poll(() => v.page.locator('.turn').count()).toBe(turns);
    expect(await v.page.evaluate(() => (window as unknown as { first: number }).first)).toBeLessThan(turns);
    await expect
      .poll(() =>
        v.page.evaluate(() => {
          const box = document.querySelector('.scroll') as HTMLElement;
          return box.scrollHeight - box.clientHeight - box.scrollTop;
        }),
      )
      .toBeLessThan(2);
    expect(await moved()).toEqual([]);
  });

  it('at a message of long ago has all turns at once', async () => {
    v = await visit(server);
    await v.to(`/c/${thread}#m-m1`);
    await v.page.locator('.sought', { hasText: 'Message 1.' }).waitFor();
  });

  it('opens from the list in a frame that stays, without a file more', async () => {
    v = await visit(server);
    await v.to('/');
    // What is loaded for later when there is time: the page of a task, and the palette.
    for (const file of ['task', 'Palette'])
      await v.page.waitForFunction(
        (f) => performance.getEntriesByType('resource').some((e) => e.name.includes(`/assets/${f}-`)),
        file,
      );
    const row = v.page.locator(`.side a[href$="/c/${thread}"]`);
    await row.waitFor();
    await v.quiet();
    const files: string[] = [];
    // Chromium asks for the icon again when the address changes: where it has always been.
    const known = `${server.url}/assets/icon-`;
    v.page.on('request', (r) => void (/\/assets\//.test(r.url()) && !r.url().startsWith(known) && files.push(r.url())));
    await row.click();
    await v.sees(`Message ${2 * turns - 1}.`);
    expect(files).toEqual([]);
  });

  it('shows a still dot for what runs to who wants no motion', async () => {
    v = await visit(server, { reducedMotion: 'reduce' });
    await v.say('work for a while');
    const ring = v.page.locator('.step .st.live svg').first();
    await ring.waitFor();
    expect(
      await ring.evaluate((svg) => {
        const part = (name: string): CSSStyleDeclaration => getComputedStyle(svg.querySelector(name) as Element);
        return [getComputedStyle(svg).animationName, part('.bg').display, part('.fg').fill === 'none', part('.fg').r];
      }),
    ).toEqual(['none', 'none', false, '4px']);
    await v.page.keyboard.press('Control+.');
  });
});
