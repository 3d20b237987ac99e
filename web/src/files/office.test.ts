import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { zipped } from '../../tests/zipped';
import { hunksBetween, pairsOf } from './diff';
import { columnOf, dateOf } from './office';
import { unzipped } from './zip';

const bytes = (b: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(b);

describe('an archive', () => {
  it('is read, packed or not', async () => {
    const zip = unzipped(bytes(zipped({ 'a.txt': 'one', 'b/c.xml': '<x>ä</x>'.repeat(100) })));
    expect(zip.names).toEqual(['a.txt', 'b/c.xml']);
    expect(await zip.text('b/c.xml')).toBe('<x>ä</x>'.repeat(100));
    expect(await zip.text('none')).toBeUndefined();
  });

  it('that is a bomb is not unpacked, whatever it says of its size', async () => {
    const bomb = zipped({ 'a.txt': 'x' });
    const packed = deflateRawSync(Buffer.alloc(40 << 20));
    await expect(unzipped(bytes(zipped({ big: Buffer.alloc(40 << 20) }))).read('big')).rejects.toThrow(/too large/);
    await expect(unzipped(bytes(zipped({}, { lie: { packed, says: 10 } }))).read('lie')).rejects.toThrow(/too large/);
    expect(await unzipped(bytes(bomb)).text('a.txt')).toBe('x');
  });

  it('that is broken anywhere is read or refused, and does no harm', async () => {
    const good = zipped({ 'word/document.xml': '<a>text</a>'.repeat(50), b: 'c' });
    let seed = 7;
    const next = (n: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % n;
    for (let i = 0; i < 2000; i++) {
      const bad = bytes(good).slice(0, next(4) === 0 ? next(good.length) : good.length);
      for (let k = next(6); k >= 0 && bad.length > 0; k--) bad[next(bad.length)] = next(256);
      try {
        const zip = unzipped(bad);
        for (const name of zip.names) await zip.read(name);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }
  });
});

describe('a workbook', () => {
  it('has columns by letters and days by numbers', () => {
    expect(['A1', 'Z9', 'AA1', 'XFD1', '12', ''].map(columnOf)).toEqual([0, 25, 26, 16_383, undefined, undefined]);
    expect([45_292, 45_292.5, 0.25, 60, Number.MAX_VALUE].map(dateOf)).toEqual([
      '2024-01-01',
      '2024-01-01 12:00',
      '06:00',
      '1900-02-28',
      String(Number.MAX_VALUE),
    ]);
  });
});

describe('a diff of two columns', () => {
  it('has what was replaced beside what took its place', () => {
    const [hunk] = hunksBetween('a\nb\nc\nd\n', 'a\nB\nc\nd\ne\nf\n');
    expect(
      pairsOf(hunk?.lines ?? []).map((pair) => pair.map((l) => l?.pieces.map((p) => p.text).join('') ?? '-').join('|')),
    ).toEqual(['a|a', 'b|B', 'c|c', 'd|d', '-|e', '-|f']);
  });
});
