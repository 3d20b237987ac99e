// Tasks as a list: pinned, renamed, archived, deleted and taken back, put into folders, taken out as files.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';

describe('tasks', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  afterEach(() => v.close());
  const begin = async (options = {}): Promise<Page> => (v = await visit(server, options)).page;
  const side = (page: Page) => page.getByRole('navigation', { name: 'All tasks' });
  const row = (page: Page, title: string) => side(page).getByRole('link', { name: title, exact: true });
  const menu = async (page: Page, title: string, ...choices: string[]): Promise<void> => {
    await row(page, title).hover();
    await side(page)
      .getByRole('button', { name: `More about ${title}` })
      .click();
    for (const name of choices)
      await page.getByRole(/^(Finance|No folder)/.test(name) ? 'menuitemradio' : 'menuitem', { name }).click();
  };

  it('fault 8: are renamed in place, by the menu and by F2: one title, in every tab', async () => {
    const page = await begin();
    const address = `/c/${await server.task('rename me please')}`;
    await v.to(address);
    const other = await v.tab();
    await other.goto(server.url + address);
    await row(other, 'rename me please').waitFor();
    await menu(page, 'rename me please', 'Rename');
    const field = page.getByRole('textbox', { name: 'Title' });
    await field.fill('Never kept');
    await page.keyboard.press('Escape');
    await row(page, 'rename me please').waitFor();
    await row(page, 'rename me please').focus();
    await page.keyboard.press('F2');
    await field.fill('A better name');
    await page.keyboard.press('Enter');
    for (const p of [page, other]) {
      await row(p, 'A better name').waitFor();
      await expect.poll(() => p.title()).toBe('A better name · Pudu');
      await expect.poll(() => p.getByRole('heading', { level: 1 }).textContent()).toBe('A better name');
    }
    await page.reload();
    await row(page, 'A better name').waitFor();
  });

  it('fault 9: have the title of the words that were typed, not of what comes with them', async () => {
    const page = await begin();
    await v.to('/');
    await page
      .locator('input[type=file]')
      .setInputFiles([{ name: 'numbers.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') }]);
    await page.getByRole('button', { name: 'Remove numbers.csv' }).waitFor();
    await page.getByRole('textbox', { name: 'Task' }).fill('sum the numbers');
    await page.keyboard.press('Enter');
    await row(page, 'sum the numbers').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('sum the numbers');
  });

  it('are pinned and archived, with a way back, by the menu and by the key', async () => {
    const page = await begin();
    await server.task('keep this one');
    await v.to('/');
    await menu(page, 'keep this one', 'Pin');
    await page.getByRole('region', { name: 'Pinned' }).getByRole('link', { name: 'keep this one' }).waitFor();
    await row(page, 'keep this one').focus();
    await page.keyboard.press('e');
    await v.sees('“keep this one” archived.');
    await row(page, 'keep this one').waitFor({ state: 'detached' });
    // What is done last stays, also when what was done before it takes longer on its way.
    let held = false;
    let answered = 0;
    page.on('response', (r) => (answered += /\/marks$/.test(r.url()) ? 1 : 0));
    await page.route(/\/marks$/, async (route) => {
      const first = !held;
      held = true;
      if (first) await page.waitForTimeout(1000);
      await route.continue();
    });
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, 'keep this one').waitFor();
    await row(page, 'keep this one').focus();
    await page.keyboard.press('e');
    await row(page, 'keep this one').waitFor({ state: 'detached' });
    await expect.poll(() => answered).toBe(2);
    await v.to('/c?state=archived');
    await page.locator('.task-line', { hasText: 'keep this one' }).waitFor();
    await page.reload();
    await row(page, 'keep this one').waitFor({ state: 'detached' });
  });

  it('are put into the bin behind what was done with them before', async () => {
    const page = await begin();
    await server.task('pinned, then deleted');
    await v.to('/');
    await row(page, 'pinned, then deleted').waitFor();
    const done: string[] = [];
    page.on('response', (r) => done.push(...(/\/(marks|trash)$/.exec(r.url())?.slice(1) ?? [])));
    await page.route(/\/marks$/, async (route) => {
      await page.waitForTimeout(1000);
      await route.continue();
    });
    await menu(page, 'pinned, then deleted', 'Pin');
    await menu(page, 'pinned, then deleted', 'Delete');
    await expect.poll(() => done).toEqual(['marks', 'trash']);
  });

  it('fault 10: are deleted with ten seconds to undo, held by the pointer, and stay in the bin', async () => {
    const page = await begin({ bypassCSP: true });
    const thread = await server.task('delete me');
    await v.to(`/c/${thread}`);
    await v.sees('You said: delete me');
    await page.clock.install();
    await menu(page, 'delete me', 'Delete');
    await v.sees('“delete me” deleted.');
    await page.waitForURL((url) => url.pathname === '/');
    await row(page, 'delete me').waitFor({ state: 'detached' });
    const toast = page.locator('.toast');
    await page.clock.runFor(8000);
    await toast.hover();
    await page.clock.runFor(20_000);
    expect(await toast.isVisible()).toBe(true);
    expect(await found(page)).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForURL((url) => url.pathname === `/c/${thread}`);
    await v.sees('You said: delete me');
    await menu(page, 'delete me', 'Delete');
    await toast.waitFor();
    await page.mouse.move(700, 10);
    await page.clock.runFor(11_000);
    await toast.waitFor({ state: 'detached' });
    await v.to(`/c/${thread}`);
    await page.getByText('This task is in the bin.').waitFor();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('This task is in the bin.').waitFor({ state: 'detached' });
    await menu(page, 'delete me', 'Delete');
    await row(page, 'delete me').waitFor({ state: 'detached' });
    await v.to('/c?state=bin');
    await page.getByRole('button', { name: 'Restore: delete me' }).click();
    await row(page, 'delete me').waitFor();
    await menu(page, 'delete me', 'Delete');
    await page.getByRole('button', { name: 'Delete for good: delete me' }).click();
    await page.getByRole('dialog').getByText('Delete “delete me” for good?').waitFor();
    expect(await found(page)).toEqual([]);
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete for good: delete me' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click();
    await v.sees('1 task deleted for good.');
    expect((await fetch(`${server.url}/threads/${thread}`)).status).toBe(404);
  });

  it('are put into folders, whose instructions and files their runs are told', async () => {
    const page = await begin({ bypassCSP: true });
    await server.task('move me');
    await v.to('/c?make=folder');
    await page.getByRole('textbox', { name: 'Name of the folder' }).fill('Finance');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/f\//);
    const address = new URL(page.url()).pathname;
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Our figures are in euros.');
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Instructions' }).inputValue()).toBe('Our figures are in euros.');
    await page.getByRole('button', { name: 'Save' }).click();
    await v.sees('Saved');
    const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('one line') });
    await page.locator('section input[type=file]').setInputFiles([file('rates.txt'), file('gone.txt')]);
    const files = page.getByRole('region', { name: 'Files' });
    await files.getByRole('link', { name: 'Download rates.txt' }).waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      files.getByRole('link', { name: 'Download rates.txt' }).click(),
    ]);
    expect(readFileSync((await saved.path()) ?? '', 'utf8')).toBe('one line');
    await files.getByRole('button', { name: 'Delete gone.txt' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click();
    await files.getByText('gone.txt').waitFor({ state: 'detached' });
    await menu(page, 'move me', 'Move to folder', 'Finance');
    await v.sees('“move me” is in Finance now.');
    await page.locator('.task-line', { hasText: 'move me' }).waitFor();
    await side(page)
      .getByRole('link', { name: /Finance\s*1/ })
      .waitFor();
    expect(await found(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'A new task in this folder' }).fill('what is in euros');
    await page.keyboard.press('Enter');
    await v.sees('You said: what is in euros');
    await side(page)
      .getByRole('link', { name: /Finance\s*2/ })
      .waitFor();
    const thread = new URL(page.url()).pathname.slice('/c/'.length);
    const [run] = await server.get<{ run_id: string }[]>(`/threads/${thread}/runs`);
    const call = async (): Promise<string> =>
      (await fetch(`${server.url}/threads/${thread}/runs/${run?.run_id}/calls/1`)).text();
    await expect.poll(call).toContain('Our figures are in euros.');
    expect(await call()).toContain('rates.txt');
    await v.to('/');
    await page.getByRole('button', { name: 'No folder' }).click();
    await page.getByRole('menuitemradio', { name: 'Finance' }).click();
    await page.getByRole('textbox', { name: 'Task' }).fill('begun in a folder');
    await page.keyboard.press('Enter');
    await v.sees('You said: begun in a folder');
    await side(page)
      .getByRole('link', { name: /Finance\s*3/ })
      .waitFor();
    await menu(page, 'begun in a folder', 'Move to folder', 'No folder');
    await side(page)
      .getByRole('link', { name: /Finance\s*2/ })
      .waitFor();
    await menu(page, 'move me', 'Move to folder', 'No folder');
    await side(page)
      .getByRole('link', { name: /Finance\s*1/ })
      .waitFor();
    await v.to(address);
    await page.getByRole('button', { name: 'More about this folder' }).click();
    await page.getByRole('menuitem', { name: 'Delete the folder' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the folder' }).click();
    await page.waitForURL((url) => url.pathname === '/c');
    await side(page)
      .getByRole('link', { name: /Finance/ })
      .waitFor({ state: 'detached' });
    await row(page, 'what is in euros').waitFor();
  });

  it('faults 8 and 19: that branch off say of what; a long title keeps its place beside the controls', async () => {
    const page = await begin();
    const title = 'A title that is too long for the header of a narrow page';
    const thread = await server.task('branch off');
    await server.post(`/threads/${thread}/marks`, { title }, 'PATCH');
    await v.to(`/c/${thread}`);
    await row(page, title).waitFor();
    await page.getByRole('button', { name: 'Branch from here' }).click();
    await row(page, `2 of ${title}`).waitFor();
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe(`2 of ${title}`);
    await page.getByRole('button', { name: 'Branch from here' }).click();
    await row(page, `3 of ${title}`).waitFor();
    for (const [width, least] of [
      [1440, 300],
      [1000, 300],
      [390, 190],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      const box = await page.getByRole('heading', { level: 1 }).boundingBox();
      expect(box?.width, `${width} px`).toBeGreaterThan(least);
      const after = await page.locator('.top .title .menu-button').boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(after?.x ?? 0);
    }
  });

  it('fault 18: keep the sidebar as it was set, whatever file is opened', async () => {
    const page = await begin();
    await v.say('make a report');
    await v.sees('The report is there.');
    const address = new URL(page.url()).pathname;
    const shown = () => page.locator('.side').isVisible();
    const closePanel = () => page.getByRole('button', { name: 'Close the panel' }).click();
    for (const [width, beside] of [
      [1440, true],
      [1000, false],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      await v.to(`${address}?panel=files&file=outputs/report.md`);
      await page.locator('.panel').getByText('Three best months').first().waitFor();
      expect(await shown()).toBe(beside);
      await closePanel();
      expect(await shown()).toBe(true);
    }
    await page.keyboard.press('Control+b');
    await v.to(`${address}?panel=files&file=outputs/report.md`);
    await page.locator('.panel').getByText('Three best months').first().waitFor();
    await closePanel();
    expect(await shown()).toBe(false);
  });

  it('are as before when the server does not do what was asked, which says why', async () => {
    const page = await begin();
    await server.task('stay with me');
    await v.to('/');
    await row(page, 'stay with me').waitFor();
    await page.route('**/trash', (route) => route.fulfill({ status: 507, json: { detail: 'The disk is full.' } }));
    await menu(page, 'stay with me', 'Delete');
    await v.sees(/The disk is full/);
    await row(page, 'stay with me').waitFor();
    await page.route('**/marks', (route) => route.abort());
    await row(page, 'stay with me').focus();
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'Title' }).fill('<img src=x onerror=alert(1)>');
    await page.keyboard.press('Enter');
    await v.sees(/The server cannot be reached/);
    await row(page, 'stay with me').waitFor();
    await page.unroute('**/marks');
    await menu(page, 'stay with me', 'Rename');
    await page.getByRole('textbox', { name: 'Title' }).fill('<img src=x onerror=alert(1)>');
    await page.keyboard.press('Enter');
    await row(page, '<img src=x onerror=alert(1)>').waitFor();
    await page.reload();
    await row(page, '<img src=x onerror=alert(1)>').waitFor();
    expect(await page.locator('.side img').count()).toBe(0);
  });

  it('are exported in three forms, and printed without what is no part of them', async () => {
    const page = await begin();
    const thread = await server.task('export me');
    await v.to(`/c/${thread}`);
    await v.sees('You said: export me');
    for (const [name, has] of [
      ['Markdown', 'You said: export me'],
      ['HTML page', '<html'],
      ['JSON', '"pudu.transcript"'],
    ] as const) {
      const [file] = await Promise.all([page.waitForEvent('download'), menu(page, 'export me', 'Export', name)]);
      expect(file.suggestedFilename()).toMatch(/export.me/);
      expect(readFileSync((await file.path()) ?? '', 'utf8')).toContain(has);
    }
    await page.evaluate(() =>
      Object.assign(globalThis, { print: () => document.body.setAttribute('data-printed', 'yes') }),
    );
    await menu(page, 'export me', 'Export', 'Print or save as PDF');
    await page.locator('body[data-printed]').waitFor();
    await page.waitForURL((url) => url.search === '');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByText('You said: export me').isVisible()).toBe(true);
    for (const hidden of ['.side', '.dock', '.turn-foot', '.top .btn'])
      expect(await page.locator(hidden).first().isVisible()).toBe(false);
    await page.emulateMedia({ media: 'screen' });
  });
});
