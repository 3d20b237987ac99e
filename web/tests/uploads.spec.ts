// Files that are added to a message: by the button, dropped, pasted; sent with it, cancelled, refused.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';

describe('files of a message', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  afterEach(() => v.close());
  const uploads = (address: string): string =>
    join(server.data, 'users/default/threads', address.slice('/c/'.length), 'user-data/uploads');
  const file = (name: string, text = 'a,b\n1,2\n') => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });

  it('begin a task: by the button, dropped and pasted; they outlive a reload, and open in the panel', async () => {
    v = await visit(server, { bypassCSP: true });
    const page = await v.to('/');
    await page.locator('input[type=file]').setInputFiles([file('one.csv'), file('gone.csv')]);
    const chips = page.getByRole('list', { name: 'Files of this message' });
    await chips.getByRole('button', { name: 'Remove one.csv' }).waitFor();
    await chips.getByRole('button', { name: 'Remove gone.csv' }).click();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(['dropped'], 'two.txt'));
      dispatchEvent(new DragEvent('dragenter', { dataTransfer: data }));
    });
    await v.sees('Drop files to add them');
    await page.evaluate(() => {
      const [dropped, pasted] = [new DataTransfer(), new DataTransfer()];
      dropped.items.add(new File(['dropped'], 'two.txt'));
      pasted.items.add(new File(['pasted'], 'three.txt'));
      dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, cancelable: true }));
      dispatchEvent(new ClipboardEvent('paste', { clipboardData: pasted, cancelable: true }));
    });
    await chips.getByRole('button', { name: 'Remove two.txt' }).waitFor();
    await chips.getByRole('button', { name: 'Remove three.txt' }).waitFor();
    expect(await page.getByText('Drop files to add them').count()).toBe(0);
    await page.reload();
    await chips.getByRole('button', { name: 'Remove three.txt' }).waitFor();
    expect(await found(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Task' }).fill('look at the upload');
    await page.keyboard.press('Enter');
    await v.sees('I have seen it.');
    const address = new URL(page.url()).pathname;
    await expect.poll(() => readdirSync(uploads(address)).sort()).toEqual(['one.csv', 'three.txt', 'two.txt']);
    expect(readFileSync(join(uploads(address), 'two.txt'), 'utf8')).toBe('dropped');
    await page.reload();
    await page.locator('.me .filechip').first().waitFor();
    expect(await found(page)).toEqual([]);
    await page.locator('.me').getByRole('button', { name: 'Open one.csv' }).click();
    await page.locator('.panel').getByRole('columnheader', { name: 'a' }).waitFor();
  });

  it('are waited for, and can be cancelled', async () => {
    v = await visit(server);
    const page = await v.to('/');
    let go: () => void = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    await page.route('**/uploads', async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    await page.locator('input[type=file]').setInputFiles([file('slow.csv'), file('never.csv')]);
    await page.getByRole('textbox', { name: 'Task' }).fill('look at the upload');
    await page.keyboard.press('Enter');
    await v.sees('It goes out when the files are there');
    expect(new URL(page.url()).pathname).toBe('/');
    const stopped = page.waitForEvent('requestfailed'); // else the browser may still let it go on
    await page.getByRole('button', { name: 'Stop sending never.csv' }).click();
    await stopped;
    go();
    await v.sees('I have seen it.');
    const folder = uploads(new URL(page.url()).pathname);
    expect(readdirSync(folder)).toEqual(['slow.csv']);
    await page.locator('.me').getByRole('button', { name: 'Open slow.csv' }).waitFor();
  });

  it('that are refused say why, and keep what was typed', async () => {
    v = await visit(server);
    const page = await v.to('/');
    await page.route('**/uploads/limits', (route) =>
      route.fulfill({ json: { max_files: 10, max_file_size: 20, max_total_size: 100 } }),
    );
    await page.locator('input[type=file]').setInputFiles([file('large.csv', 'x'.repeat(2000))]);
    await v.sees('large.csv is 2.0 KB; the limit is 20 B.');
    await page.getByRole('button', { name: 'Remove large.csv' }).click();
    await page.route('**/uploads', (route) => route.fulfill({ status: 507, json: { detail: 'The disk is full.' } }));
    await page.locator('input[type=file]').setInputFiles([file('full.csv')]);
    await v.sees('The disk is full.');
    await page.getByRole('textbox', { name: 'Task' }).fill('kept words');
    await page.unroute('**/uploads');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Remove full.csv' }).waitFor();
    expect(await page.getByText('The disk is full.').count()).toBe(0);
    expect(await page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('kept words');
    expect(existsSync(join(server.data, 'users/default/threads'))).toBe(true);
  });
});
