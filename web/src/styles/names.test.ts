// Names of classes are known to the whole page. A sheet that comes with a page, when that is first opened, must not
// restyle the others: it once did, by a rule for .t.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const sheets = (readdirSync(root, { recursive: true }) as string[]).filter((f) => f.endsWith('.css'));
const common = new Set(sheets.filter((f) => f.startsWith('styles/')));

/** The selectors of a sheet, one by one. */
function selectorsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const heads = [...text.matchAll(/([^{}]+)\{/g)].map((m) => (m[1] ?? '').split(';').at(-1)?.trim() ?? '');
  return heads.filter((h) => h !== '' && !/^@|^(from|to|[\d.]+%)/.test(h)).flatMap((h) => apart(h));
}

/** Divides a list of selectors, but not within brackets. */
function apart(list: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let one = '';
  for (const c of list) {
    if (c === '(') depth++;
    if (c === ')') depth--;
    if (c === ',' && depth === 0) {
      out.push(one.trim());
      one = '';
    } else one += c;
  }
  return [...out, one.trim()];
}

/** The classes of what a selector begins with. */
const beginning = (selector: string): string[] =>
  [...(/^[^\s>+~]*/.exec(selector)?.[0] ?? '').matchAll(/\.([\w-]+)/g)].map((m) => m[1] ?? '');

describe('a sheet that comes with a page', () => {
  const taken = new Set([...common].flatMap(selectorsOf).flatMap(beginning));
  const late = sheets.filter((f) => !common.has(f));

  it.each(late)('%s styles what is below names of its own alone', (file) => {
    const bad = selectorsOf(file).filter((selector) => {
      const names = [...selector.matchAll(/\.([\w-]+)/g)].map((m) => m[1] ?? '');
      if (beginning(selector).length > 1) return false; // a state of something, such as .app.wide
      return names.length > 0 && !names.some((n) => n.length > 2 && !taken.has(n));
    });
    expect(bad).toEqual([]);
  });
});
