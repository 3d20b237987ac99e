import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { numeric, rowsOf } from './csv';
import { endingOf, type Entry, kindOf, short, whole } from './data';
import { hunksBetween, hunksOf, merged } from './diff';
import { sha256 } from './sha256';
import { linesOf, newestOf, treeOf } from './tree';

const entry = (path: string, kind = 'file', modified_at = '2026-01-01'): Entry => ({
  path: whole(path),
  kind,
  size: 1,
  modified_at,
  made_by: null,
});

describe('the tree', () => {
  const list = [
    entry('outputs', 'folder'),
    entry('outputs/b.md'),
    entry('outputs/site', 'folder'),
    entry('outputs/site/index.html'),
    entry('uploads', 'folder'),
    entry('workspace', 'folder'),
    entry('workspace/empty', 'folder'),
    entry('workspace/a10.py'),
    entry('workspace/a9.py', 'file', '2026-02-01'),
  ];
  const paths = (shut: string[]): string[] => linesOf(treeOf(list), new Set(shut)).map((n) => n.path);

  it('has folders before files, numbers in their order, and no folder without a file', () => {
    expect(paths([])).toEqual([
      'outputs',
      'outputs/site',
      'outputs/site/index.html',
      'outputs/b.md',
      'workspace',
      'workspace/a9.py',
      'workspace/a10.py',
    ]);
    expect(paths(['outputs', 'workspace'])).toEqual(['outputs', 'workspace']);
  });
  it('shows an output before what changed later elsewhere', () => {
    expect(short(newestOf(list)?.path ?? '')).toBe('outputs/b.md');
    expect(newestOf([entry('uploads', 'folder')])).toBeUndefined();
  });
});

describe('kinds', () => {
  it('follow from the ending of the name', () => {
    expect(['a/B.MD', 'x.csv', 'Makefile', 'a.tar.gz', 'p.svg', 'noend', '.gitignore'].map(kindOf)).toEqual([
      'markdown',
      'csv',
      'text',
      'other',
      'image',
      'other',
      'text',
    ]);
    expect(endingOf('a/b.TAR.GZ')).toBe('gz');
  });
});

describe('tables', () => {
  it('read quotes, line ends of Windows, and the mark that divides', () => {
    expect(rowsOf('a,b\r\n"x, ""y""\nz",2\r\n\r\n3,', 9)).toEqual([
      ['a', 'b'],
      ['x, "y"\nz', '2'],
      ['3', ''],
    ]);
    expect(rowsOf('\ufeffa;b\n1,5;2', 9)).toEqual([
      ['a', 'b'],
      ['1,5', '2'],
    ]);
    expect(rowsOf('a\tb\nc\td\ne\tf', 2)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(rowsOf('', 9)).toEqual([]);
    expect(rowsOf('"never closed, 1\n2', 9)).toEqual([['never closed, 1\n2']]);
  });
  it('know columns of numbers', () => {
    expect(
      numeric([
        ['m', 'n', 'x'],
        ['a', '1,200', ''],
        ['b', '−3 %', ''],
      ]),
    ).toEqual([false, true, false]);
  });
});

describe('diffs', () => {
  const text =
    '--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n keep\n-the old line\n+the new line\n end\n@@ -9,0 +10,2 @@\n+one\n+two\n\\ No newline at end of file\n';
  it('are read with the numbers of both sides', () => {
    const [first, second] = hunksOf(text);
    expect(first?.before).toBe(1);
    expect(first?.lines.map((l) => [l.kind, l.old, l.now])).toEqual([
      ['same', 2, 2],
      ['del', 3, undefined],
      ['add', undefined, 3],
      ['same', 4, 4],
    ]);
    expect(second?.before).toBe(5);
    expect(second?.lines.map((l) => l.now)).toEqual([10, 11]);
  });
  it('mark the words that changed', () => {
    const [first] = hunksOf(text);
    expect(first?.lines[1]?.pieces.filter((p) => p.marked).map((p) => p.text)).toEqual(['old']);
    expect(first?.lines[2]?.pieces.filter((p) => p.marked).map((p) => p.text)).toEqual(['new']);
    const other = hunksOf('@@ -1 +1 @@\n-abc def\n+12 345 67\n')[0];
    expect(other?.lines.every((l) => l.pieces.every((p) => !p.marked))).toBe(true);
  });
  it('of two texts say what makes one of the other', () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i}`);
    const after = before.toSpliced(10, 1, 'another').concat('last');
    const hunks = hunksBetween(before.join('\n'), after.join('\n'));
    expect(hunks.map((h) => h.before)).toEqual([7, 3]);
    expect(
      hunks
        .flatMap((h) => h.lines)
        .filter((l) => l.kind === 'add')
        .map((l) => l.now),
    ).toEqual([11, 21]);
    expect(hunksBetween('a\nb\n', 'a\nb\n')).toEqual([]);
    expect(hunksBetween('', 'a').flatMap((h) => h.lines)).toHaveLength(1);
  });
  it('give up where the work would be too much, and lose nothing', () => {
    const a = Array.from({ length: 3000 }, (_, i) => `a${i}`);
    const b = Array.from({ length: 3000 }, (_, i) => `b${i}`);
    const all = merged(a, b);
    expect(all.filter(([k]) => k !== 'add').map(([, t]) => t)).toEqual(a);
    expect(all.filter(([k]) => k !== 'del').map(([, t]) => t)).toEqual(b);
  });
});

describe('sums', () => {
  it('are those that the server makes', () => {
    for (const text of [
      '',
      'abc',
      'ä€😀'.repeat(50),
      'x'.repeat(55),
      'x'.repeat(56),
      'x'.repeat(64),
      'y'.repeat(100_000),
    ]) {
      expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });
});
