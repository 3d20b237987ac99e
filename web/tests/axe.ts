// What axe finds in a page.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Found {
  violations: { id: string; nodes: { html: string }[] }[];
}

/** What axe finds, as lines, once what changes for a moment has its last colours; with a rule's name, what breaks that one. */
export async function found(page: Page, rule?: string): Promise<string[]> {
  await page.evaluate(async () => {
    const short = document.getAnimations().filter((a) => a.effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(short.map((a) => a.finished));
  });
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(axe);
  const only = rule ? `, runOnly: ["${rule}"]` : '';
  const result = (await page.evaluate(`axe.run(document, {resultTypes: ["violations"]${only}})`)) as Found;
  return result.violations.map((f) => `${f.id}: ${f.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`);
}

/** What axe finds in a page in light and in dark, which have the same elements in other colours; it stays in light. taken is called in both. */
export async function foundInBoth(page: Page, taken: (colorScheme: 'light' | 'dark') => Promise<unknown> = async () => {}): Promise<string[]> {
  const all: string[] = [];
  for (const [colorScheme, rule] of [['dark', 'color-contrast'], ['light', undefined]] as const) {
    await page.emulateMedia({ colorScheme });
    all.push(...(await found(page, rule)).map((one) => `${colorScheme}: ${one}`));
    await taken(colorScheme);
  }
  return all;
}
