// The first run and the forms: from nothing to an answered task, models, agents, approvals, about me, sessions.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { goodKey, Provider } from './provider';

/** Pastes a text into the field that has the focus, as a person does. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((t) => navigator.clipboard.writeText(t), text);
  await page.keyboard.press('Control+v');
}

async function chooseMistral(page: Page): Promise<void> {
  await page.getByRole('radio', { name: /^Anthropic, Google/ }).check();
  await page.getByLabel('Provider').selectOption('Mistral');
}

const model = (page: Page) => page.getByRole('combobox', { name: 'Model' });

const pictures = process.env['PUDU_PICTURES'] ?? '';

/** A picture of the page for the documentation, in light and dark, wide and narrow. */
async function picture(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
      await page.screenshot({ path: `${pictures}/${name}-${colorScheme}-${width}.png` });
    }
  }
}

const pasting = { permissions: ['clipboard-read', 'clipboard-write'], bypassCSP: true };
const json = async <T>(url: string, headers: Record<string, string> = {}): Promise<T> => (await fetch(url, { headers })).json() as Promise<T>;

afterAll(closeBrowser);

describe('the first run', () => {
  const provider = new Provider();
  let server: Server;
  let v: Visitor;
  beforeAll(async () => {
    server = await new Server({ model: false, env: { MISTRAL_BASE_URL: await provider.start(), OLLAMA_HOST: '127.0.0.1:9' } }).start();
  });
  afterEach(() => v.close());
  afterAll(async () => {
    await server.close();
    await provider.close();
  });

  it('refuses a false key with the reason of the provider, and keeps everything typed but the key', async () => {
    v = await visit(server, pasting);
    const { page } = v;
    await v.to('/');
    await page.waitForURL('**/welcome');
    await chooseMistral(page);
    await model(page).fill('mine');
    await page.getByLabel(/^Key/).focus();
    await paste(page, 'sk-false-42');
    await page.getByRole('alert').getByText(/The test failed: .*401.*Incorrect API key/).waitFor();
    const before = provider.refused;
    await page.getByRole('button', { name: 'Use mine' }).click();
    await page.getByRole('alert').getByText(/It was not saved/).waitFor();
    expect(provider.refused).toBeGreaterThan(before);
    expect((await json<{ models: unknown[] }>(`${server.url}/config/models`)).models).toEqual([]);
    await page.reload();
    expect(await model(page).inputValue()).toBe('mine');
    expect(await page.getByLabel(/^Key/).inputValue()).toBe('');
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain('sk-false');
  });

  it('plays the demonstration, which says that it is one', async () => {
    v = await visit(server);
    await v.to('/welcome');
    await v.page.getByRole('button', { name: 'Play the demonstration' }).click();
    await v.page.getByRole('banner').or(v.page.locator('header.top')).getByText('Demonstration').waitFor();
    await v.page.locator('.turn-foot:not(.mine)').waitFor();
  });

  it('says that a test broke off when the server goes, and tests again', async () => {
    v = await visit(server, pasting);
    const { page } = v;
    await v.to('/welcome');
    await chooseMistral(page);
    provider.pause = 20_000;
    await page.getByLabel(/^Key/).focus();
    const tested = page.waitForResponse('**/config/models/test'); // before it the server cannot be reached, which is another sentence
    await paste(page, goodKey);
    await page.getByRole('list', { name: 'Result of the test' }).locator('.live').waitFor();
    await tested;
    await server.stop('SIGKILL');
    await page.getByRole('alert').getByText(/The test broke off/).waitFor();
    provider.pause = 0;
    await server.start();
    await page.getByRole('button', { name: 'Test again' }).click();
    await v.sees('It can do every kind of task.');
  });

  it('goes from nothing to an answered task', async () => {
    v = await visit(server, pasting);
    const { page } = v;
    await v.to('/welcome');
    await chooseMistral(page);
    expect(await found(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await found(page)).toEqual([]);
    await page.getByText('Ready. Commands see only').waitFor();
    expect(await page.getByRole('button', { name: /Tidy up notes/ }).count()).toBe(0);
    await page.getByLabel(/^Key/).focus();
    await paste(page, goodKey);
    const verdict = page.getByRole('list', { name: 'Result of the test' });
    await verdict.getByText('Calls tools').waitFor();
    await v.sees('It can do every kind of task.');
    await picture(page, 'first-run');
    await page.getByRole('button', { name: 'Use mistral-large-latest' }).click();
    await page.getByRole('heading', { name: 'Pudu is ready' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Pudu is ready');
    expect(await page.content()).not.toContain(goodKey);
    await page.getByRole('button', { name: /Tidy up notes/ }).click();
    await v.sees('Tom calls the landlord before Friday.');
    expect(JSON.stringify(await json(`${server.url}/config/models`))).not.toContain(goodKey);
  });
});

describe('a first run', () => {
  it('offers an Ollama that has come up meanwhile, without a key', async () => {
    const ollama = new Provider({ key: '', ollama: ['qwen3:8b', 'gemma4:12b'] });
    const at = new URL(await ollama.start());
    await ollama.close();
    const server = await new Server({ model: false, env: { OLLAMA_HOST: at.host } }).start();
    await ollama.start();
    const v = await visit(server);
    await v.to('/welcome');
    await v.sees('qwen3:8b and 1 other. No key, nothing leaves the machine.');
    await v.page.getByRole('button', { name: 'Use qwen3:8b' }).click();
    await v.page.getByRole('heading', { name: 'Pudu is ready' }).waitFor();
    await v.close();
    await server.close();
    await ollama.close();
  });

  it('with a token asks for it once, and where the sandbox is off says so and offers what works without', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'pudu-web-'));
    const script = new URL('./server/script.yaml', import.meta.url).pathname;
    writeFileSync(join(dir, 'c.yaml'), `models: [{name: m, provider: scripted, model: m, script: ${script}}]\nsandbox: {use: none}\n`);
    const server = await new Server({ config: join(dir, 'c.yaml'), token: 'open-sesame-open-sesame' }).start();
    const v = await visit(server);
    await v.to('/welcome');
    await v.page.getByLabel('Token').fill('open-sesame-open-sesame');
    await v.page.getByRole('button', { name: 'Sign in' }).click();
    await v.sees('The configuration turns it off');
    await v.sees('A browser is asked for it once.');
    expect(await v.page.locator('.starts b').allTextContents()).toEqual(['Read a table', 'Tidy up notes', 'Make a page']);
    await v.page.reload();
    await v.sees('The configuration turns it off');
    expect(await v.page.getByRole('dialog').count()).toBe(0);
    await v.close();
    await server.close();
  });
});

