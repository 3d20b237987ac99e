// A block of code: its language, its colours, a button that copies it, and its own box to scroll in.
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { useWords } from '../lib/i18n';
import { late, useLate } from '../lib/late';
import { Copy } from '../ui/Copy';
import type { Piece } from './highlight';
import { words } from './words';

interface CodeProps {
  text: string;
  language: string;
  /** It is still being written. */
  open: boolean;
}

export function Code({ text, language, open }: CodeProps): ReactNode {
  const w = useWords(words);
  const name = language.split(/\s/)[0] || w.code;
  return (
    <div className="codebox">
      <div className="codebar">
        <span className="grow">{name}</span>
        <Copy text={() => text} />
      </div>
      <pre role="group" tabIndex={0} aria-label={name}>
        <code>
          <Coloured text={text} language={name.toLowerCase()} open={open} />
        </code>
      </pre>
    </div>
  );
}

const highlighter = late(() => import('./highlight'));

/** What is longer stays plain: nobody waits for colours. */
const longest = 60_000;

/** How often code that is being written gets its colours, in milliseconds. */
const often = 200;

/** Code in its colours. While it is written, what has them keeps them, and the rest follows. */
export function Coloured({
  text,
  language,
  open = false,
}: {
  text: string;
  language: string;
  open?: boolean;
}): ReactNode {
  const there = useLate(highlighter, language !== '' && text.length <= longest);
  const steady = useSteady(text, open);
  const found = useMemo(
    () => (there && steady.length <= longest ? there.pieces(steady, language) : null),
    [there, steady, language],
  );
  if (!found) return text;
  return (
    <>
      {found.map(([look, piece]: Piece, i: number) =>
        look ? (
          <span key={i} className={look}>
            {piece}
          </span>
        ) : (
          piece
        ),
      )}
      {text.slice(steady.length)}
    </>
  );
}

/** A beginning of a text that grows, which changes from time to time; all of one that does not. */
function useSteady(text: string, open: boolean): string {
  const [part, setPart] = useState(text);
  const now = useRef(text);
  useEffect(() => {
    now.current = text;
  }, [text]);
  useEffect(() => {
    if (!open) return;
    const timer = setInterval(() => setPart(now.current), often);
    return () => clearInterval(timer);
  }, [open]);
  return open && text.startsWith(part) ? part : text;
}
