// Pictures of pages, beside those that were accepted. What a picture shows is the same on every machine with the same Chromium: its fonts come from
// packages, its clock stands still, and the server's times are all the same.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import pixelmatch from 'pixelmatch';
import type { BrowserContext, Page, Route } from 'playwright-core';
import UPNG from 'upng-js';

const accept = process.env['PUDU_TEST_ACCEPT'] === '1';
const folder = new URL('./pictures/', import.meta.url).pathname;
const require = createRequire(import.meta.url);

/** How far a colour may be from the accepted one: those are kept with 256 colours. */
const threshold = 0.12;
/** How many of 100,000 points may differ beyond that: the edges of letters on other machines. */
const different = 15;

/** The fonts of the pictures, by the names of their packages. */
const fonts = ['inter', 'jetbrains-mono', 'noto-sans-sc'];
const home = (name: string): string => dirname(require.resolve(`@fontsource-variable/${name}/package.json`));
const faces = (): string =>
  fonts.map((name) => readFileSync(join(home(name), 'index.css'), 'utf8').replaceAll('./files/', `fonts-of-tests/${name}/`)).join('\n') +
  ':root { --sans: "Inter Variable", "Noto Sans SC Variable"; --mono: "JetBrains Mono Variable", "Noto Sans SC Variable"; }';

/** The time of the pages, and that of all that the server has done. */
const now = new Date('2026-11-27T10:00:00Z');
const stamps = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const then = '2026-11-27T09:14:00Z';
const durations = /"(\w+_ms|turn_duration|thought_for)":\s*[\d.]+/g;

/** Answers with the fonts of the tests, and with styles that name them; false says that something else was asked for. */
async function dressed(route: Route): Promise<boolean> {
  const { pathname } = new URL(route.request().url());
  const font = /fonts-of-tests\/([\w-]+)\/([\w.-]+)$/.exec(pathname);
  if (font) await route.fulfill({ path: join(home(font[1] ?? ''), 'files', font[2] ?? '') });
  else if (pathname.endsWith('.css')) {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()) + faces() });
  } else return false;
  return true;
}

/** Gives pages the fonts of the tests. */
export async function dress(context: BrowserContext): Promise<void> {
  await context.route('**/*', async (route) => void ((await dressed(route)) || (await route.continue())));
}

async function answer(route: Route): Promise<void> {
  if (await dressed(route)) return;
  if (route.request().resourceType() !== 'fetch') return await route.continue();
  const response = await route.fetch();
  await route.fulfill({ response, body: (await response.text()).replace(stamps, then).replace(durations, '"$1":400') });
}

/** Makes what a browser shows the same each time. */
export async function stand(context: BrowserContext): Promise<void> {
  await context.clock.setFixedTime(now);
  await context.route('**/*', answer);
  await context.addInitScript(() => {
    // What is new is no part of a picture, and would have the times of the server.
    const w = window as unknown as Record<string, unknown>;
    delete w['SharedWorker'];
    w['EventSource'] = class {
      onopen = (): void => {};
      constructor() {
        setTimeout(() => this.onopen());
      }
      addEventListener(): void {}
      close(): void {}
    };
  });
}

/** A picture of a page that has come to rest. */
async function taken(page: Page): Promise<Buffer> {
  await page.evaluate(() => document.fonts.ready);
  const take = (): Promise<Buffer> => page.screenshot({ animations: 'disabled', caret: 'hide' });
  let last = await take();
  for (let i = 0; i < 20; i++) {
    const next = await take();
    if (next.equals(last)) break;
    last = next;
  }
  return last;
}

/** The points of a picture. */
export const read = (png: Buffer): { width: number; height: number; points: Uint8Array } => {
  const it = UPNG.decode(new Uint8Array(png).buffer);
  return { width: it.width, height: it.height, points: new Uint8Array(UPNG.toRGBA8(it)[0]!) };
};

/** What is wrong with the picture of a page: nothing, or a sentence that says where to look. */
export async function wrongWith(page: Page, name: string): Promise<string> {
  const png = await taken(page);
  const { width, height, points } = read(png);
  const [kept, fresh, marked] = ['', '.new', '.marked'].map((end) => join(folder, `${name}${end}.png`)) as [string, string, string];
  rmSync(fresh, { force: true });
  rmSync(marked, { force: true });
  const before = existsSync(kept) ? read(readFileSync(kept)) : null;
  const out = new Uint8Array(points.length);
  const same = before?.width === width && before.height === height;
  const count = same ? pixelmatch(before.points, points, out, width, height, { threshold }) : width * height;
  if (count <= (width * height * different) / 100_000) return '';
  if (accept) {
    writeFileSync(kept, Buffer.from(UPNG.encode([points.buffer as ArrayBuffer], width, height, 256)));
    return '';
  }
  writeFileSync(fresh, png);
  if (same) writeFileSync(marked, Buffer.from(UPNG.encode([out.buffer], width, height, 256)));
  return `${name} looks different at ${count} points: see ${fresh}${same ? `, and what differs in ${marked}` : ''}. To accept how it looks: scripts/web pictures`;
}
