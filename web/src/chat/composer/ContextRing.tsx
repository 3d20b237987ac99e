// The one ring: how full the window of the model is after the last call. It opens that call's bill.
import { lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react';
import { define, thousands, useWords } from '../../lib/i18n';
import type { Costs } from '../costs';

const RingBill = lazy(() => import('../../inspect/RingBill'));

const words = define(
  {
    full: (share: number) => `Context: ${share} % full`,
    tokens: (n: string) => `Context: ${n} tokens`,
    bill: 'Context of the last call',
  },
  {
    full: (share: number) => `上下文已用 ${share}%`,
    tokens: (n: string) => `上下文：${n} 词元`,
    bill: '最近一次调用的上下文',
  },
);

const round = 2 * Math.PI * 6.5;

export function ContextRing({ thread, context }: { thread: string; context: Costs['context'] }): ReactNode {
  const w = useWords(words);
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  if (!context) return null;
  const share = context.window > 0 ? Math.min(context.tokens / context.window, 1) : 0;
  const label = context.window > 0 ? w.full(Math.round(share * 100)) : w.tokens(thousands(context.tokens));
  return (
    <>
      <button
        ref={button}
        type="button"
        className="btn ghost icon"
        aria-label={label}
        title={label}
        aria-haspopup="dialog"
        aria-expanded={open}
        {...(open ? { 'aria-controls': id } : {})}
        onClick={() => setOpen(!open)}
      >
        <span className="ctx">
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <circle className="bg" cx="8" cy="8" r="6.5" />
            <circle className="fg" cx="8" cy="8" r="6.5" strokeDasharray={`${share * round} ${round}`} />
          </svg>
        </span>
      </button>
      {open && (
        <Above id={id} label={w.bill} anchor={button.current} close={() => setOpen(false)}>
          <Suspense fallback={<div className="h-72" />}>
            <RingBill thread={thread} run={context.run_id} n={context.n} />
          </Suspense>
        </Above>
      )}
    </>
  );
}

interface AboveProps {
  id: string;
  label: string;
  anchor: HTMLElement | null;
  close: () => void;
  children: ReactNode;
}

/** What floats above a button, in the top layer: Escape and a click elsewhere close it, and the focus goes back. */
function Above({ id, label, anchor, close, children }: AboveProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const done = useRef(close);
  useEffect(() => {
    done.current = close;
  });
  useEffect(() => {
    const it = box.current;
    if (!it || !anchor) return;
    const at = anchor.getBoundingClientRect();
    it.style.bottom = `${innerHeight - at.top + 6}px`;
    it.style.right = `${Math.max(8, innerWidth - at.right - 40)}px`;
    it.showPopover();
    it.focus();
    const closed = (e: Event): void => {
      if ((e as ToggleEvent).newState !== 'closed') return;
      if (it.contains(document.activeElement) || document.activeElement === document.body) anchor.focus();
      done.current();
    };
    it.addEventListener('toggle', closed);
    return () => it.removeEventListener('toggle', closed);
  }, [anchor]);
  return (
    <div ref={box} id={id} popover="auto" role="dialog" aria-label={label} tabIndex={-1} className="pop billpop">
      {children}
    </div>
  );
}
