// What a browser has of one visitor is not there for the next, who may have the same context.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeBrowser, Server, visit } from './kit';

const server = new Server();
beforeAll(() => server.start());
afterAll(async () => {
  await closeBrowser();
  await server.close();
});

it('a visitor finds nothing of the one before', async () => {
  const one = await visit(server);
  await one.to('/manifest.webmanifest');
  const other = await one.tab();
  await other.goto(`${server.url}/manifest.webmanifest`);
  await other.evaluate(async () => {
    addEventListener('pagehide', () => localStorage.setItem('late', '1'));
    localStorage.setItem('a', '1');
    sessionStorage.setItem('a', '1');
    // biome-ignore lint/suspicious/noDocumentCookie: a cookie is what the test is about
    document.cookie = 'a=1; max-age=1000';
    await new Promise((done) => (indexedDB.open('a').onsuccess = done));
    await (await caches.open('a')).put('/a', new Response('1'));
  });
  const context = one.page.context();
  await one.close();
  const two = await visit(server);
  await two.to('/manifest.webmanifest');
  const left = await two.page.evaluate(async () => [
    localStorage.length,
    sessionStorage.length,
    document.cookie,
    (await indexedDB.databases()).length,
    (await caches.keys()).length,
  ]);
  expect(left).toEqual([0, 0, '', 0, 0]);
  expect(two.page.context().pages().length).toBe(two.page.context() === context ? 2 : 1);
  await two.context.setOffline(true); // nobody comes after a test that has done something to the context
  await two.close();
  const three = await visit(server);
  expect(three.page.context()).not.toBe(two.context);
  await three.close();
});
