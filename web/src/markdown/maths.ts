// Formulas in Markdown: $…$ and \(…\) in a line, $$…$$ and \[…\] on their own. An amount of money is none.
import { Marked, type Token, type TokenizerAndRendererExtension } from 'marked';

/** A formula among the tokens. */
export interface Formula {
  type: 'formula';
  raw: string;
  text: string;
  /** It stands on its own. */
  display: boolean;
  /** Its end has not come. */
  half: boolean;
}

// How far the end of a formula is looked for is bounded: a text of beginnings would take for ever.
const alone = /^ {0,3}(?:\$\$([\s\S]{1,5000}?)\$\$|\\\[([\s\S]{1,5000}?)\\\])[ \t]*(?:\n+|$)/;
const begun = /^ {0,3}(?:\$\$(?!\$)|\\\[)([\s\S]*)$/;
const within =
  /^(?:\$\$([^$]{1,2000}?)\$\$|\\\[([\s\S]{1,2000}?)\\\]|\\\(([\s\S]{1,2000}?)\\\)|\$(?![\s$])((?:\\.|[^$\\\n])+?)(?<![\s\\])\$(?![\d\w]))/;

const formula = (raw: string, text: string, display: boolean, half = false): Formula => ({
  type: 'formula',
  raw,
  text: text.trim(),
  display,
  half,
});

/** A formula in lines of its own; while a text is written, one that has no end yet is one already. */
const block = (writing: boolean): TokenizerAndRendererExtension => ({
  name: 'formula',
  level: 'block',
  start: (src) => /(?:^|\n) {0,3}(?:\$\$|\\\[)/.exec(src)?.index,
  tokenizer: (src) => {
    const whole = alone.exec(src);
    if (whole) return formula(whole[0], whole[1] ?? whole[2] ?? '', true);
    const half = writing && begun.exec(src);
    return half ? formula(half[0], half[1] ?? '', true, true) : undefined;
  },
});

const line: TokenizerAndRendererExtension = {
  name: 'formula',
  level: 'inline',
  start: (src) => /\$|\\[([]/.exec(src)?.index,
  tokenizer: (src) => {
    const found = within.exec(src);
    if (!found) return undefined;
    return formula(
      found[0],
      found.slice(1).find((s) => s !== undefined) ?? '',
      found[1] !== undefined || found[2] !== undefined,
    );
  },
};

const reader = (writing: boolean): Marked =>
  new Marked({ gfm: true, breaks: false, extensions: [block(writing), line] });
const whole = reader(false);
const half = reader(true);
const plain = new Marked({ gfm: true, breaks: false });
const mayHold = /\$|\\[([]/;

/** The blocks of a text. */
export const blocksOf = (text: string, writing: boolean): Token[] =>
  (mayHold.test(text) ? (writing ? half : whole) : plain)
    .lexer(writing ? settled(text) : text)
    .filter((t) => t.type !== 'space' && t.type !== 'def');

/** Where the first formula begins, or -1. */
export function firstFormula(blocks: Token[]): number {
  const holds = (t: Token): boolean =>
    t.type === 'formula' ||
    Object.values(t).some(
      (v) =>
        Array.isArray(v) &&
        (v as unknown[]).flat().some((x) => !!x && typeof x === 'object' && 'type' in x && holds(x as Token)),
    );
  return blocks.findIndex(holds);
}

/** Whether a text, which may be being written, has a formula. */
export const hasFormula = (text: string): boolean => mayHold.test(text) && firstFormula(blocksOf(text, true)) >= 0;

/** A formula within the last line whose end has not come. */
const open = /(?:^|[^\\\w$])(\$(?![\s\d$])[^$\n]{0,300}|\\\((?:(?!\\\))[^\n]){0,300})$/;

/**
 * A text that is being written, with its end as what it will be: the head of a table waits for its line to be whole and
 * is a table then, what may become a fence or a formula waits.
 */
export function settled(text: string): string {
  const begin = text.lastIndexOf('\n') + 1;
  const last = text.slice(begin);
  if (/^\s*(`{1,2}|~{1,2})$/.test(last)) return text.slice(0, begin);
  if (((text.match(/^ {0,3}(```|~~~)/gm)?.length ?? 0) & 1) === 1) return text; // within code
  const before = lineBefore(text, begin);
  if (/^\|/.test(last) && !/\|/.test(before)) return text.slice(0, begin);
  if (/^\|/.test(before) && /^[|:\- ]*$/.test(last) && !/\|/.test(lineBefore(text, begin - 1 - before.length)))
    return text.slice(0, begin) + ruler(before);
  const half = open.exec(last);
  return half?.[1] ? text.slice(0, text.length - half[1].length) : text;
}

/** The line that ends before a place where a line begins. */
const lineBefore = (text: string, begin: number): string =>
  begin > 0 ? text.slice(text.lastIndexOf('\n', begin - 2) + 1, begin - 1) : '';

/** The line below the head of a table, for as many cells as the head has so far. */
const ruler = (head: string): string =>
  `|${'---|'.repeat(
    Math.max(
      1,
      head
        .replace(/\\\|/g, '')
        .replace(/^\s*\||\|\s*$/g, '')
        .split('|').length,
    ),
  )}`;