describe('forms', () => {
  const provider = new Provider();
  const server = new Server();
  const token = 'open-sesame-open-sesame';
  let address = '';
  let v: Visitor;
  beforeAll(async () => {
    address = await provider.start();
    await server.start();
  });
  afterEach(() => v.close());
  afterAll(async () => {
    await server.close();
    await provider.close();
  });

  it('of models add, test, change, choose and remove one, and show the last error', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/settings/models');
    await page.getByText('from the configuration file').first().waitFor();
    await page.getByRole('button', { name: 'Add a model' }).click();
    await page.getByRole('radio', { name: /^Any other server/ }).check();
    await page.getByLabel(/^Address/).fill('nonsense');
    await model(page).fill('mine');
    await page.getByText('Name and limits').click();
    await page.getByLabel('Name here').fill('own');
    await page.getByLabel(/^Key/).fill('sk-false');
    await page.getByRole('button', { name: 'Use mine' }).click();
    await page.getByRole('alert').getByText(/must be an address such as/).waitFor();
    expect(await page.getByLabel(/^Address/).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel(/^Address/).fill(address);
    await page.getByRole('button', { name: 'Use mine' }).click();
    await page.getByRole('alert').getByText(/It was not saved.*Incorrect API key/).waitFor();
    await page.getByLabel(/^Key/).fill(goodKey);
    const row = page.getByRole('listitem').filter({ hasText: 'own' });
    await page.route('**/config/models', async (r) => {
      const response = await r.fetch();
      if (r.request().method() === 'POST') await row.getByText('key sealed').first().waitFor(); // the news come before the answer
      await r.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Use mine' }).click();
    await row.getByText('works', { exact: true }).waitFor({ state: 'attached' }); // what the test before has shown
    await page.waitForURL(/\?model=own$/); // not before the list is there anew
    await page.goBack(); // the form is gone from the history: Back leads away from it, not into it
    await page.goForward();
    await row.getByRole('button', { name: 'Test everything' }).click();
    await v.sees('It can do every kind of task.');
    await picture(page, 'model-tested');
    await row.getByRole('button', { name: 'Make it the default' }).click();
    await row.getByText('default', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByText('Leave it empty to keep the key that it has.').waitFor();
    await page.getByText('Name and limits').click();
    await page.getByLabel('Shown as').fill('My own');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('My own').first().waitFor();
    await provider.close();
    await page.getByRole('button', { name: 'Test: own' }).click();
    await page.getByRole('alert').getByText(/The test failed: .*refused.*/).waitFor();
    await page.getByText('What helps:').waitFor();
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('link', { name: 'Models' }).click();
    await page.locator('.head small.bad', { hasText: 'refused' }).waitFor(); // the last error stays
    await page.getByText('My own').click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog', { name: 'Remove own?' }).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('My own').first().waitFor({ state: 'detached' });
    const { models, default: standard } = await json<{ models: { name: string }[]; default: string }>(`${server.url}/config/models`);
    expect([models.map((m) => m.name), standard]).toEqual([['scripted', 'other'], 'scripted']);
  });

  it('of agents make, change and delete one, and say nothing in the name of the user', async () => {
    v = await visit(server);
    const { page } = v;
    const before = await json<{ threads: unknown[] }>(`${server.url}/news`);
    await v.to('/library/agents?new');
    await page.getByLabel(/^Name/).fill('book keeper');
    await page.getByRole('alert').getByText('Only letters a to z, digits and hyphens.').waitFor();
    await page.getByLabel(/^Name/).fill('Bookkeeper');
    await page.getByLabel('Description').fill('Answers for invoices');
    await page.getByLabel('Instructions').fill('Show your sums.');
    await page.getByLabel('Model').selectOption('other');
    await page.getByLabel('How long to think').selectOption('Much');
    await page.getByText('Tools, skills and limits').click();
    await page.getByRole('group', { name: 'Tools' }).getByLabel('Only these').check();
    const skills = page.getByRole('group', { name: 'Skills' });
    await skills.getByLabel('Only these').check();
    await skills.getByLabel('slides').check();
    await skills.getByLabel('report').check();
    await page.getByLabel('Temperature').fill('7');
    await page.getByRole('alert').getByText('A number from 0 to 2.').waitFor();
    await page.getByLabel('Temperature').fill('0.2');
    await page.reload();
    expect(await page.getByLabel('Instructions').inputValue()).toBe('Show your sums.');
    await page.getByRole('button', { name: 'Make the agent' }).click();
    await page.getByRole('heading', { name: 'bookkeeper' }).waitFor();
    await page.getByLabel('Description').fill('Answers for late invoices');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => json(`${server.url}/agents/bookkeeper`)).toEqual({
      name: 'bookkeeper', description: 'Answers for late invoices', model: 'other', tool_groups: ['file:read'], skills: ['report', 'slides'], soul: 'Show your sums.',
      model_settings: { temperature: 0.2, max_tokens: null }, thinking_enabled: null, reasoning_effort: 'high',
    });
    expect((await json<{ threads: unknown[] }>(`${server.url}/news`)).threads).toEqual(before.threads);
    await v.to('/library/agents?new');
    await page.getByRole('link', { name: /bookkeeper.*late invoices.*other.*Read files.*2 skills/s }).waitFor();
    await page.getByLabel(/^Name/).fill('BOOKKEEPER');
    await page.getByRole('alert').getByText('There is an agent BOOKKEEPER already.').waitFor();
    await v.to('/library/agents/bookkeeper');
    await page.getByRole('link', { name: 'Begin a task' }).click();
    await page.getByRole('textbox', { name: 'Task' }).fill('hello from it');
    await page.keyboard.press('Enter');
    await v.sees('You said: hello from it');
    const runs = await json<{ kwargs: { context: { agent_name: string } } }[]>(`${server.url}/threads${new URL(page.url()).pathname.slice(2)}/runs`);
    expect(runs[0]?.kwargs.context.agent_name).toBe('bookkeeper');
    await v.to('/library/agents/bookkeeper');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog', { name: 'Delete bookkeeper?' }).getByRole('button', { name: 'Delete' }).click();
    await v.sees('You have no agent of your own yet.');
    await v.to('/library/agents/bookkeeper');
    await v.sees('There is no agent bookkeeper.');
  });

  it('of approvals list each rule with its scope, and revoke one', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/settings/approvals');
    await v.sees('Nothing is allowed for good.');
    const headers = { 'Content-Type': 'application/json' };
    await fetch(`${server.url}/approvals`, { method: 'POST', headers, body: JSON.stringify({ tool: 'bash', pattern: 'git status*' }) });
    await page.reload();
    const row = page.getByRole('listitem').filter({ hasText: 'git status*' });
    expect(await row.innerText()).toMatch(/git status\*.*bash · allowed .* · never used.*always/s);
    await row.getByRole('button', { name: 'Revoke: git status*' }).click();
    await v.sees('Nothing is allowed for good.');
    await page.getByLabel('Show revoked ones too').check();
    await row.getByText(/revoked/).waitFor();
  });

  it('of about me keep what is typed over a reload, and show what is wrong at the field', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/settings/general');
    const field = page.getByLabel('What Pudu should know');
    await field.fill('I like tea.');
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'I like tea.');
    await field.fill('x'.repeat(17_000));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.fault').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('I like tea.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Not saved yet').waitFor({ state: 'detached' });
    expect(await json(`${server.url}/user-profile`)).toEqual({ content: 'I like tea.' });
    expect(await page.evaluate(() => localStorage.getItem('pudu.form.about'))).toBeNull();
  });

  it('of sessions end another one, and signing out leads to a small form', async () => {
    const locked = await new Server({ token }).start();
    const enter = async (userAgent?: string): Promise<Visitor> => {
      const one = await visit(locked, userAgent ? { userAgent } : {});
      await one.to('/sign-in?next=/settings/general');
      await one.page.getByLabel('Token').fill(token);
      await one.page.keyboard.press('Enter');
      await one.page.getByText('this browser', { exact: true }).waitFor();
      return one;
    };
    const other = await enter('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0');
    v = await enter();
    const { page } = v;
    await page.getByRole('button', { name: 'End: Firefox, Linux' }).click();
    await page.getByText('Firefox, Linux').waitFor({ state: 'detached' });
    await other.page.reload();
    await other.page.getByRole('dialog').getByLabel('Token').waitFor();
    await other.close();
    let bytes = 0;
    const devtools = await v.context.newCDPSession(page);
    await devtools.send('Network.enable');
    devtools.on('Network.loadingFinished', (e) => (bytes += e.encodedDataLength));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    await page.getByLabel('Token').waitFor();
    await v.quiet();
    expect(await page.locator('canvas').count()).toBe(0);
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('That is not the token of this server.').waitFor();
    expect(bytes, 'bytes that signing out loads').toBeLessThan(20_000);
    expect((await fetch(`${locked.url}/sessions`, { headers: { Authorization: `Bearer ${token}` } }).then((r) => r.json())) as unknown[]).toEqual([]);
    const fresh = await visit(locked); // who has nothing of it yet
    let first = 0;
    const tools = await fresh.context.newCDPSession(fresh.page);
    await tools.send('Network.enable');
    tools.on('Network.loadingFinished', (e) => (first += e.encodedDataLength));
    await fresh.to('/sign-in?next=//evil.example/x');
    await fresh.page.getByLabel('Token').fill(token);
    await fresh.quiet();
    expect(first, 'bytes that the form takes').toBeLessThan(20_000);
    await fresh.page.keyboard.press('Enter');
    await fresh.page.waitForURL((url) => url.pathname !== '/sign-in');
    expect(new URL(fresh.page.url()).origin).toBe(locked.url);
    await fresh.close();
    await locked.close();
  });
});
