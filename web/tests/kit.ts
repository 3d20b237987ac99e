// What browser tests stand on: the real server with the scripted model on a port of its own, and a page of the system's
// Chromium.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { forget, forgetAll, gone, leave, taken } from './contexts';

const program = process.env['PUDU_TEST_PROGRAM'] ?? '';
const browserPath = process.env['PUDU_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
// Chromium without all that a window needs: a page takes a third of the processor time. It draws letters a little
// differently, and it ends a page that asks whether it may recognise speech.
const shellPath = process.env['PUDU_TEST_SHELL'] || browserPath;
/** How long a test waits for what it looks for: machines that do other things too are slow. */
export const patience = 60_000;
/** How many times slower than the machine a page is to be: what only holds on a quick one shows itself so. */
const slowness = Number(process.env['PUDU_TEST_SLOW'] ?? 1);
/**
 * Whether the next visitor may have the context that another has left: not where pages are slow, which is a thing of
 * the process that they share.
 */
const keeps = slowness === 1 && shellPath !== browserPath;

// An address of the loopback network that this process alone uses: while a server is away, no connection of another
// takes its port.
const host =
  process.platform === 'linux'
    ? `127.${1 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`
    : '127.0.0.1';
const files = new URL('./server/', import.meta.url).pathname;

/** A server with its data. It may be killed and come back at the same address. */
export class Server {
  private child: ChildProcess | undefined;
  readonly data = mkdtempSync(join(tmpdir(), 'pudu-web-'));
  url = '';

  constructor(
    private readonly options: { model?: boolean; token?: string; env?: Record<string, string>; config?: string } = {},
  ) {}

  /** Starts it, and waits until it is there. */
  async start(): Promise<this> {
    const address = this.url ? this.url.replace('http://', '') : `${host}:0`;
    const args = [
      'serve',
      '--addr',
      address,
      '--data',
      this.data,
      ...(this.options.model === false ? [] : ['--config', this.options.config ?? 'config.yaml']),
    ];
    const env: NodeJS.ProcessEnv = {
      PATH: process.env['PATH'],
      HOME: this.data,
      ...(this.options.token ? { PUDU_TOKEN: this.options.token } : {}),
      ...this.options.env,
    };
    const child = spawn(program, args, {
      cwd: this.options.model === false ? this.data : files,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.child = child;
    this.url = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stderr.on('data', (piece: Buffer) => {
        said += piece.toString();
        const at = /Pudu is ready at (\S+)/.exec(said)?.[1];
        if (at) resolve(at);
      });
      child.on('exit', () => reject(new Error(`the server did not start: ${said}`)));
    });
    return this;
  }

  /** What a path answers. */
  get<T>(path: string, headers: Record<string, string> = {}): Promise<T> {
    return this.ask(path, { headers });
  }

  /** Sends JSON to a path, and gives the answer. */
  post<T>(path: string, body: object, method = 'POST'): Promise<T> {
    return this.ask(path, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  }

  private async ask<T>(path: string, request: RequestInit): Promise<T> {
    const answer = await fetch(this.url + path, request);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return (text && JSON.parse(text)) as T;
  }

  /** Has a task done without a browser, until it ends or asks; the id of its thread. */
  async task(content: string, context: object = {}): Promise<string> {
    const { thread_id } = await this.post<{ thread_id: string }>('/threads', {});
    await this.post(`/threads/${thread_id}/runs/wait`, {
      assistant_id: 'lead_agent',
      input: { messages: [{ type: 'human', content }] },
      context,
    });
    return thread_id;
  }

  /** Ends it: as an operator does, or at once. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const { child } = this;
    if (!child || !this.runs) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }

  /** Whether it is there. */
  get runs(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  async close(): Promise<void> {
    await forget(this.url);
    await this.stop('SIGKILL');
    rmSync(this.data, { recursive: true, force: true });
  }
}

let browser: Browser | undefined;

/** A browser of its own for a test file; for pictures the one that people use. */
export async function open(pictures = false): Promise<Browser> {
  const executablePath = pictures ? browserPath : shellPath;
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--font-render-hinting=none', '--disable-lcd-text'];
  // Figures are of pages as people have them. No page of a test lives long enough to gain by what V8 compiles once more
  // for speed.
  if (executablePath !== browserPath)
    args.push('--disable-blink-features=OnDeviceWebSpeechAvailable', '--js-flags=--no-maglev,--no-turbofan');
  if (keeps) args.push('--process-per-site');
  browser ??= await chromium.launch({ executablePath, args });
  return browser;
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
  forgetAll();
}

/** A person at a browser: everything that goes wrong in the page is kept. */
export class Visitor {
  readonly wrong: string[] = [];
  private asked = 0; // requests of the pages

  private touched = false; // by a test that has asked for the context: nobody knows what it did with it

  constructor(
    private readonly own: BrowserContext,
    readonly page: Page,
    private readonly server: Server,
    private readonly options: BrowserContextOptions,
  ) {
    this.listen(page);
  }

  get context(): BrowserContext {
    this.touched = true;
    return this.own;
  }

  private listen(page: Page): void {
    page.on('pageerror', (e) => this.wrong.push(e.message));
    page.on('console', (m) => {
      if (/Content Security Policy|Warning:|Each child in a list/.test(m.text())) this.wrong.push(m.text());
    });
    page.on('request', (r) => {
      this.asked++;
      if (!r.url().startsWith(this.server.url) && !/^(data|blob):/.test(r.url()))
        this.wrong.push(`asks another host: ${r.url()}`);
    });
  }

  /** Goes to a path of the server. */
  async to(path: string): Promise<Page> {
    await this.page.goto(this.server.url + path);
    return this.page;
  }

  /** Begins a task, and gives its address. */
  async say(text: string): Promise<string> {
    await this.to('/');
    await this.page.getByRole('textbox', { name: 'Task' }).fill(text);
    await this.page.keyboard.press('Enter');
    await this.page.waitForURL(/\/c\/[0-9a-f-]+$/);
    return new URL(this.page.url()).pathname;
  }

  /** Waits until a text stands in the conversation. */
  async sees(text: string | RegExp, timeout = patience): Promise<void> {
    try {
      await this.page.getByText(text).first().waitFor({ timeout });
    } catch (err) {
      const said = await this.page.locator('body').innerText().catch(String); // the page may be gone
      throw new Error(`${String(err)}\nThe page says:\n${said.slice(0, 4000)}`, { cause: err });
    }
  }

  /** Opens what was done for the answers on the page. A run that had ended before the page was there is folded. */
  async unfold(): Promise<void> {
    const folded = this.page.locator('details.run:not([open]) > summary');
    while ((await folded.count()) > 0) await folded.first().click();
  }

  /** Ends the command of the task on the page that would go on for a minute. */
  async enough(): Promise<void> {
    const files = new FormData();
    files.append('files', new Blob(['yes']), 'enough');
    const thread = /[0-9a-f-]{36}/.exec(this.page.url())?.[0] ?? '';
    const { status } = await fetch(`${this.server.url}/api/threads/${thread}/uploads`, { method: 'POST', body: files });
    expect(status).toBe(200);
  }

  /** Waits until the page has nothing to do and asks for nothing more. */
  async quiet(): Promise<void> {
    for (let before = -1; before !== this.asked; ) {
      before = this.asked;
      await this.page.waitForTimeout(500);
      await this.page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
    }
  }

  /** A second tab of the same browser. */
  async tab(): Promise<Page> {
    const page = await newPage(this.own);
    this.listen(page);
    return page;
  }

  async close(): Promise<void> {
    // What a test answers in the place of the server may be under way.
    for (const page of this.own.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    if (keeps && !this.touched && !this.options.serviceWorkers && this.server.runs)
      await leave(this.own, this.server.url, JSON.stringify(this.options));
    else await gone(this.own);
    expect(this.wrong).toEqual([]);
  }
}

/** Somebody who opens a browser. */
export async function visit(server: Server, options: BrowserContextOptions = {}): Promise<Visitor> {
  const fresh = async (): Promise<BrowserContext> =>
    await (await open()).newContext({
      viewport: { width: 1440, height: 900 },
      locale: 'en-GB',
      serviceWorkers: 'block',
      ...options,
    });
  const context = taken(server.url, JSON.stringify(options)) ?? (await fresh());
  context.setDefaultTimeout(patience);
  return new Visitor(context, await newPage(context), server, options);
}

async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  if (slowness > 1) {
    const devtools = await context.newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowness });
  }
  return page;
}
