// Tasks that are searched: by the palette, on their page, at a message.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';

describe('tasks that are searched', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  afterEach(() => v.close());
  const begin = async (options = {}): Promise<Page> => (v = await visit(server, options)).page;
  /** Asks the server until what it finds has a text. */
  const indexed = async (q: string): Promise<void> => {
    await expect
      .poll(async () => (await server.get<unknown[]>(`/search?q=${encodeURIComponent(q)}`)).length)
      .toBeGreaterThan(0);
  };

  it('fault 17: are found by the palette as one types: tasks first, then messages, files, commands; a hit opens at its message', async () => {
    const page = await begin({ bypassCSP: true });
    const thread = await server.task('the zebra crossing');
    for (let i = 0; i < 3; i++)
      await server.post(`/threads/${thread}/runs/wait`, {
        assistant_id: 'lead_agent',
        input: { messages: [{ type: 'human', content: `show everything ${i}` }] },
      });
    await indexed('zebra');
    await v.to('/');
    await page.getByRole('link', { name: 'the zebra crossing', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search tasks, messages, files, commands' });
    await field.fill('zebra');
    const groups = page.getByRole('listbox').getByRole('group');
    await groups.nth(1).getByText('crossing').first().waitFor();
    expect(await groups.evaluateAll((all) => all.map((g) => g.getAttribute('aria-label')))).toEqual([
      'Tasks',
      'Messages',
      'Do',
    ]);
    expect(await groups.nth(1).locator('mark').first().textContent()).toBe('zebra');
    expect(await found(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#m-/);
    const said = page.locator('.sought');
    await said.waitFor();
    expect(await said.innerText()).toContain('zebra');
    await expect
      .poll(() =>
        said.evaluate((e) => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().bottom <= innerHeight),
      )
      .toBe(true);
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
    const messages = Array.from({ length: 150 }, (_, i) => ({
      type: i % 2 ? 'ai' : 'human',
      id: `msg-${i}`,
      content: `Message ${i} of many. `.repeat(8),
    }));
    await server.post(`/threads/${thread}/state`, { values: { messages }, as_node: 'agent' });
    await v.to(`/c/${thread}#m-msg-10`);
    await page.locator('.sought', { hasText: 'Message 10 of many' }).waitFor();
    await expect
      .poll(() =>
        page
          .locator('.sought')
          .evaluate((e) => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().top < innerHeight),
      )
      .toBe(true);
    await v.to(`/c/${thread}#m-gone`);
    await v.sees('This message is no longer in the conversation.');
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
    await server.post(`/threads/${archived}/marks`, { archived: true }, 'PATCH');
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
});
