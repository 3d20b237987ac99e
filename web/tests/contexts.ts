// Contexts of a browser that somebody has left, as new for who comes next: nothing is stored in them, and their pages
// are closed. What stays is what a browser knows of the scripts of the pages: to read them again took a fifth of the
// processor time of a test.
import type { BrowserContext, CDPSession, Page } from 'playwright-core';

/** A context with a page of the same site that nobody sees: with it the process of the pages stays. */
interface Kept {
  context: BrowserContext;
  rest: Page;
  devtools: CDPSession;
}

const free = new Map<string, Kept[]>();
const resting = new Map<BrowserContext, Kept>();

/** A context that was left for this site and these options, if there is one. */
export function taken(site: string, options: string): BrowserContext | undefined {
  return free.get(`${site} ${options}`)?.pop()?.context;
}

/** Empties a context, and keeps it for who comes next to the site with these options. */
export async function leave(context: BrowserContext, site: string, options: string): Promise<void> {
  let kept = resting.get(context);
  if (!kept) {
    const rest = await context.newPage();
    await rest.goto(`${site}/manifest.webmanifest`);
    kept = { context, rest, devtools: await context.newCDPSession(rest) };
    resting.set(context, kept);
  }
  const { rest, devtools } = kept;
  for (const page of context.pages()) if (page !== rest) await page.close();
  await context.clearCookies();
  await rest.evaluate(() => localStorage.clear()); // the last words of the pages are written before
  await devtools.send('Storage.clearDataForOrigin', { origin: site, storageTypes: 'all' });
  const key = `${site} ${options}`;
  free.set(key, [...(free.get(key) ?? []), kept]);
}

/** Closes the contexts that were left for a site. */
export async function forget(site: string): Promise<void> {
  for (const [key, all] of free) {
    if (!key.startsWith(`${site} `)) continue;
    free.delete(key);
    for (const { context } of all) await gone(context);
  }
}

/** Closes a context for good. */
export async function gone(context: BrowserContext): Promise<void> {
  resting.delete(context);
  await context.close();
}

/** Forgets all of them: their browser is closed. */
export function forgetAll(): void {
  free.clear();
  resting.clear();
}
