// What lines of a trail say of calls, and what can be done with words of an answer.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';

describe('a trail', () => {
  const server = new Server();
  let v: Visitor;
  beforeAll(() => server.start());
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  afterEach(() => v.close());

  it('asks what to do about a call of which nobody knows whether it happened', async () => {
    v = await visit(server, { bypassCSP: true });
    const { page } = v;
    await v.say('speak while you run');
    await page.locator('.live-out', { hasText: 'line 2' }).waitFor();
    await server.stop('SIGKILL');
    await server.start();
    await v.sees('I have counted.');
    for (let i = 0; i < 2; i++) {
      const line = page.locator('.step', { hasText: /Perhaps done:.*for i in/s });
      await line.getByText('The server restarted while this ran. It may or may not have happened.').waitFor();
      await line.locator('.st.maybe').waitFor();
      expect(await line.getByRole('button').allInnerTexts()).toEqual(
        expect.arrayContaining(['Let Pudu look', 'Run again', 'It happened']),
      );
      if (i === 0) await page.reload();
    }
    expect(await found(page)).toEqual([]);
    await page.getByRole('button', { name: 'Let Pudu look' }).click();
    await page.locator('.say', { hasText: /Look whether it happened.*bash: for i in/s }).waitFor();
    expect(await page.getByRole('button', { name: 'Run again' }).count()).toBe(0);
  });

  it('fault 3: shows a failure in its closed line, never folds it, and has both ends of a long output', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('say very much');
    await v.sees('That was much.');
    await page.reload();
    await v.sees('That was much.');
    await page.locator('summary.run-head').click();
    await page.getByRole('button', { name: '1 earlier step' }).waitFor();
    const bad = page.locator('.step.bad', { hasText: /Ran.*exit 4/s });
    await bad.locator('summary').click();
    const out = bad.locator('.out');
    expect(await out.innerText()).toMatch(/^1\n2\n[\s\S]*\n40\n\s*\d+ lines more\s*\n[\s\S]*200\s/);
    const saved = page.waitForEvent('download');
    await bad.getByRole('button', { name: 'As a file' }).click();
    expect(readFileSync(await (await saved).path(), 'utf8')).toContain('\n100\n');
    await out.getByRole('button', { name: /lines more/ }).click();
    expect(await out.innerText()).toContain('\n100\n');
  });

  it('says of a call that was stopped with its run how long it had run', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('speak while you run');
    await page.locator('.live-out', { hasText: 'line 2' }).waitFor();
    await page.keyboard.press('Control+.');
    await page.locator('.step', { hasText: /Stopped.*for i in.*after \d/s }).waitFor();
  });

  it('lets one ask about words of an answer, or quote them, and edit the last message with ↑', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('hello selection');
    await v.sees('You said: hello selection');
    const field = page.getByRole('textbox', { name: 'Message' });
    const select = (): Promise<void> =>
      page
        .locator('.turn .prose p')
        .first()
        .evaluate((p) => getSelection()?.selectAllChildren(p));
    await select();
    await page.getByRole('button', { name: 'Ask about it' }).click();
    expect(await field.inputValue()).toBe('> You said: hello selection\n\n');
    await page.keyboard.type('Why?');
    await select();
    await page.getByRole('button', { name: 'Quote' }).click();
    expect(await field.inputValue()).toBe('> You said: hello selection\n\nWhy?\n> You said: hello selection\n');
    expect(await page.getByRole('toolbar').count()).toBe(0);
    await field.fill('');
    await page.keyboard.press('ArrowUp');
    await page.locator('.editing textarea').fill('hello again');
    await page.keyboard.press('Enter');
    await v.sees('You said: hello again');
  });

  it('takes dictation where the browser hears by itself, and has no button elsewhere', async () => {
    v = await visit(server);
    const { page } = v;
    await v.to('/');
    await v.quiet();
    expect(await page.getByRole('button', { name: 'Dictate' }).count()).toBe(0);
    await page.addInitScript(() => {
      class Recognition {
        processLocally = false;
        onresult: ((e: unknown) => void) | null = null;
        onend: (() => void) | null = null;
        static available = async (o: { processLocally: boolean }) => (o.processLocally ? 'available' : 'unavailable');
        start(): void {
          if (!this.processLocally) throw new Error('it would leave the machine');
          setTimeout(
            () =>
              this.onresult?.({
                resultIndex: 0,
                results: [Object.assign([{ transcript: ' Tidy my desk.' }], { isFinal: true })],
              }),
            50,
          );
        }
        stop(): void {
          this.onend?.();
        }
        abort(): void {}
      }
      Object.defineProperty(Recognition.prototype, 'processLocally', { value: false, writable: true });
      (window as unknown as { SpeechRecognition: unknown }).SpeechRecognition = Recognition;
    });
    await page.reload();
    await page.getByRole('button', { name: 'Dictate' }).click();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'Tidy my desk.');
    await page.getByRole('button', { name: 'End the dictation' }).click();
    await page.getByRole('button', { name: 'Dictate' }).waitFor();
  });
});
