// The keys: each does what the list says, single characters stay out of fields and can be switched off.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowser, Server, type Visitor, visit } from './kit';

describe('keys', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  afterEach(() => v.close());

  it('of a task: its panel, steps, versions, last answer, composer', async () => {
    v = await visit(server, { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = v;
    await v.say('fail the command');
    await v.sees('It failed, as it had to.');
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('Control+\\');
    await page.locator('.panel').waitFor();
    await press('j', '?'); // letters in a field are letters
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('j?');
    await page.getByRole('textbox', { name: 'Message' }).fill('');
    await page.locator('.talk').click();
    await press('Escape');
    await page.locator('.panel').waitFor({ state: 'hidden' });
    await press('j', 'j', 'j', 'k', 'j');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('exit 3');
    await press('o');
    await page.locator('.step.bad .out').waitFor();
    await press('Control+Shift+C');
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('It failed, as it had to.');
    await press('/');
    expect(await page.evaluate(() => document.activeElement?.hasAttribute('data-composer'))).toBe(true);
    await page.keyboard.type('fail the command once more');
    await press('Enter');
    await page.locator('.turn').nth(1).getByText('It failed, as it had to.').waitFor();
    await page.getByRole('button', { name: 'Answer once more' }).last().click();
    await page.locator('.turn-foot:not(.mine) .versions', { hasText: '2 of 2' }).waitFor();
    await page.locator('.talk').click({ position: { x: 2, y: 2 } });
    await press('[');
    await page.locator('.turn-foot:not(.mine) .versions', { hasText: '1 of 2' }).waitFor();
    await press(']');
    await page.locator('.turn-foot:not(.mine) .versions', { hasText: '2 of 2' }).waitFor();
  });

  it('lead to what needs somebody, and allow it', async () => {
    v = await visit(server);
    const { page } = v;
    const asks = await v.say('this needs approval');
    await v.sees('May Pudu run this command?');
    await v.to('/library/agents');
    await page.getByRole('heading', { name: 'Needs you' }).waitFor();
    await page.keyboard.press('a');
    await page.waitForURL((url) => url.pathname === asks);
    await v.sees('May Pudu run this command?');
    await page.keyboard.press('Control+Enter');
    await v.sees('It is decided.');
  });

  it('stand on a page of their own, where single characters are switched off', async () => {
    v = await visit(server);
    const { page } = v;
    const at = await v.say('hello keys');
    await v.sees('You said: hello keys');
    await page.locator('.talk').click();
    await page.keyboard.press('?');
    await page.waitForURL(/\/settings\/general#keys$/);
    const map = page.getByRole('region', { name: 'Keys' });
    for (const what of ['Next step', 'New task', 'Rename', 'With nothing typed: edit the last message'])
      await map.getByText(what).waitFor();
    await map.getByRole('switch', { name: 'Write', exact: true }).uncheck();
    await page.goBack();
    await page.waitForURL((url) => url.pathname === at);
    await page.locator('.talk').click();
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.hasAttribute('data-composer'))).toBe(false);
    await page.keyboard.press('?');
    await map.getByRole('switch', { name: /Single letters/ }).uncheck();
    await page.keyboard.press('a');
    expect(await map.getByRole('switch', { name: 'Next step' }).isDisabled()).toBe(true);
    await page.getByRole('radio', { name: '中文' }).check();
    await page.getByText('下一步骤').waitFor();
  });
});
