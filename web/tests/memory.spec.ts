// The page of the memory: what Pudu knows, why, and everything that can be done about it.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeBrowser, Server, type Visitor, visit } from './kit';

afterAll(closeBrowser);

interface Known {
  fact_id: string;
  content: string;
  category: string;
  agent: string;
  folder_id: string;
  confidence: number;
}

describe('the memory', () => {
  let server: Server;
  let v: Visitor;
  beforeEach(async () => {
    server = await new Server().start();
    v = await visit(server, { acceptDownloads: true });
  });
  afterEach(async () => {
    await v.close();
    await server.close();
  });

  const known = async (): Promise<Known[]> =>
    (await server.get<{ facts: Known[] }>('/memory/facts?status=active')).facts;
  const line = (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text });
  const why = (page: Page) => page.getByRole('complementary', { name: 'Why do I know this?' });

  it('begins empty, takes a fact for a scope, and refuses one that it has', async () => {
    const { page } = v;
    const { folder_id } = await server.post<{ folder_id: string }>('/folders', { name: 'Finance' });
    await server.post('/agents', { name: 'bookkeeper', description: '', soul: '' });
    await v.to('/');
    await page.getByRole('link', { name: 'Memory' }).click();
    await v.sees('Pudu knows nothing about you yet.');
    await page.getByRole('button', { name: 'Add' }).click();
    const form = page.getByRole('form', { name: 'Add' });
    await form.getByRole('button', { name: 'Add it' }).click();
    await form.getByRole('alert').getByText('Write what Pudu should know.').waitFor();
    await form.getByLabel('Fact').fill('Invoices are late after 30 days.');
    await form.getByLabel('Category').selectOption('Limit');
    await form.getByLabel('For whom').selectOption('Folder Finance only');
    await page.reload();
    expect(await form.getByLabel('Fact').inputValue()).toBe('Invoices are late after 30 days.');
    await form.getByRole('button', { name: 'Add it' }).click();
    await line(page, 'Invoices are late after 30 days.')
      .getByText('Limit · Folder Finance only · You wrote it')
      .waitFor();
    expect(await known()).toMatchObject([{ category: 'constraint', folder_id, agent: '', confidence: 1 }]);
    await form.waitFor({ state: 'hidden' }); // the news may come before the answer that closes it
    await page.getByRole('button', { name: 'Add' }).click();
    await form.getByLabel('Fact').fill('invoices are late after 30 days.');
    await form.getByLabel('For whom').selectOption('Folder Finance only');
    await form.getByRole('button', { name: 'Add it' }).click();
    await form.getByRole('alert').getByText('Pudu knows this already.').waitFor();
    await form.getByLabel('Fact').fill('Always shows its sums.');
    await form.getByLabel('For whom').selectOption('Agent bookkeeper only');
    await form.getByRole('button', { name: 'Add it' }).click();
    await form.waitFor({ state: 'hidden' }); // it has a field of the same name
    await page.getByLabel('For whom').selectOption('Agent bookkeeper only');
    await line(page, 'Invoices').waitFor({ state: 'detached' });
    await line(page, 'Always shows its sums.').waitFor();
  });

  it('is searched, shown by kind, and kept up to date by the news', async () => {
    const { page } = v;
    await server.post('/memory/facts', {
      content: 'Writes English with us, Swedish to customers.',
      category: 'preference',
    });
    await server.post('/memory/facts', { content: 'The search machine has 16 cores.', category: 'context' });
    await server.post('/memory/facts', { content: 'Never say dear customer.', category: 'correction' });
    await v.to('/c?find=');
    await page.getByRole('combobox').fill('memo');
    await page.getByRole('option', { name: 'Memory' }).click();
    for (const kind of ['You', 'Work', 'Learned'])
      await page.getByRole('heading', { name: new RegExp(`^${kind} 1$`) }).waitFor();
    await page.getByRole('button', { name: 'Learned' }).click();
    await line(page, '16 cores').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.getByRole('searchbox', { name: 'Search 3 facts' }).fill('swedish');
    await line(page, '16 cores').waitFor({ state: 'detached' });
    await expect.poll(() => line(page, 'Writes English').locator('mark').innerText()).toBe('Swedish');
    await page.getByRole('searchbox').fill('nobody knows');
    await v.sees('Nothing found for “nobody knows”.');
    await page.getByRole('searchbox').fill('');
    await line(page, '16 cores').waitFor();
    await server.post('/memory/facts', { content: 'Told by another client.', category: 'context' });
    await line(page, 'Told by another client.').waitFor();
  });

  it('tells why a fact is known, changes it, and has its history', async () => {
    const { page } = v;
    await server.post('/memory/facts', { content: 'The machine has 32 GB.', category: 'context' });
    await v.to('/library/memory');
    await page.getByRole('button', { name: 'The machine has 32 GB.' }).click();
    await why(page).getByText('Context · All tasks · You wrote it').waitFor();
    await why(page).getByRole('button', { name: 'Edit' }).click();
    await why(page).getByLabel('Fact').fill('The machine has 64 GB.');
    await why(page).getByRole('button', { name: 'Save' }).click();
    await why(page).getByText('It was “The machine has 32 GB.”').waitFor();
    await line(page, 'The machine has 64 GB.').first().waitFor();
    await page.goBack();
    await why(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'History' }).click();
    await page
      .getByRole('listitem')
      .filter({ hasText: /Changed: The machine has 64 GB\./ })
      .waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: /Added: The machine has 32 GB\./ })
      .waitFor();
  });

  it('is told to a run, which says so beside it', async () => {
    const { page } = v;
    await server.post('/memory/facts', {
      content: 'Answers have one sentence.',
      category: 'preference',
      confidence: 1,
    });
    const at = await v.say('hello memory');
    await v.sees('You said: hello memory');
    await v.to(`${at}?panel=run`);
    const fact = page
      .getByRole('complementary', { name: 'Panel' })
      .getByRole('link', { name: 'Answers have one sentence.' });
    await fact.click();
    await page.waitForURL(/\/library\/memory\?fact=/);
    await why(page).getByText('Preference · All tasks · You wrote it').waitFor();
  });

  it('asks about what is not the words of the user, and brings back what was refused', async () => {
    const { page } = v;
    // No client can make a fact that waits, but a file can have one.
    const propose = (): Promise<unknown> =>
      server.post('/memory/import', {
        facts: [{ id: 'attic', content: 'The archive is on the drive named Attic.', status: 'proposed' }],
      });
    await propose();
    await v.to('/library/memory');
    const asked = page.getByRole('region', { name: 'Pudu would like to keep 1' });
    await asked.getByRole('button', { name: /^No/ }).click();
    await asked.waitFor({ state: 'detached' });
    expect(await known()).toEqual([]);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Replaced and refused' }).click();
    await line(page, 'Attic').getByRole('button', { name: 'Put back' }).click();
    await v.sees('Nothing was replaced or refused');
    expect(await known()).toMatchObject([{ content: 'The archive is on the drive named Attic.' }]);
    await propose();
    await v.to('/library/memory');
    await asked.getByRole('button', { name: /^Keep/ }).click();
    await page.getByRole('heading', { name: 'Work 1' }).waitFor();
  });

  it('forgets with ten seconds to take it back, and at once when the page is left', async () => {
    const { page } = v;
    for (const content of ['First fact.', 'Second fact.', 'Third fact.'])
      await server.post('/memory/facts', { content, category: 'context' });
    await v.to('/library/memory');
    const forget = async (text: string): Promise<void> => {
      await page.getByRole('button', { name: text }).click();
      await why(page).getByRole('button', { name: 'Forget' }).click();
      await line(page, text).waitFor({ state: 'detached' });
    };
    await forget('First fact.');
    await page.getByRole('button', { name: 'Undo' }).click();
    await line(page, 'First fact.').waitFor();
    await forget('First fact.');
    await forget('Second fact.'); // whose line takes the place of the first one's
    await expect
      .poll(async () => (await known()).map((f) => f.content).sort())
      .toEqual(['Second fact.', 'Third fact.']);
    await page.reload();
    await expect.poll(async () => (await known()).map((f) => f.content)).toEqual(['Third fact.']);
    let lost = 0; // a browser may lose what a page says as it goes
    await page.route('**/memory/facts/*', (r) =>
      r.request().method() === 'DELETE' && lost++ === 0 ? r.abort() : r.continue(),
    );
    await forget('Third fact.');
    await page.reload();
    await expect.poll(async () => (await known()).map((f) => f.content)).toEqual([]);
  });

  it('is exported, forgotten as a whole, and imported again', async () => {
    const { page } = v;
    await server.post('/memory/facts', { content: 'Reports have two pages.', category: 'preference' });
    await v.to('/library/memory');
    await line(page, 'Reports').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export' }).click(),
    ]);
    const file = await download.path();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ facts: [{ content: 'Reports have two pages.' }] });
    const menu = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await menu('Take back the last reading');
    await v.sees('There is nothing to take back');
    await menu('Forget everything');
    await page
      .getByRole('dialog', { name: 'Forget everything?' })
      .getByRole('button', { name: 'Forget everything' })
      .click();
    await v.sees('Pudu knows nothing about you yet.');
    expect(await known()).toEqual([]);
    const choose = page.locator('input[type="file"]');
    await choose.setInputFiles({ name: 'notes.json', mimeType: 'application/json', buffer: Buffer.from('[1]') });
    await v.sees(/notes\.json is no memory file/);
    await choose.setInputFiles({ name: 'pudu.json', mimeType: 'application/json', buffer: readFileSync(file) });
    const dialog = page.getByRole('dialog', { name: 'Import pudu.json?' });
    await dialog.getByText('It has 1 fact. They take the place of the 0 facts that Pudu knows now.').waitFor();
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await line(page, 'Reports have two pages.').waitFor();
  });
});
