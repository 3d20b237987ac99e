// What axe finds in a page.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What axe finds, as lines, with the last colours of what changes for a moment; with a rule's name, what breaks that
 * one. Only the lines leave the page: all that axe knows of a page costs as much to bring here as to find.
 */
export async function found(page: Page, rule?: string): Promise<string[]> {
  await page.evaluate(() => {
    for (const a of document.getAnimations()) if (a.effect?.getComputedTiming().endTime !== Infinity) a.finish();
  });
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(`${axe}; undefined`);
  const only = rule ? `, runOnly: ["${rule}"]` : '';
  return (await page.evaluate(`axe.run(document, {resultTypes: ["violations"], selectors: false${only}}).then((found) =>
    found.violations.map((f) => f.id + ": " + f.nodes.map((n) => n.html.slice(0, 120)).join(" | ")))`)) as string[];
}

/**
 * What axe finds in a page in light and in dark, which have the same elements in other colours; it stays in light.
 * taken is called in both.
 */
export async function foundInBoth(
  page: Page,
  taken: (colorScheme: 'light' | 'dark') => Promise<unknown> = async () => {},
): Promise<string[]> {
  const all: string[] = [];
  for (const [colorScheme, rule] of [
    ['dark', 'color-contrast'],
    ['light', undefined],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    all.push(...(await found(page, rule)).map((one) => `${colorScheme}: ${one}`));
    await taken(colorScheme);
  }
  return all;
}
