// Diffs: the unified form is read, two texts are compared, and in lines that took the place of others the words are
// marked that changed.

/** A piece of a line; marked is what the other line does not have. */
export interface Piece {
  text: string;
  marked: boolean;
}

export interface Line {
  kind: 'same' | 'add' | 'del';
  /** Its numbers in the old text and in the new one. */
  old?: number;
  now?: number;
  pieces: Piece[];
}

/** Lines that follow one another, and how many that are the same come before them. */
export interface Hunk {
  before: number;
  lines: Line[];
}

const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Reads a unified diff of one file. */
export function hunksOf(text: string): Hunk[] {
  const hunks: Hunk[] = [];
  let [old, now, end] = [1, 1, 1];
  for (const line of text.split('\n')) {
    const at = head.exec(line);
    if (at) {
      // A side without lines is numbered by the line before it.
      old = Number(at[1]) + (at[2] === '0' ? 1 : 0);
      now = Number(at[3]) + (at[4] === '0' ? 1 : 0);
      hunks.push({ before: old - end, lines: [] });
      continue;
    }
    const hunk = hunks.at(-1);
    if (!hunk || line === '' || line.startsWith('\\')) continue;
    const pieces = [{ text: line.slice(1), marked: false }];
    if (line[0] === '+') hunk.lines.push({ kind: 'add', now: now++, pieces });
    else if (line[0] === '-') hunk.lines.push({ kind: 'del', old: old++, pieces });
    else hunk.lines.push({ kind: 'same', old: old++, now: now++, pieces });
    end = old;
  }
  for (const hunk of hunks) markWords(hunk.lines);
  return hunks;
}

/** How many lines that are the same stand around a change. */
const around = 3;

/** Compares two texts. */
export function hunksBetween(before: string, after: string): Hunk[] {
  const [a, b] = [linesIn(before), linesIn(after)];
  const all = merged(a, b).map(([kind, text, i, j]): Line => {
    const pieces = [{ text, marked: false }];
    if (kind === 'same') return { kind, old: i + 1, now: j + 1, pieces };
    return kind === 'del' ? { kind, old: i + 1, pieces } : { kind, now: j + 1, pieces };
  });
  const shown = all.map((_, n) => all.slice(Math.max(0, n - around), n + around + 1).some((l) => l.kind !== 'same'));
  const hunks: Hunk[] = [];
  let skipped = 0;
  all.forEach((line, n) => {
    if (!shown[n]) {
      skipped++;
      return;
    }
    if (n === 0 || !shown[n - 1]) hunks.push({ before: skipped, lines: [] });
    skipped = 0;
    hunks.at(-1)?.lines.push(line);
  });
  for (const hunk of hunks) markWords(hunk.lines);
  return hunks;
}

const linesIn = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

type Merged = [kind: Line['kind'], text: string, i: number, j: number];

/** The work that a comparison may be: beyond it, all between the ends that are the same is taken as changed. */
const mostWork = 4_000_000;

/** What two lists have in common and what each has alone, in order. */
export function merged(a: string[], b: string[]): Merged[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [n, m] = [a.length - start - end, b.length - start - end];
  const out: Merged[] = a.slice(0, start).map((text, i) => ['same', text, i, i]);
  out.push(
    ...middle(a.slice(start, start + n), b.slice(start, start + m)).map(
      ([k, t, i, j]): Merged => [k, t, i + start, j + start],
    ),
  );
  for (let i = 0; i < end; i++) out.push(['same', a[start + n + i] as string, start + n + i, start + m + i]);
  return out;
}

function middle(a: string[], b: string[]): Merged[] {
  const [n, m] = [a.length, b.length];
  const out: Merged[] = [];
  // common[i][j]: how long the longest common part of what stands behind i and j is.
  const common = n * m > mostWork ? null : new Uint32Array((n + 1) * (m + 1));
  if (common) {
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        const [here, down, right] = [i * (m + 1) + j, (i + 1) * (m + 1) + j, i * (m + 1) + j + 1];
        common[here] = a[i] === b[j] ? (common[down + 1] ?? 0) + 1 : Math.max(common[down] ?? 0, common[right] ?? 0);
      }
    }
  }
  let [i, j] = [0, 0];
  while (i < n || j < m) {
    const [down, right] = [common?.[(i + 1) * (m + 1) + j] ?? 0, common?.[i * (m + 1) + j + 1] ?? 0];
    if (i < n && j < m && common && a[i] === b[j]) out.push(['same', a[i] as string, i++, j++]);
    else if (i < n && (j >= m || down >= right)) out.push(['del', a[i] as string, i++, j]);
    else out.push(['add', b[j] as string, i, j++]);
  }
  return out;
}

/** Lines side by side: what was replaced stands beside what took its place. */
export function pairsOf(lines: Line[]): [old: Line | undefined, now: Line | undefined][] {
  const out: [Line | undefined, Line | undefined][] = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] as Line;
    if (line.kind === 'same') {
      out.push([line, line]);
      i++;
      continue;
    }
    const from = i;
    while (lines[i]?.kind === 'del') i++;
    const mid = i;
    while (lines[i]?.kind === 'add') i++;
    for (let k = 0; k < Math.max(mid - from, i - mid); k++)
      out.push([from + k < mid ? lines[from + k] : undefined, mid + k < i ? lines[mid + k] : undefined]);
  }
  return out;
}

/** Marks what changed in lines that were replaced, each by the one in its place. */
function markWords(lines: Line[]): void {
  for (let i = 0; i < lines.length; ) {
    const from = i;
    while (lines[i]?.kind === 'del') i++;
    const mid = i;
    while (lines[i]?.kind === 'add') i++;
    for (let k = 0; k < Math.min(mid - from, i - mid); k++) markPair(lines[from + k] as Line, lines[mid + k] as Line);
    if (i === from) i++;
  }
}

const wordsIn = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|./gu) ?? [];

/** Marks the words of a pair, if it has enough in common to be one line that was changed. */
function markPair(old: Line, now: Line): void {
  const [a, b] = [wordsIn(old.pieces[0]?.text ?? ''), wordsIn(now.pieces[0]?.text ?? '')];
  if (a.length * b.length > 250_000) return;
  const all = merged(a, b);
  const same = all.reduce((sum, [kind, text]) => sum + (kind === 'same' ? text.trim().length : 0), 0);
  const size = (list: string[]): number => list.reduce((sum, text) => sum + text.trim().length, 0);
  if (same * 2 < Math.min(size(a), size(b)) || same === 0) return;
  old.pieces = joined(all.filter(([kind]) => kind !== 'add'));
  now.pieces = joined(all.filter(([kind]) => kind !== 'del'));
}

function joined(parts: Merged[]): Piece[] {
  const out: Piece[] = [];
  for (const [kind, text] of parts) {
    const marked = kind !== 'same';
    const last = out.at(-1);
    if (last && last.marked === marked) last.text += text;
    else out.push({ text, marked });
  }
  return out;
}
