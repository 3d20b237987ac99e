// A diagram: its source until it is whole, then its image, in a box whose height is the same from the first line on. A
// switch leads back to the source; on request the box is as high as the image.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useWords } from '../lib/i18n';
import { useSetting } from '../lib/settings';
import { Copy } from '../ui/Copy';
import { Icon } from '../ui/Icon';
import { drawing, type Fault, type Image, lookNow } from './drawings';
import { words } from './words';

/** The image of a diagram that is whole, drawn anew when the theme changes. */
function useDrawing(text: string, open: boolean): Image | Fault | undefined {
  const [drawn, setDrawn] = useState<Image | Fault>();
  const theme = useSetting('theme');
  const dark = useDark();
  useEffect(() => {
    if (open) return;
    let there = true;
    let mine: Image | Fault | undefined;
    void drawing(text, lookNow()).then((d) => {
      mine = d;
      if (there) setDrawn(d);
      else if (typeof d === 'object') URL.revokeObjectURL(d.url);
    });
    return () => {
      there = false;
      if (typeof mine === 'object') URL.revokeObjectURL(mine.url);
    };
  }, [text, open, theme, dark]);
  return open ? undefined : drawn;
}

function useDark(): boolean {
  const [dark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const list = matchMedia('(prefers-color-scheme: dark)');
    const turn = (): void => setDark(list.matches);
    list.addEventListener('change', turn);
    return () => list.removeEventListener('change', turn);
  }, []);
  return dark;
}

export default function Diagram({ text, open }: { text: string; open: boolean }): ReactNode {
  const w = useWords(words);
  const drawn = useDrawing(text, open);
  const [source, setSource] = useState(false);
  const [large, setLarge] = useState(false);
  const image = typeof drawn === 'object' ? drawn : undefined;
  const well = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (open && well.current) well.current.scrollTop = well.current.scrollHeight;
  }, [open, text]);
  return (
    <div className="codebox">
      <div className="codebar">
        <span className="grow">{w.diagram}</span>
        {image && (
          <>
            <button type="button" className="btn ghost sm" aria-pressed={source} onClick={() => setSource(!source)}>
              {w.source}
            </button>
            <button
              type="button"
              className="btn ghost icon sm"
              aria-pressed={large}
              aria-label={w.larger}
              title={w.larger}
              onClick={() => setLarge(!large)}
            >
              <Icon name="expand" />
            </button>
          </>
        )}
        <Copy text={() => text} />
      </div>
      <div className={large ? 'diagram large' : 'diagram'} tabIndex={0} role="group" aria-label={w.diagram}>
        {image && !source ? (
          <img src={image.url} alt={text} width={image.width} height={image.height} />
        ) : (
          <>
            {typeof drawn === 'string' && <p className="note-line">{w[drawn]}</p>}
            <pre ref={well}>{text}</pre>
          </>
        )}
      </div>
    </div>
  );
}
