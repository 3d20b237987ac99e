import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Markdown } from './Markdown';
import { blocksOf } from './maths';

const html = (text: string): string => renderToStaticMarkup(<Markdown text={text} />);

describe('Markdown', () => {
  it('has headings below those of the page, lists, tables and code', () => {
    expect(html('# A\n\n- one\n- **two**')).toContain(
      '<h3 class="head">A</h3><ul><li><span>one</span></li><li><span><strong>two</strong></span></li></ul>',
    );
    expect(html('| a | n |\n|---|---|\n| x | 12 |')).toMatch(/<th class="r">n<\/th>.*<td class="r">12<\/td>/);
    expect(html('```go\na < b\n```')).toContain('<code>a &lt; b</code>');
    expect(html('a `b & c` &amp; d')).toContain('<code>b &amp; c</code> &amp; d');
  });

  it('runs nothing, leads nowhere it should not, and asks no other host', () => {
    for (const hostile of [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      'a <iframe src="https://x"></iframe> b',
      '[x](javascript:alert(1))',
      '[x](JaVaScRiPt:alert(1))',
      '[x](data:text/html,hi)',
      '[x](vbscript:x)',
      '![x](https://elsewhere.example/a.png)',
      '![x](javascript:alert(1))',
      '<a href="javascript:alert(1)">x</a>',
    ]) {
      expect(html(hostile)).not.toMatch(/<(script|img|iframe)|href="(?!https:)/i);
    }
    expect(html('[x](https://a.example/)')).toContain(
      'href="https://a.example/" target="_blank" rel="noopener noreferrer nofollow"',
    );
  });

  it('draws what is half there as it will be', () => {
    expect(html('| a | b |\n|---|---|\n| 1')).toContain('<table');
    expect(html('```py\nprint(')).toContain('<pre');
  });
});

describe('a text that is being written', () => {
  const half = (text: string): string => renderToStaticMarkup(<Markdown text={text} writing />);

  it('has a table from the end of its head on', () => {
    expect(half('| a | b')).not.toContain('|');
    for (const text of [
      '| a | b |\n',
      '| a | b |\n|',
      '| a | b |\n|--',
      '| a | b |\n|---|-',
      'Words\n\n| a | b |\n|---|---|\n| 1',
    ]) {
      expect(half(text), text).toContain('<table');
      expect(half(text), text).not.toMatch(/<p>\|/);
    }
    expect(half('| a \\| b | c |\n|').match(/<th[ >]/g)).toHaveLength(2);
  });

  it('has no part of a fence as words', () => {
    for (const text of ['So:\n\n`', 'So:\n\n``', '```go\nx\n``', '~~']) expect(half(text), text).not.toMatch(/[`~]/);
    expect(half('```go\nx')).toContain('<pre');
    expect(half('use `x` and ``')).toContain('``');
    expect(half('```sh\necho $HOME')).toContain('$HOME');
  });

  it('has no part of a formula as words', () => {
    for (const text of ['so $x', 'so $x^2 + ', 'so \\(x'])
      expect(half(text), text).toBe('<div class="prose"><p>so </p></div>');
    expect(half('it costs $5')).toContain('$5');
  });
});

describe('a hostile text', () => {
  const took = (text: string): number => {
    const begun = performance.now();
    blocksOf(text, false);
    blocksOf(text, true);
    return performance.now() - begun;
  };

  // Beside a plain text of twice the length, so that a slow machine is no other: what takes the square of its length
  // takes a thousand times as long.
  it.each([
    '\\[\n\n'.repeat(100_000),
    '\\( '.repeat(10_000),
    '$a '.repeat(10_000),
    'Words of a paragraph.\n\n'.repeat(10_000),
  ])(
    'takes no longer than others of its length',
    (text) => {
      const plain = took('word and word\n\n'.repeat(text.length / 7));
      expect(took(text)).toBeLessThan(50 * plain + 500);
    },
    60_000,
  );
});
