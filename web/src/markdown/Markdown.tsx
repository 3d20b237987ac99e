// Markdown as elements of the page. It is cut into blocks; while text is added at the end, only the last block is drawn
// anew. HTML in it is shown as the text that it is, links lead to web pages and mail alone, images of other hosts are
// links.
import type { Token, Tokens } from 'marked';
import { lazy, memo, type ReactNode, Suspense, useMemo } from 'react';
import { Code } from './Code';
import { inline } from './inline';
import { MathsBlock, useHold } from './Maths';
import { blocksOf, type Formula, firstFormula } from './maths';
import { Table } from './Table';

interface MarkdownProps {
  text: string;
  /** It is being written. */
  writing?: boolean;
  /**
   * Whether it stops before its first formula; without it that is so while it is written, until formulas can be drawn.
   */
  hold?: boolean;
}

export const Markdown = memo(function Markdown({ text, writing = false, hold }: MarkdownProps): ReactNode {
  const blocks = useMemo(() => blocksOf(text, writing), [text, writing]);
  const own = useHold(text, writing && hold === undefined);
  const shown = (hold ?? own) ? blocks.slice(0, Math.max(0, firstFormula(blocks))) : blocks;
  return (
    <div className="prose">
      {shown.map((block, i) => (
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
      return codeOf(token as Tokens.Code, open);
    case 'formula':
      return <MathsBlock token={token as unknown as Formula} />;
    case 'table':
      return <Table token={token as Tokens.Table} open={open} />;
    case 'blockquote':
      return (
        <blockquote>
          {(token as Tokens.Blockquote).tokens.map((t, i) => (
            <Inner key={i} token={t} />
          ))}
        </blockquote>
      );
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

const Diagram = lazy(() => import('./Diagram'));

/** A diagram before there is what draws it: its source, in a box of the same size. */
const Undrawn = ({ text }: { text: string }): ReactNode => (
  <div className="codebox">
    <div className="codebar" />
    <div className="diagram">
      <pre>{text}</pre>
    </div>
  </div>
);

function codeOf(code: Tokens.Code, open: boolean): ReactNode {
  const language = code.lang ?? '';
  // A fence is open until its last line has come; what follows it is another block.
  const half = open && !/\n\s*(`{3,}|~{3,})\s*$/.test(code.raw);
  if (/^mermaid\b/i.test(language))
    return (
      <Suspense fallback={<Undrawn text={code.text} />}>
        <Diagram text={code.text} open={half} />
      </Suspense>
    );
  return <Code text={code.text} language={language} open={half} />;
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
      {item.tokens.map((t, n) =>
        t.type === 'text' && 'tokens' in t && t.tokens ? (
          <span key={n}>{inline(t.tokens)}</span>
        ) : (
          <Inner key={n} token={t} />
        ),
      )}
    </li>
  ));
  return list.ordered ? (
    <ol {...(list.start && list.start !== 1 ? { start: list.start } : {})}>{items}</ol>
  ) : (
    <ul>{items}</ul>
  );
}
