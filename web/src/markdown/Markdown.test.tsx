import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Markdown } from './Markdown';

const html = (text: string): string => renderToStaticMarkup(<Markdown text={text} />);

describe('Markdown', () => {
  it('has headings below those of the page, lists, tables and code', () => {
    expect(html('# A\n\n- one\n- **two**')).toContain('<h3 class="head">A</h3><ul><li><span>one</span></li><li><span><strong>two</strong></span></li></ul>');
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
    expect(html('[x](https://a.example/)')).toContain('href="https://a.example/" target="_blank" rel="noopener noreferrer nofollow"');
  });

  it('draws what is half there as it will be', () => {
    expect(html('| a | b |\n|---|---|\n| 1')).toContain('<table');
    expect(html('```py\nprint(')).toContain('<pre');
  });
});
