// The forms: models, agents, approvals, about me, sessions.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { pictures } from './picture';
import { goodKey, Provider } from './provider';

afterAll(closeBrowser);

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
    await page.getByRole('combobox', { name: 'Model' }).fill('mine');
    await page.getByText('Name and limits').click();
    await page.getByLabel('Name here').fill('own');
    await page.getByLabel(/^Key/).fill('sk-false');
    await page.getByRole('button', { name: 'Use mine' }).click();
    await page
      .getByRole('alert')
      .getByText(/must be an address such as/)
      .waitFor();
    expect(await page.getByLabel(/^Address/).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel(/^Address/).fill(address);
    await page.getByRole('button', { name: 'Use mine' }).click();
    await page
      .getByRole('alert')
      .getByText(/It was not saved.*Incorrect API key/)
      .waitFor();
    await page.getByLabel(/^Key/).fill(goodKey);
    const row = page.getByRole('listitem').filter({ hasText: 'own' });
    await page.route('**/config/models', async (r) => {
      const response = await r.fetch();
      // The news come before the answer.
      if (r.request().method() === 'POST') await row.getByText('key sealed').first().waitFor();
      await r.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Use mine' }).click();
    await row.getByText('works', { exact: true }).waitFor({ state: 'attached' }); // what the test before has shown
    await page.waitForURL(/\?model=own$/); // not before the list is there anew
    await page.goBack(); // the form is gone from the history: Back leads away from it, not into it
    await page.goForward();
    await row.getByRole('button', { name: 'Test everything' }).click();
    await v.sees('It can do every kind of task.');
    await pictures(page, 'model-tested');
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
    await page
      .getByRole('alert')
      .getByText(/The test failed: .*refused.*/)
      .waitFor();
    await page.getByText('What helps:').waitFor();
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('link', { name: 'Models' }).click();
    await page.locator('.head small.bad', { hasText: 'refused' }).waitFor(); // the last error stays
    await page.getByText('My own').click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog', { name: 'Remove own?' }).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('My own').first().waitFor({ state: 'detached' });
    const { models, default: standard } = await server.get<{ models: { name: string }[]; default: string }>(
      `/config/models`,
    );
    expect([models.map((m) => m.name), standard]).toEqual([['scripted', 'other'], 'scripted']);
  });

  it('of agents make, change and delete one, and say nothing in the name of the user', async () => {
    v = await visit(server);
    const { page } = v;
    const before = await server.get<{ threads: unknown[] }>('/news');
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
    await expect
      .poll(() => server.get('/agents/bookkeeper'))
      .toEqual({
        name: 'bookkeeper',
        description: 'Answers for late invoices',
        model: 'other',
        tool_groups: ['file:read'],
        skills: ['report', 'slides'],
        soul: 'Show your sums.',
        model_settings: { temperature: 0.2, max_tokens: null },
        thinking_enabled: null,
        reasoning_effort: 'high',
      });
    expect((await server.get<{ threads: unknown[] }>('/news')).threads).toEqual(before.threads);
    await v.to('/library/agents?new');
    await page.getByRole('link', { name: /bookkeeper.*late invoices.*other.*Read files.*2 skills/s }).waitFor();
    await page.getByLabel(/^Name/).fill('BOOKKEEPER');
    await page.getByRole('alert').getByText('There is an agent BOOKKEEPER already.').waitFor();
    await v.to('/library/agents/bookkeeper');
    await page.getByRole('link', { name: 'Begin a task' }).click();
    await page.getByRole('textbox', { name: 'Task' }).fill('hello from it');
    await page.keyboard.press('Enter');
    await v.sees('You said: hello from it');
    const runs = await server.get<{ kwargs: { context: { agent_name: string } } }[]>(
      `/threads${new URL(page.url()).pathname.slice(2)}/runs`,
    );
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
    await server.post('/approvals', { tool: 'bash', pattern: 'git status*' });
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
    expect(await server.get('/user-profile')).toEqual({ content: 'I like tea.' });
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
    expect(await locked.get('/sessions', { Authorization: `Bearer ${token}` })).toEqual([]);
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
