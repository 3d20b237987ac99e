// The toolbox: offered on the start page, installed with consent, with its progress and what went wrong.
import { createServer, type Server as Http, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { picture } from './picture';

afterAll(closeBrowser);

describe('the toolbox', () => {
  let index: Http;
  let held: ServerResponse[];
  let server: Server;
  let v: Visitor;
  beforeEach(async () => {
    held = [];
    // An index of packages that says nothing until it is told to, and then that it has none.
    index = createServer((_, res) => void held.push(res));
    await new Promise<void>((resolve) => index.listen(0, '127.0.0.1', resolve));
    server = await new Server({
      env: { PUDU_TOOLBOX_INDEX: `http://127.0.0.1:${(index.address() as AddressInfo).port}/simple` },
    }).start();
    v = await visit(server, { bypassCSP: true });
  });
  afterEach(async () => {
    await v.close();
    await server.close();
    index.closeAllConnections();
    await new Promise((resolve) => index.close(resolve));
  });

  it('is offered where it is not installed, once in a browser', async () => {
    const { page } = v;
    await v.to('/');
    const line = page.getByRole('complementary', { name: 'Toolbox' });
    await line.getByText('For Word, Excel, slides, PDF and charts Pudu needs its toolbox.').waitFor();
    expect(await found(page)).toEqual([]);
    await line.getByRole('button', { name: 'Not now' }).click();
    await line.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('textbox', { name: 'Task' }).waitFor();
    await v.quiet();
    expect(await line.count()).toBe(0);
    expect(held).toEqual([]); // nobody said yes
  });

  it('is installed in the settings, with its progress and what went wrong', async () => {
    const { page } = v;
    await v.to('/settings/general');
    await page.getByRole('link', { name: 'Toolbox' }).click();
    await v.sees('It is not installed.');
    await v.sees(/1\d\d MB are downloaded/);
    expect(await found(page)).toEqual([]);
    await picture(page, 'toolbox-light-1440');
    await page.getByRole('button', { name: /^Install, 1\d\d MB/ }).click();
    await page.getByRole('status').getByText('Downloads').waitFor();
    expect(await found(page)).toEqual([]);
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await page.reload();
    await page.getByRole('status').getByText('Downloads').waitFor(); // it goes on at the server
    index.removeAllListeners('request');
    index.on('request', (_, res) => void res.writeHead(404).end());
    for (const res of held) res.writeHead(404).end();
    await page
      .getByRole('alert')
      .getByText(/^It was not installed: /)
      .waitFor();
    await page.getByRole('button', { name: /^Install, / }).waitFor();
    expect(await server.get<object>('/toolbox')).toMatchObject({ state: 'missing' });
  });
});
