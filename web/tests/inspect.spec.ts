// The run inspector, and what leads to it: the foot of an answer, the ring of the context, the sum of a task; and the
// way back from an earlier state.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { foundInBoth } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { picture } from './picture';
import { goodKey, Provider } from './provider';

const program = process.env['PUDU_TEST_PROGRAM'] ?? '';

/** What is cut off at the right: no part of the page goes beyond the screen, or beyond the part that it is in. */
const past = (): string[] =>
  [...document.querySelectorAll('.top .btn, .sum div, .waterfall .r, .panel, .steppanel .block, .pairs')]
    .filter(
      (e) =>
        e.getBoundingClientRect().width > 0 &&
        (e.getBoundingClientRect().right > innerWidth + 1 ||
          e.getBoundingClientRect().right > (e.closest('.main, .panel')?.getBoundingClientRect().right ?? 0) + 1),
    )
    .map((e) => `${e.className} ${(e.textContent ?? '').slice(0, 40)}`);

describe('a run', () => {
  const server = new Server();
  let v: Visitor;
  let task = '';
  let run = '';
  const begin = async (options = {}): Promise<Visitor> => {
    v = await visit(server, options);
    await v.page.addInitScript(() => {
      if (self.origin !== 'null') localStorage.setItem('pudu.options.new', '{"mode":"plan"}');
    });
    return v;
  };
  beforeAll(async () => {
    await server.start();
    await begin();
    task = await v.say('Please size the index for 40 million passages');
    await v.sees('takes 123 GB');
    await v.page
      .getByRole('link', { name: /^Inspect the run/ })
      .last()
      .click();
    await v.page.waitForURL(/\/run\//);
    run = new URL(v.page.url()).pathname.split('/').at(-1) ?? '';
    await v.close();
  });
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  afterEach(() => v.close());

  it('fault 7: has a foot with time and cost, one ring and one sum, each of which opens its bill; fault 21: its plan is kept with it', async () => {
    const { page } = await begin();
    await v.to(task);
    const foot = page.locator('.turn.last .turn-foot').last();
    await foot.getByRole('link', { name: /^Inspect the run: .* s · \$0\.\d+/ }).waitFor();
    // One ring: the window of the last call, whose bill has the same number.
    await page.getByRole('button', { name: 'Context: 40 % full' }).click();
    const bill = page.getByRole('dialog', { name: 'Context of the last call' });
    await bill.getByText('7,600', { exact: true }).waitFor();
    expect(await bill.locator('tr.total').first().innerText()).toMatch(/Sent\s+7,600\s+7,300/);
    await page.keyboard.press('Escape');
    await bill.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Context: 40 % full');
    // One sum: that of the task, which opens to its runs.
    const sum = page.getByRole('button', { name: /^This task has cost \$0\.\d+/ });
    const total = await sum.innerText();
    await sum.click();
    await page.waitForURL(/panel=run/);
    expect(await page.locator('.panel .kv').innerText()).toContain(total);
    await page.locator('.panel .plan li.d', { hasText: 'Write the report' }).waitFor();
    await page.locator('.runlist').getByRole('link').first().click();
    await page.waitForURL(new RegExp(`/run/${run}`));
  });

  it('is told step by step, with what each call was sent and what came back', async () => {
    const { page } = await begin();
    await v.to(`${task}/run/${run}`);
    await page.getByRole('heading', { name: /Run 1 of 1/ }).waitFor();
    const lines = page.locator('.waterfall .ln');
    await lines.nth(12).waitFor();
    expect((await page.locator('.sum').innerText()).replace(/\s+/g, ' ')).toMatch(
      /Cost \$0\.\d+ Model calls 5 Tool calls 6 1 failed Read 35k tokens 77 % from the cache/,
    );
    // The last call is shown with its bill.
    await page.locator('.bill').waitFor();
    await page.locator('.ln', { hasText: 'First I work out' }).click();
    await page.getByRole('tab', { name: 'What came back' }).click();
    await page.locator('.kv', { hasText: 'tool_calls' }).waitFor();
    await page.locator('.modelsaid', { hasText: 'First I work out the sizes.' }).waitFor();
    // J and K go from step to step.
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.locator('.ln.on', { hasText: 'echo $((40' }).waitFor();
    await page.locator('.panel .out', { hasText: '122880 MB of vectors' }).waitFor();
    await page.keyboard.press('k');
    await page.locator('.ln.on', { hasText: 'Made a plan' }).waitFor();
    const bad = page.locator('.ln.bad');
    expect(await bad.innerText()).toContain('cat /mnt/user-data/workspace/slides.pdf'.replace('/mnt/user-data/', ''));
    await bad.click();
    await page.locator('.panel', { hasText: 'exit 1' }).waitFor();
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.locator('.rawbox', { hasText: '"exit_code": 1' }).waitFor();
    // The steps are one place in the history: Back leads from them.
    await page.goBack();
    await page.goBack();
    await page.waitForURL((url) => !url.search);
  });

  it('shows the task as it was after a step: messages, plan and files of then', async () => {
    const { page } = await begin();
    await v.to(`${task}/run/${run}`);
    await page.locator('.ln', { hasText: 'Wrote' }).click();
    await page.locator('.facts', { hasText: /\d+ messages, 1 file, plan at 2 of 2/ }).waitFor();
    await page.locator('.ln', { hasText: 'First I work out' }).click();
    await page.locator('.facts', { hasText: '2 messages, 0 files' }).waitFor();
    await page.locator('.ln', { hasText: 'Wrote' }).click();
    await page.keyboard.press('o');
    await page.waitForURL(/tab=state/);
    const file = page.locator('.thenfiles a', { hasText: 'outputs/sizes.md' });
    const saved = page.waitForEvent('download');
    await file.click();
    expect(readFileSync(await (await saved).path(), 'utf8')).toContain('122880 MB');
    await page.locator('.panel .plan li.d', { hasText: 'Write the report' }).waitFor();
    await page.goBack();
    await page.locator('.facts').waitFor();
  });

  it('tells each try of a call, why one failed and how long it waited', async () => {
    const provider = new Provider();
    const base_url = await provider.start();
    await server.post('/config/models', { provider: 'openai', model: 'shy', name: 'shy', base_url, api_key: goodKey });
    provider.busy = 1;
    const { thread_id } = await server.post<{ thread_id: string }>('/threads', {});
    await server.post(`/threads/${thread_id}/runs/wait`, {
      assistant_id: 'lead_agent',
      input: { messages: [{ role: 'user', content: 'try it again' }] },
      context: { model_name: 'shy' },
    });
    const [made] = await server.get<{ run_id: string }[]>(`/threads/${thread_id}/runs`);
    const { page } = await begin();
    await v.to(`/c/${thread_id}/run/${made?.run_id}`);
    await page.locator('.sum', { hasText: '1 tried again' }).waitFor();
    await page.getByRole('tab', { name: 'What came back' }).click();
    const tries = page.locator('.trylist li');
    await tries.nth(1).waitFor();
    expect(await tries.first().innerText()).toMatch(/Try 1[\s\S]*busy: [\s\S]*then waited .*s/);
    expect(await page.locator('.trylist li.bad').count()).toBe(1);
    await provider.close();
  });

  it('is kept as a test that pudu replay plays', async () => {
    const { page } = await begin();
    await v.to(`${task}/run/${run}`);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Keep as a test' }).click();
    const file = await saved;
    await page.getByText(`pudu replay ${run}.replay.yaml`).waitFor();
    const played = spawnSync(program, ['replay', await file.path()], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: server.data },
    });
    expect(played.stdout + played.stderr).toMatch(/ok .*5 model turns, 6 tool calls/);
  });

  it('is gone on from at a step, with the files of then, as the same task or as a new one', async () => {
    const { page } = await begin();
    const path = await v.say('Please size the index for a branch');
    await v.sees('takes 123 GB');
    await page
      .getByRole('link', { name: /^Inspect the run/ })
      .last()
      .click();
    await page.locator('.ln', { hasText: 'First I work out' }).click();
    await page.getByRole('button', { name: 'Branch from here' }).click();
    await page.getByRole('menuitem', { name: /Go on with the files of then/ }).click();
    await page.waitForURL(/\?at=/);
    await page.getByText(/with the files as they were/).waitFor();
    await v.sees('First I work out the sizes.');
    expect(await page.getByText('takes 123 GB').count()).toBe(0);
    await page.reload();
    await page.getByText(/with the files as they were/).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('what else');
    await page.keyboard.press('Enter');
    await v.sees('You said: what else');
    await page.waitForURL((url) => !url.search);
    expect(await page.getByText('takes 123 GB').count()).toBe(0);
    await v.to(`${path}?panel=files`);
    await v.sees('You said: what else');
    await v.quiet();
    expect(await page.getByText('sizes.md').count()).toBe(0);
    // Back to the present without a word: nothing was changed.
    await v.to(`${task}/run/${run}`);
    await page.locator('.ln', { hasText: 'Wrote' }).click();
    await page.getByRole('button', { name: 'Branch from here' }).click();
    await page.getByRole('menuitem', { name: /^Go on from here/ }).click();
    await page.getByText(/with the files as they are/).waitFor();
    await page.getByRole('button', { name: 'Back to the newest' }).click();
    await v.sees('takes 123 GB');
    // As a new task.
    await v.to(`${task}/run/${run}`);
    await page.locator('.ln', { hasText: 'Wrote' }).click();
    await page.getByRole('button', { name: 'Branch from here' }).click();
    await page.getByRole('menuitem', { name: /As a new task/ }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/c/') && !url.pathname.startsWith(task));
    await v.sees('I write the report without them.');
    await page.getByRole('textbox', { name: 'Message' }).fill('go on here');
    await page.keyboard.press('Enter');
    await v.sees('You said: go on here');
  });

  it('is compared with another, and the first difference is marked', async () => {
    const { page } = await begin();
    await v.to(task);
    await page.getByRole('textbox', { name: 'Message' }).fill('Now size the index for 80 million passages');
    await page.keyboard.press('Enter');
    await v.sees('The index of 80 million passages');
    await page
      .getByRole('link', { name: /^Inspect the run/ })
      .last()
      .click();
    await page.getByRole('button', { name: 'Compare with run 1' }).click();
    await page.waitForURL(/vs=/);
    const first = page.locator('.cmppair.first');
    await first.getByText('First difference').waitFor();
    expect(await first.innerText()).toMatch(/40 million[\s\S]*80 million|80 million[\s\S]*40 million/);
    await first.locator('ins').first().waitFor();
    await picture(page, 'compare-runs-light-1440');
    await page.goBack();
    await page.locator('.waterfall').waitFor();
  });

  it('that is not there says so', async () => {
    const { page } = await begin();
    await v.to(`${task}/run/11111111-2222-4333-8444-555555555555`);
    await page.getByText('This run does not exist, or it is not yours.').waitFor();
    await v.to(`${task}/run/${run}?vs=nope&step=x&tab=y`);
    await page.getByText('This run does not exist, or it is not yours.').waitFor();
  });

  it('has nothing that axe finds, and fits', async () => {
    const { page } = await begin({ bypassCSP: true });
    for (const width of [1440, 1000, 390, 320]) {
      await page.setViewportSize({ width, height: width < 900 ? 844 : 900 });
      await v.to(`${task}/run/${run}`);
      await page.locator('.waterfall .ln').nth(12).waitFor();
      if (width === 1440) await page.locator('.facts', { hasText: 'messages' }).waitFor();
      expect(await page.evaluate(past), `${width} px`).toEqual([]);
      const taken = async (name: string) => picture(page, `run-inspector-${name}-${width}`);
      const looked = width === 1440 || width === 390;
      if (looked) expect(await foundInBoth(page, taken)).toEqual([]);
      await page.locator('.ln', { hasText: 'Wrote' }).click();
      await page.locator('.facts', { hasText: 'messages' }).waitFor();
      expect(await page.evaluate(past), `${width} px, a step`).toEqual([]);
      if (width === 390) await taken('step-light');
      if (!looked) continue;
      await page.getByRole('button', { name: 'Open', exact: true }).click();
      await page.locator('.thenfiles').waitFor();
      expect(await foundInBoth(page)).toEqual([]);
    }
  });

  it('fault 22: shows one foot, that of the last turn; those before it when they are looked for', async () => {
    const { page } = await begin();
    await v.say('hello feet');
    await v.sees('You said: hello feet');
    await page.getByRole('textbox', { name: 'Message' }).fill('and another');
    await page.keyboard.press('Enter');
    await v.sees('You said: and another');
    await page.locator('.turn.last > .turn-foot').waitFor();
    await page.mouse.move(5, 5);
    const opacity = (n: number): Promise<string> =>
      page
        .locator('.turn > .turn-foot')
        .nth(n)
        .evaluate((e) => getComputedStyle(e).opacity);
    await expect.poll(() => opacity(0)).toBe('0');
    expect(await opacity(1)).toBe('1');
    await page.locator('.turn').first().hover();
    await expect.poll(() => opacity(0)).toBe('1');
  });
});
