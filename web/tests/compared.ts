// Pictures of pages, beside those that were accepted. What a picture shows is the same on every machine with the same
// Chromium: its fonts come from packages, its clock stands still, and the server's times are all the same.
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
/**
 * How many of 100,000 points may differ beyond that: the edges of letters on other machines, and in another version of
 * the browser.
 */
const different = (version: string): number => (version.startsWith('156.') ? 15 : 500);

/** The fonts of the pictures, by the names of their packages. */
const fonts = ['inter', 'jetbrains-mono', 'noto-sans-sc'];
const home = (name: string): string => dirname(require.resolve(`@fontsource-variable/${name}/package.json`));
const faces = (): string =>
  fonts
    .map((name) =>
      readFileSync(join(home(name), 'index.css'), 'utf8').replaceAll('./files/', `fonts-of-tests/${name}/`),
    )
    .join('\n') +
  ':root { --sans: "Inter Variable", "Noto Sans SC Variable"; --mono: "JetBrains Mono Variable", "Noto Sans SC Variable"; }';

/** The time of the pages, and that of all that the server has done. */
const now = new Date('2026-11-27T10:00:00Z');
const stamps = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const then = '2026-11-27T09:14:00Z';
const durations = /"(\w+_ms|turn_duration|thought_for)":\s*[\d.]+/g;

/**
 * Answers with the fonts of the tests, and with styles that name them; false says that something else was asked for.
 */
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

/** A picture of a page. */
async function taken(page: Page): Promise<Buffer> {
  await page.evaluate(() => document.fonts.ready);
  return await page.screenshot({ animations: 'disabled', caret: 'hide' });
}

interface Picture {
  width: number;
  height: number;
  points: Uint8Array;
}

export const read = (png: Buffer): Picture => {
  const it = UPNG.decode(new Uint8Array(png).buffer);
  return { width: it.width, height: it.height, points: new Uint8Array(UPNG.toRGBA8(it)[0]!) };
};

/** How many points differ, and a picture of them; null if the sizes do. */
function differing(
  before: Picture | null,
  { width, height, points }: Picture,
): { count: number; marked: Uint8Array } | null {
  if (before?.width !== width || before.height !== height) return null;
  const marked = new Uint8Array(points.length);
  return { count: pixelmatch(before.points, points, marked, width, height, { threshold }), marked };
}

/**
 * How long a page may take until it looks as it was accepted, in milliseconds, and how long it must stay as it is to be
 * accepted.
 */
const patience = 30_000;
const rest = 2_000;

/**
 * What is wrong with the picture of a page once it has come to rest: nothing, or a sentence that says where to look.
 */
export async function wrongWith(page: Page, name: string): Promise<string> {
  const [kept, fresh, marked] = ['', '.new', '.marked'].map((end) => join(folder, `${name}${end}.png`)) as [
    string,
    string,
    string,
  ];
  rmSync(fresh, { force: true });
  rmSync(marked, { force: true });
  const before = existsSync(kept) ? read(readFileSync(kept)) : null;
  let png: Buffer;
  let seen: Picture;
  let differs: ReturnType<typeof differing>;
  for (const until = Date.now() + (accept ? rest : patience); ; await page.waitForTimeout(100)) {
    png = await taken(page);
    seen = read(png);
    differs = differing(before, seen);
    if (
      differs &&
      differs.count <= (seen.width * seen.height * different(page.context().browser()?.version() ?? '')) / 100_000
    )
      return '';
    if (Date.now() > until || (!before && !accept)) break;
  }
  const { width, height, points } = seen;
  if (accept) {
    writeFileSync(kept, Buffer.from(UPNG.encode([points.buffer as ArrayBuffer], width, height, 256)));
    return '';
  }
  writeFileSync(fresh, png);
  if (differs)
    writeFileSync(marked, Buffer.from(UPNG.encode([differs.marked.buffer as ArrayBuffer], width, height, 256)));
  return `${name} looks different${differs ? ` at ${differs.count} points` : ''}: see ${fresh}${differs ? `, and what differs in ${marked}` : ''}. To accept how it looks: scripts/web pictures`;
}
