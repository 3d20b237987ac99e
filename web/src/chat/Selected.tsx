// What can be done with words of an answer that are selected: ask about them, or quote them.
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { define, useWords } from '../lib/i18n';
import { Icon } from '../ui/Icon';

const words = define(
  { selected: 'Selected words', ask: 'Ask about it', quote: 'Quote' },
  { selected: '选中的文字', ask: '就此提问', quote: '引用' },
);

/** How much is quoted at most, in characters. */
const longest = 4000;

/** Words as a quotation in Markdown. */
export const quoted = (text: string): string =>
  text
    .trim()
    .slice(0, longest)
    .split(/\n+/)
    .map((line) => `> ${line}`)
    .join('\n');

/** The words that are selected within one answer, and where they stand. */
function selection(box: HTMLElement): { text: string; at: DOMRect } | null {
  const chosen = getSelection();
  const text = chosen?.toString().trim() ?? '';
  if (!chosen || chosen.isCollapsed || text === '') return null;
  const range = chosen.getRangeAt(0);
  const node = range.commonAncestorContainer;
  const prose = (node instanceof Element ? node : node.parentElement)?.closest('.turn .prose');
  return prose && box.contains(prose) ? { text, at: range.getBoundingClientRect() } : null;
}

interface SelectedProps {
  box: RefObject<HTMLDivElement | null>;
  /** Puts a quotation into the composer: before what is typed, or behind it. */
  quote: (text: string, before: boolean) => void;
}

export function Selected({ box, quote }: SelectedProps): ReactNode {
  const w = useWords(words);
  const [found, setFound] = useState<ReturnType<typeof selection>>(null);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    let timer = 0;
    const look = (): void => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        if (!bar.current?.contains(document.activeElement)) setFound(selection(el));
      }, 150);
    };
    document.addEventListener('selectionchange', look);
    el.addEventListener('scroll', look, { passive: true });
    return () => {
      clearTimeout(timer);
      document.removeEventListener('selectionchange', look);
      el.removeEventListener('scroll', look);
    };
  }, [box]);
  useLayoutEffect(() => {
    const it = bar.current;
    if (!it || !found) return;
    const above = found.at.top - it.offsetHeight - 8;
    it.style.top = `${above > 60 ? above : Math.min(found.at.bottom + 8, innerHeight - it.offsetHeight - 8)}px`;
    it.style.left = `${Math.max(8, Math.min(found.at.left, innerWidth - it.offsetWidth - 8))}px`;
  }, [found]);
  if (!found) return null;
  const take = (before: boolean): void => {
    quote(quoted(found.text), before);
    getSelection()?.removeAllRanges();
    setFound(null);
  };
  return (
    <div
      ref={bar}
      className="selected"
      role="toolbar"
      aria-label={w.selected}
      onMouseDown={(e) => e.preventDefault()} // the selection stays
      onKeyDown={(e) => {
        if (e.key === 'Escape') setFound(null);
      }}
    >
      <button type="button" className="btn ghost sm" onClick={() => take(true)}>
        <Icon name="ask" />
        {w.ask}
      </button>
      <button type="button" className="btn ghost sm" onClick={() => take(false)}>
        <Icon name="quote" />
        {w.quote}
      </button>
    </div>
  );
}
