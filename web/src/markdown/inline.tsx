// What stands within a line of Markdown.
import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode } from 'react';
import { Maths } from './Maths';
import type { Formula } from './maths';

/** The elements of tokens within a line. */
export const inline = (tokens: Token[]): ReactNode => tokens.map((t, i) => <Fragment key={i}>{one(t)}</Fragment>);

function one(t: Token): ReactNode {
  switch (t.type) {
    case 'strong':
      return <strong>{inline((t as Tokens.Strong).tokens)}</strong>;
    case 'em':
      return <em>{inline((t as Tokens.Em).tokens)}</em>;
    case 'del':
      return <del>{inline((t as Tokens.Del).tokens)}</del>;
    case 'codespan':
      return <code>{(t as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return linkOf(t as Tokens.Link);
    case 'image':
      return imageOf(t as Tokens.Image);
    case 'formula':
      return <Maths token={t as unknown as Formula} />;
    case 'escape':
      return (t as Tokens.Escape).text;
    case 'text': {
      const { tokens, text } = t as Tokens.Text;
      return tokens ? inline(tokens) : unescaped(text);
    }
    default:
      return t.raw;
  }
}

/** The address if a text may lead there. */
export function safe(href: string): string | null {
  try {
    const { protocol } = new URL(href, 'https://relative.invalid/');
    const relative = !/^[a-z][a-z0-9+.-]*:/i.test(href);
    return !relative && ['https:', 'http:', 'mailto:', 'tel:'].includes(protocol) ? href : null;
  } catch {
    return null;
  }
}

function linkOf(t: Tokens.Link): ReactNode {
  const href = safe(t.href);
  const words = inline(t.tokens);
  if (!href) return <span title={t.href}>{words}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" {...(t.title ? { title: t.title } : {})}>
      {words}
    </a>
  );
}

/** An image of another host is a link: a page asks no other host for anything. */
function imageOf(t: Tokens.Image): ReactNode {
  const href = safe(t.href);
  const name = t.text || t.href;
  if (!href) return <span>{name}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {name}
    </a>
  );
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0' };

/** The few characters that the lexer leaves as entities. */
const unescaped = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (all, name: string) => named[name] ?? all);
