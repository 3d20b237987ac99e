// Tasks as a list: searched, pinned, renamed, archived, deleted and taken back, put into folders, taken out as files.
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
    await side(page).getByRole('button', { name: `More about ${title}` }).click();
    for (const name of choices) await page.getByRole(/^(Finance|No folder)/.test(name) ? 'menuitemradio' : 'menuitem', { name }).click();
  };
  /** Asks the server until what it finds has a text. */
  const indexed = async (q: string): Promise<void> => {
    await expect.poll(async () => (await (await fetch(`${server.url}/search?q=${encodeURIComponent(q)}`)).json()).length).toBeGreaterThan(0);
  };

  it('fault 17: are found by the palette as one types: tasks first, then messages, files, commands; a hit opens at its message', async () => {
    const page = await begin({ bypassCSP: true });
    const thread = await server.task('the zebra crossing');
    for (let i = 0; i < 3; i++)
      await fetch(`${server.url}/threads/${thread}/runs/wait`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ assistant_id: 'lead_agent', input: { messages: [{ type: 'human', content: `show everything ${i}` }] } }),
      });
    await indexed('zebra');
    await v.to('/');
    await row(page, 'the zebra crossing').waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search tasks, messages, files, commands' });
    await field.fill('zebra');
    const groups = page.getByRole('listbox').getByRole('group');
    await groups.nth(1).getByText('crossing').first().waitFor();
    expect(await groups.evaluateAll((all) => all.map((g) => g.getAttribute('aria-label')))).toEqual(['Tasks', 'Messages', 'Do']);
    expect(await groups.nth(1).locator('mark').first().textContent()).toBe('zebra');
    expect(await found(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#m-/);
    const said = page.locator('.sought');
    await said.waitFor();
    expect(await said.innerText()).toContain('zebra');
    await expect.poll(() => said.evaluate((e) => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    await page.goBack(); // to where it was opened, without the palette
    await page.waitForURL((url) => url.pathname === '/' && url.search === '');
    await page.keyboard.press('Control+k');
    await field.fill('nosuchword');
    await page.getByText('Nothing found for “nosuchword”.').waitFor();
    await page.getByRole('option', { name: 'New task: “nosuchword”' }).waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA'); // where the focus was
  });

  it('open at an old message too, which is loaded first', async () => {
    const page = await begin();
    const thread = await server.task('the old heron');
    const post = (path: string, body: object) =>
      fetch(server.url + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    const messages = Array.from({ length: 150 }, (_, i) => ({ type: i % 2 ? 'ai' : 'human', id: `msg-${i}`, content: `Message ${i} of many. `.repeat(8) }));
    expect((await post(`/threads/${thread}/state`, { values: { messages }, as_node: 'agent' })).status).toBe(200);
    await v.to(`/c/${thread}#m-msg-10`);
    await page.locator('.sought', { hasText: 'Message 10 of many' }).waitFor();
    await expect.poll(() => page.locator('.sought').evaluate((e) => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().top < innerHeight)).toBe(true);
    await v.to(`/c/${thread}#m-gone`);
    await v.sees('This message is no longer in the conversation.');
  });

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
    await page.locator('input[type=file]').setInputFiles([{ name: 'numbers.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') }]);
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

  it('fault 17: are on a page: by state, found with their messages, and nothing found says so', async () => {
    const page = await begin();
    await server.task('the wandering albatross');
    await v.say('ask which');
    await v.sees('Which quarter do you mean?');
    await indexed('albatross');
    await v.to('/c');
    await page.locator('.task-line', { hasText: 'the wandering albatross' }).waitFor();
    await page.getByRole('button', { name: 'Needs you', exact: true }).click();
    await page.locator('.task-line', { hasText: 'ask which' }).waitFor();
    expect(await page.locator('.task-line', { hasText: 'albatross' }).count()).toBe(0);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    const archived = await server.task('a pelican in the archive');
    await indexed('pelican');
    const marks = { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: '{"archived":true}' };
    expect((await fetch(`${server.url}/threads/${archived}/marks`, marks)).status).toBe(200);
    await page.getByRole('searchbox').fill('pelican');
    await page.getByText('Nothing found for “pelican”. Search archived tasks too?').waitFor();
    await page.getByRole('button', { name: 'Search archived tasks too' }).click();
    await page.locator('.task-line', { hasText: 'a pelican in the archive' }).first().waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.getByRole('searchbox').fill('wandering');
    await page.locator('.task-line', { hasText: 'You said' }).waitFor();
    expect(new URL(page.url()).search).toBe('?q=wandering');
    await page.locator('.task-line', { hasText: 'You said' }).getByRole('link').click();
    await page.locator('.sought', { hasText: 'albatross' }).waitFor();
    await page.goBack();
    expect(await page.getByRole('searchbox').inputValue()).toBe('wandering');
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
    const [saved] = await Promise.all([page.waitForEvent('download'), files.getByRole('link', { name: 'Download rates.txt' }).click()]);
    expect(readFileSync((await saved.path()) ?? '', 'utf8')).toBe('one line');
    await files.getByRole('button', { name: 'Delete gone.txt' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click();
    await files.getByText('gone.txt').waitFor({ state: 'detached' });
    await menu(page, 'move me', 'Move to folder', 'Finance');
    await v.sees('“move me” is in Finance now.');
    await page.locator('.task-line', { hasText: 'move me' }).waitFor();
    await side(page).getByRole('link', { name: /Finance\s*1/ }).waitFor();
    expect(await found(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'A new task in this folder' }).fill('what is in euros');
    await page.keyboard.press('Enter');
    await v.sees('You said: what is in euros');
    await side(page).getByRole('link', { name: /Finance\s*2/ }).waitFor();
    const thread = new URL(page.url()).pathname.slice('/c/'.length);
    const runs = await (await fetch(`${server.url}/threads/${thread}/runs`)).json();
    const call = async (): Promise<string> => (await fetch(`${server.url}/threads/${thread}/runs/${runs[0].run_id}/calls/1`)).text();
    await expect.poll(call).toContain('Our figures are in euros.');
    expect(await call()).toContain('rates.txt');
    await v.to('/');
    await page.getByRole('button', { name: 'No folder' }).click();
    await page.getByRole('menuitemradio', { name: 'Finance' }).click();
    await page.getByRole('textbox', { name: 'Task' }).fill('begun in a folder');
    await page.keyboard.press('Enter');
    await v.sees('You said: begun in a folder');
    await side(page).getByRole('link', { name: /Finance\s*3/ }).waitFor();
    await menu(page, 'begun in a folder', 'Move to folder', 'No folder');
    await side(page).getByRole('link', { name: /Finance\s*2/ }).waitFor();
    await menu(page, 'move me', 'Move to folder', 'No folder');
    await side(page).getByRole('link', { name: /Finance\s*1/ }).waitFor();
    await v.to(address);
    await page.getByRole('button', { name: 'More about this folder' }).click();
    await page.getByRole('menuitem', { name: 'Delete the folder' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the folder' }).click();
    await page.waitForURL((url) => url.pathname === '/c');
    await side(page).getByRole('link', { name: /Finance/ }).waitFor({ state: 'detached' });
    await row(page, 'what is in euros').waitFor();
  });

  it('faults 8 and 19: that branch off say of what; a long title keeps its place beside the controls', async () => {
    const page = await begin();
    const title = 'A title that is too long for the header of a narrow page';
    const thread = await server.task('branch off');
    const marks = { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ title }) };
    expect((await fetch(`${server.url}/threads/${thread}/marks`, marks)).status).toBe(200);
    await v.to(`/c/${thread}`);
    await row(page, title).waitFor();
    await page.getByRole('button', { name: 'Branch from here' }).click();
    await row(page, `2 of ${title}`).waitFor();
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe(`2 of ${title}`);
    await page.getByRole('button', { name: 'Branch from here' }).click();
    await row(page, `3 of ${title}`).waitFor();
    for (const [width, least] of [[1440, 300], [1000, 300], [390, 190]] as const) {
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
    for (const [width, beside] of [[1440, true], [1000, false]] as const) {
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
    for (const [name, has] of [['Markdown', 'You said: export me'], ['HTML page', '<html'], ['JSON', '"pudu.transcript"']] as const) {
      const [file] = await Promise.all([page.waitForEvent('download'), menu(page, 'export me', 'Export', name)]);
      expect(file.suggestedFilename()).toMatch(/export.me/);
      expect(readFileSync((await file.path()) ?? '', 'utf8')).toContain(has);
    }
    await page.evaluate(() => Object.assign(globalThis, { print: () => document.body.setAttribute('data-printed', 'yes') }));
    await menu(page, 'export me', 'Export', 'Print or save as PDF');
    await page.locator('body[data-printed]').waitFor();
    await page.waitForURL((url) => url.search === '');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByText('You said: export me').isVisible()).toBe(true);
    for (const hidden of ['.side', '.dock', '.turn-foot', '.top .btn']) expect(await page.locator(hidden).first().isVisible()).toBe(false);
    await page.emulateMedia({ media: 'screen' });
  });
});
