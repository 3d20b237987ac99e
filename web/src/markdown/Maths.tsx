// A formula. Its source stands in its place until it can be drawn, and stays where it cannot; one of its own has a
// switch to it.
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useWords } from '../lib/i18n';
import { late, useLate } from '../lib/late';
import { Copy } from '../ui/Copy';
import { Icon } from '../ui/Icon';
import { type Formula, hasFormula } from './maths';
import { words } from './words';

const drawer = late(async () => {
  const it = await import('./katex');
  await it.faces();
  return it;
});

/** How long a text waits for what draws its first formula, in milliseconds. */
const patience = 10_000;

/**
 * Whether a text that somebody watches stops before its first formula until that can be drawn, so that nothing moves
 * when it is. That the text is at its end changes nothing: a short one has often ended before what draws is there. What
 * cannot be had is not waited for.
 */
export function useHold(text: string, watched: boolean): boolean {
  const needed = useMemo(() => watched && hasFormula(text), [text, watched]);
  const there = useLate(drawer, needed);
  const [tired, setTired] = useState(false);
  const holds = needed && !there && !tired;
  useEffect(() => {
    if (!holds) return;
    const giveUp = (): void => setTired(true);
    const timer = setTimeout(giveUp, patience);
    void drawer.load().then((it) => it ?? giveUp());
    return () => clearTimeout(timer);
  }, [holds]);
  return holds;
}

/** What is longer is shown as it is. */
const longest = 5000;

/** The drawing in an element, and whether it is there. */
function useDrawn(token: Formula, shown: boolean): [React.RefObject<HTMLSpanElement | null>, boolean] {
  const there = useLate(drawer);
  const place = useRef<HTMLSpanElement>(null);
  const [wrong, setWrong] = useState('');
  const able = !!there && !token.half && token.text.length <= longest && wrong !== token.text;
  useLayoutEffect(() => {
    const into = place.current;
    if (!able || !shown || !into) return;
    if (!there.draw(into, token.text, token.display)) setWrong(token.text);
    return () => into.replaceChildren();
  }, [able, shown, there, token.text, token.display]);
  return [place, able];
}

export function Maths({ token }: { token: Formula }): ReactNode {
  const [place, drawn] = useDrawn(token, true);
  if (!drawn) return <code className="mathsource">{token.raw}</code>;
  return <span key="drawn" ref={place} className="maths" />;
}

export function MathsBlock({ token }: { token: Formula }): ReactNode {
  const w = useWords(words);
  const [source, setSource] = useState(false);
  const [place, drawn] = useDrawn(token, !source);
  return (
    <div className="mathsbox">
      <div className="mathsin" tabIndex={0} role="group" aria-label={w.formula}>
        {drawn && !source ? (
          <span key="drawn" ref={place} className="maths" />
        ) : (
          <code className="mathsource">{token.text}</code>
        )}
      </div>
      <div className="mathsbar">
        <button
          type="button"
          className="btn ghost icon sm"
          aria-pressed={source}
          aria-label={w.source}
          title={w.source}
          onClick={() => setSource(!source)}
        >
          <Icon name="bash" />
        </button>
        <Copy bare text={() => token.text} />
      </div>
    </div>
  );
}
