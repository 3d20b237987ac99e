// The first run: from nothing to an answered task.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { pictures } from './picture';
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

const pasting = { permissions: ['clipboard-read', 'clipboard-write'], bypassCSP: true };

afterAll(closeBrowser);

describe('the first run', () => {
  const provider = new Provider();
  let server: Server;
  let v: Visitor;
  beforeAll(async () => {
    server = await new Server({
      model: false,
      env: { MISTRAL_BASE_URL: await provider.start(), OLLAMA_HOST: '127.0.0.1:9' },
    }).start();
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
    await page
      .getByRole('alert')
      .getByText(/The test failed: .*401.*Incorrect API key/)
      .waitFor();
    const before = provider.refused;
    await page.getByRole('button', { name: 'Use mine' }).click();
    await page
      .getByRole('alert')
      .getByText(/It was not saved/)
      .waitFor();
    expect(provider.refused).toBeGreaterThan(before);
    expect((await server.get<{ models: unknown[] }>('/config/models')).models).toEqual([]);
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
    // Before it the server cannot be reached, which is another sentence.
    const tested = page.waitForResponse('**/config/models/test');
    await paste(page, goodKey);
    await page.getByRole('list', { name: 'Result of the test' }).locator('.live').waitFor();
    await tested;
    await server.stop('SIGKILL');
    await page
      .getByRole('alert')
      .getByText(/The test broke off/)
      .waitFor();
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
    await pictures(page, 'first-run');
    await page.getByRole('button', { name: 'Use mistral-large-latest' }).click();
    await page.getByRole('heading', { name: 'Pudu is ready' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Pudu is ready');
    expect(await page.content()).not.toContain(goodKey);
    await page.getByRole('button', { name: /Tidy up notes/ }).click();
    await v.sees('Tom calls the landlord before Friday.');
    expect(JSON.stringify(await server.get('/config/models'))).not.toContain(goodKey);
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
    writeFileSync(
      join(dir, 'c.yaml'),
      `models: [{name: m, provider: scripted, model: m, script: ${script}}]\nsandbox: {use: none}\n`,
    );
    const server = await new Server({ config: join(dir, 'c.yaml'), token: 'open-sesame-open-sesame' }).start();
    const v = await visit(server);
    await v.to('/welcome');
    await v.page.getByLabel('Token').fill('open-sesame-open-sesame');
    await v.page.getByRole('button', { name: 'Sign in' }).click();
    await v.sees('The configuration turns it off');
    await v.sees('A browser is asked for it once.');
    expect(await v.page.locator('.starts b').allTextContents()).toEqual([
      'Read a table',
      'Tidy up notes',
      'Make a page',
    ]);
    await v.page.reload();
    await v.sees('The configuration turns it off');
    expect(await v.page.getByRole('dialog').count()).toBe(0);
    await v.close();
    await server.close();
  });
});
