// Markdown as elements of the page. It is cut into blocks; while text is added at the end, only the last block is drawn anew. HTML
// in it is shown as the text that it is, links lead to web pages and mail alone, images of other hosts are links.
import { Lexer, type Token, type Tokens } from 'marked';
import { createContext, memo, type ReactNode, useMemo } from 'react';
import { Code } from './Code';
import { inline } from './inline';
import { Table } from './Table';

/** Whether the text is still being written: a caret stands at its end. */
export const Writing = createContext(false);

export const Markdown = memo(function Markdown({ text, writing = false }: { text: string; writing?: boolean }): ReactNode {
  const blocks = useMemo(() => new Lexer({ gfm: true, breaks: false }).lex(text).filter((t) => t.type !== 'space' && t.type !== 'def'), [text]);
  return (
    <div className="prose">
      {blocks.map((block, i) => (
        <Block key={i} raw={block.raw} token={block} open={writing && i === blocks.length - 1} />
      ))}
    </div>
  );
});

interface BlockProps {
  raw: string;
  token: Token;
  /** It is the last one of a text that is being written. */
  open: boolean;
}

/** A block; it is drawn anew when its text changes. */
const Block = memo(
  function Block({ token, open }: BlockProps): ReactNode {
    return blockOf(token, open);
  },
  (a, b) => a.raw === b.raw && a.open === b.open,
);

export function blockOf(token: Token, open = false): ReactNode {
  switch (token.type) {
    case 'heading':
      return headingOf(token as Tokens.Heading);
    case 'code':
      return <Code text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ''} open={open} />;
    case 'table':
      return <Table token={token as Tokens.Table} />;
    case 'blockquote':
      return <blockquote>{(token as Tokens.Blockquote).tokens.map((t, i) => <Inner key={i} token={t} />)}</blockquote>;
    case 'list':
      return listOf(token as Tokens.List);
    case 'hr':
      return <hr />;
    case 'html':
      return <p>{(token as Tokens.HTML).text}</p>;
    case 'space':
    case 'def':
      return null;
    default: {
      const { tokens } = token as Tokens.Paragraph;
      return <p>{tokens ? inline(tokens) : token.raw}</p>;
    }
  }
}

const Inner = ({ token }: { token: Token }): ReactNode => blockOf(token);

/** The page has its own h1 and h2: headings of a text begin below them, whatever their own depth is. */
function headingOf(h: Tokens.Heading): ReactNode {
  const Name = h.depth <= 2 ? 'h3' : h.depth === 3 ? 'h4' : 'h5';
  return <Name className={h.depth <= 2 ? 'head' : undefined}>{inline(h.tokens)}</Name>;
}

function listOf(list: Tokens.List): ReactNode {
  const items = list.items.map((item, i) => (
    <li key={i} className={item.task ? 'task' : undefined}>
      {item.task && <input type="checkbox" checked={!!item.checked} disabled aria-label={item.text} />}
      {item.tokens.map((t, n) => (t.type === 'text' && 'tokens' in t && t.tokens ? <span key={n}>{inline(t.tokens)}</span> : <Inner key={n} token={t} />))}
    </li>
  ));
  return list.ordered ? <ol {...(list.start && list.start !== 1 ? { start: list.start } : {})}>{items}</ol> : <ul>{items}</ul>;
}
