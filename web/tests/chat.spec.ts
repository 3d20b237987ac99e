// A conversation in a browser: it streams, its lines open, it is asked and answered, stopped, edited, queued.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { watchShifts } from './shifts';

describe('a task', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  const begin = async (options = {}): Promise<Visitor> => (v = await visit(server, options));
  afterEach(() => v.close());

  it('is begun, answered, and stands in the sidebar with its title', async () => {
    const { page } = await begin();
    await v.say('hello there');
    await v.sees('You said: hello there');
    await page.getByRole('navigation', { name: 'All tasks' }).getByRole('link', { name: 'hello there' }).waitFor();
    expect(await page.title()).toBe('hello there · Pudu');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('hello there');
    await page.reload();
    await v.sees('You said: hello there');
  });

  it('shows Markdown: tables, code, lists', async () => {
    const { page } = await begin();
    await v.say('show everything');
    await page.getByRole('cell', { name: '41.0' }).waitFor();
    await page.locator('.codebox').getByText('return x + 1').waitFor();
    await page.getByRole('button', { name: 'Copy', exact: true }).waitFor();
    expect(await page.locator('.prose ol li').count()).toBe(2);
    await v.unfold();
    await page.locator('summary', { hasText: 'Thought' }).click();
    await v.sees('Then I write everything that Markdown has.');
  });

  it('shows each call as a line that opens, and a failed one as failed', async () => {
    const { page } = await begin();
    await v.say('fail the command');
    await v.sees('It failed, as it had to.');
    await v.unfold();
    const line = page.locator('.step.bad');
    expect(await line.innerText()).toMatch(/Ran.*echo no such thing.*exit 3/s);
    await line.locator('summary').click();
    expect(await line.locator('.out').innerText()).toContain('no such thing');
    await page.reload();
    await v.sees('It failed, as it had to.');
    await v.unfold();
    await page.locator('.step.bad', { hasText: 'exit 3' }).waitFor();
  });

  it('shows what a command says while it runs', async () => {
    const { page } = await begin();
    await v.say('speak while you run');
    await page.locator('.live-out', { hasText: 'line 2' }).waitFor();
    await page.locator('.step', { hasText: 'Running' }).waitFor();
    await v.enough();
    await v.sees('I have counted.');
    const step = page.locator('.step', { hasText: /Ran.*\d+ lines/s });
    await step.locator('summary').click();
    const said = await step.locator('.out').innerText();
    expect(said.match(/line \d+/g)).toHaveLength(
      Number(/(\d+) lines/.exec(await step.locator('summary').innerText())?.[1]),
    );
  });

  it('says by which rule a call was not allowed', async () => {
    const { page } = await begin();
    await v.say('remove it');
    await v.sees('I may not.');
    await v.unfold();
    await page.locator('.step', { hasText: /Not allowed:.*rm -rf.*nothing is removed here/s }).waitFor();
  });

  it('asks before what needs approval, and goes on when it is allowed or refused', async () => {
    const { page } = await begin();
    await v.say('this needs approval');
    await v.sees('May Pudu run this command?');
    await page.getByText('it writes', { exact: true }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Allow/ }).click();
    await v.sees('It is decided.');
    await page.locator('.step', { hasText: 'Ran' }).waitFor();
    await v.say('it needs approval again');
    await page.getByRole('button', { name: 'Refuse, say why' }).click();
    await page.keyboard.type('Keep 2023');
    await page.keyboard.press('Enter');
    await v.sees('It is decided.');
    await page.locator('.step', { hasText: /Refused by you:.*Keep 2023/s }).waitFor();
  });

  it.each([
    ['ask which', 'Which quarter do you mean?', 'October to December'],
    ['ask how', 'Two ways to do this', 'Translate the text'],
  ])('asks for one choice: %s', async (task, question, choice) => {
    const { page } = await begin();
    await v.say(task);
    const form = page.getByRole('form', { name: question });
    await form.getByRole('radio', { name: choice }).check();
    await form.getByRole('button', { name: /Answer|Go this way/ }).click();
    await v.sees(`You said: ${choice}`);
  });

  it('asks before a risk, without Enter for yes, and suggests quietly', async () => {
    const { page } = await begin();
    await v.say('ask about the risk');
    const form = page.getByRole('form', { name: 'This cannot be undone: Delete 1,204 photos?' });
    await form.waitFor();
    expect(await form.getByRole('button', { name: 'Decide yourself' }).count()).toBe(0);
    expect(await form.locator('[type=submit]').count()).toBe(0);
    await form.getByRole('button', { name: 'Keep them' }).click();
    await v.sees('You said: Keep them');
    await v.say('suggest something');
    await page
      .getByRole('form', { name: /Pudu suggests/ })
      .getByRole('button', { name: 'Do it' })
      .click();
    await v.sees('You said: Do it');
  });

  it('fault 13: asks with a form, and keeps the answers readable', async () => {
    const { page } = await begin();
    await v.say('ask what is missing');
    const form = page.getByRole('form', { name: 'Who signs the letters?' });
    await form.getByLabel('Signed by').fill('Accounts');
    await form.getByLabel('Copies').fill('2');
    await form.getByLabel('Tone').selectOption('Firm');
    await form.getByLabel('Invoice').check();
    await form.getByLabel('Pay by').fill('2026-12-07');
    await form.getByRole('button', { name: 'Answer' }).click();
    await v.sees(/You said: Answer to your question/);
    for (let i = 0; i < 2; i++) {
      const said = page.locator('.answered');
      await said.waitFor();
      expect(await said.innerText()).toMatch(
        /You answered.*Signed by.*Accounts.*Copies.*2.*Tone.*Firm.*Enclose.*Invoice.*Pay by.*2026-12-07/s,
      );
      await page.reload();
    }
  });

  it('fault 2: is stopped, keeps what it had, and goes on', async () => {
    const { page } = await begin();
    await v.say('a long story');
    await v.sees('Sentence number 3 ');
    await page.keyboard.press('Control+.');
    await v.sees('You stopped it. What it had is kept.');
    await page.reload();
    await v.sees('You stopped it. What it had is kept.');
    await v.sees('Sentence number 3 ');
    await page.getByRole('button', { name: 'Continue' }).click();
    await v.sees('You said: Continue');
  });

  it('fault 4: says why it failed, not as an answer, and tries again', async () => {
    const { page } = await begin();
    await v.say('break down');
    await v.sees(/It could not finish: .*HTTP 401/);
    expect(await page.locator('.turn > .prose, .turn-foot:not(.mine)').count()).toBe(0);
    await page.getByRole('button', { name: 'Try again' }).click();
    const runs = async (): Promise<number> =>
      (await server.get<unknown[]>(`/threads${new URL(page.url()).pathname.slice(2)}/runs`)).length;
    await expect.poll(runs).toBe(2);
    await v.sees(/It could not finish/);
    expect(await page.locator('.turn').count()).toBe(1);
  });

  it('fault 12: takes the next message while it runs, and keeps it on a shelf', async () => {
    const { page } = await begin();
    await v.say('a long story');
    await v.sees('Sentence number 1 ');
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('and then this');
    await field.press('Alt+Enter');
    await page.locator('.queued', { hasText: 'and then this' }).waitFor();
    await field.fill('not this');
    await field.press('Alt+Enter');
    await page
      .locator('.queued', { hasText: 'not this' })
      .getByRole('button', { name: 'Remove from the queue' })
      .click();
    expect(await page.locator('.say', { hasText: 'and then this' }).count()).toBe(0);
    await page.locator('.queued', { hasText: 'not this' }).waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+.');
    await v.sees('You said: and then this');
    expect(await page.getByText('You said: not this').count()).toBe(0);
  });

  it('says something to the run at work, which reads it before its next step, or is told to forget it', async () => {
    const { page } = await begin();
    await v.say('work for a while');
    await page.locator('.run', { hasText: 'Working' }).waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('not this');
    await field.press('Enter');
    const shelf = page.getByRole('list', { name: 'Queue' });
    await shelf.getByText('Read before the next step').waitFor();
    await shelf.getByRole('button', { name: 'Take back' }).click();
    await shelf.waitFor({ state: 'hidden' });
    await field.fill('and be brief');
    await field.press('Enter');
    await shelf.getByText('and be brief').waitFor();
    await page.reload(); // it waits at the server
    await shelf.getByText('and be brief').waitFor();
    await v.enough();
    await v.sees('You said: and be brief');
    await shelf.waitFor({ state: 'hidden' });
    expect(await page.locator('.me').allTextContents()).toEqual([
      expect.stringContaining('work for a while'),
      expect.stringContaining('and be brief'),
    ]);
    expect(await page.locator('.run, .run-head', { hasText: 'Working' }).count()).toBe(0);
    expect(await page.getByText('not this').count()).toBe(0);
  });

  it('is edited and answered once more, with its versions', async () => {
    const { page } = await begin();
    await v.say('hello one');
    await v.sees('You said: hello one');
    await page.locator('.me').hover();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Message' }).first().fill('hello two');
    await page.keyboard.press('Enter');
    await v.sees('You said: hello two');
    await page.getByRole('button', { name: 'Answer once more' }).click();
    await page.locator('.turn-foot:not(.mine) .versions', { hasText: '2 of 2' }).waitFor();
    await page.locator('.me').hover();
    await page.locator('.me .versions', { hasText: '2 of 2' }).waitFor();
    await page.locator('.me').getByRole('button', { name: 'Earlier version' }).click();
    await v.sees('You said: hello one');
    expect(await page.getByRole('button', { name: 'Answer once more' }).count()).toBe(0);
    await page.getByRole('textbox', { name: 'Message' }).fill('and on');
    await page.keyboard.press('Enter');
    await v.sees('You said: and on');
    await v.sees('You said: hello one');
  });

  it('branches off into a task of its own', async () => {
    const { page } = await begin();
    const at = await v.say('hello branch');
    await v.sees('You said: hello branch');
    await page.getByRole('button', { name: 'Branch from here' }).click();
    await page.waitForURL((url) => url.pathname !== at && url.pathname.startsWith('/c/'));
    await v.sees('You said: hello branch');
  });

  it('shows its plan beside it, which moves', async () => {
    const { page } = await begin();
    await v.to('/');
    await page.getByRole('button', { name: /Think/ }).click();
    await page.getByRole('menuitemradio', { name: /^Plan/ }).click();
    await page.getByRole('textbox', { name: 'Task' }).fill('make a plan');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Panel/ }).click();
    await page.locator('.plan li.n', { hasText: 'Work out the sizes' }).waitFor();
    await v.enough();
    await v.sees('The plan is done.');
    await page.getByText('3 of 3').waitFor();
    await page.goBack();
    expect(await page.locator('.panel').count()).toBe(0);
  });

  it('folds what is long ago while it works, and never a failure', async () => {
    const { page } = await begin();
    await v.say('one after the other');
    await page.locator('.step', { hasText: 'echo 8' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: /earlier step/ }).waitFor();
    await v.enough();
    await v.sees('Nine steps.');
    await page.reload();
    await v.sees('Worked');
    expect(await page.locator('.trail').count()).toBe(0);
    await page.locator('summary.run-head').click();
    await page.locator('.step', { hasText: 'echo 9' }).waitFor();
  });

  it('keeps what is typed, for each task its own', async () => {
    const { page } = await begin();
    const at = await v.say('hello drafts');
    await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
    await v.to('/');
    await page.getByRole('textbox', { name: 'Task' }).fill('another one');
    await v.to(at);
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'half a thought');
    await v.to('/');
    expect(await page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('another one');
  });

  it('fault 5: streams where it stays, and moves nothing', async () => {
    const { page } = await begin();
    const shifts = await watchShifts(page);
    await v.say('show everything');
    await page.getByRole('cell', { name: '41.0' }).waitFor();
    await page.locator('.turn-foot:not(.mine)').waitFor();
    await page.waitForTimeout(300);
    expect(await shifts()).toEqual([]);
    await v.say('one after the other');
    await page.locator('.step', { hasText: 'echo 9' }).waitFor();
    await v.enough();
    await v.sees('Nine steps.');
    await page.waitForTimeout(300);
    expect(await shifts()).toEqual([]);
    await v.say('think for a while');
    await page.locator('summary', { hasText: 'Thinking' }).getByText('First I think about it.').waitFor();
    await v.sees('I have thought.');
    await page
      .locator('summary', { hasText: 'Thought' })
      .getByText(/^\d\.\d s$/)
      .waitFor();
    await page.waitForTimeout(300);
    expect(await shifts()).toEqual([]);
  });
});
