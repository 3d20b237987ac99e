// The edge of the panel: dragged, or moved by the arrows, it changes the panel's width, which is remembered by its
// kind.
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef } from 'react';
import { define, useWords } from '../lib/i18n';
import { change, settings, useSetting } from '../lib/settings';

const words = define({ width: 'Width of the panel: drag, or the arrow keys' }, { width: '面板宽度：拖动或用方向键' });

/** In pixels: how narrow a panel may be, and how far an arrow moves its edge. */
const [least, step] = [320, 24];

/** How wide it may be: the page beside it keeps its place. */
const most = (): number => Math.max(least, innerWidth - 700);

const kept = (width: number): number => Math.round(Math.min(Math.max(width, least), most()));

function keep(kind: string, width: number | null): void {
  const { [kind]: _, ...others } = settings().widths;
  change({ widths: width === null ? others : { ...others, [kind]: kept(width) } });
}

export default function Grip({ kind }: { kind: string }): ReactNode {
  const w = useWords(words);
  const edge = useRef<HTMLDivElement>(null);
  const chosen = useSetting('widths')[kind];
  const now = (): number => document.querySelector('.panel')?.getBoundingClientRect().width ?? least;
  const drag = (e: PointerEvent): void => {
    if (!edge.current?.hasPointerCapture(e.pointerId)) return;
    keep(kind, innerWidth - e.clientX);
  };
  const key = (e: KeyboardEvent): void => {
    const to = { ArrowLeft: now() + step, ArrowRight: now() - step, Home: most(), End: least }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    keep(kind, to);
  };
  return (
    <div
      ref={edge}
      className="panel-grip"
      role="separator"
      aria-orientation="vertical"
      aria-label={w.width}
      title={w.width}
      aria-valuemin={least}
      aria-valuemax={most()}
      aria-valuenow={chosen ? kept(chosen) : kind === 'run' ? 384 : 560}
      tabIndex={0}
      onKeyDown={key}
      onPointerDown={(e) => e.button === 0 && edge.current?.setPointerCapture(e.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => keep(kind, null)}
    />
  );
}
