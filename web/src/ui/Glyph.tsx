// The state glyphs: the same everywhere, each with a word for who does not see it.
import type { ReactNode } from 'react';
import { useWords } from '../lib/i18n';
import { Icon } from './Icon';
import { ui } from './words';

export type State = 'ask' | 'live' | 'bad' | 'new' | 'read' | 'todo' | 'done' | 'maybe' | 'stopped';

/** The ring of what is running. */
export function Ring(): ReactNode {
  return (
    <svg className="arc" viewBox="0 0 14 14" aria-hidden="true">
      <circle className="bg" cx="7" cy="7" r="5.5" />
      <circle className="fg" cx="7" cy="7" r="5.5" />
    </svg>
  );
}

function drawing(state: State): ReactNode {
  switch (state) {
    case 'live':
      return <Ring />;
    case 'bad':
      return <Icon name="x" />;
    case 'done':
      return <Icon name="check" />;
    case 'maybe':
      return (
        <svg className="arc" viewBox="0 0 14 14" aria-hidden="true">
          <circle cx="7" cy="7" r="5.5" />
        </svg>
      );
    default:
      return null;
  }
}

/** A glyph of 16 px. What was read has none, and no word. */
export function Glyph({ state }: { state: State }): ReactNode {
  const w = useWords(ui);
  return (
    <span className={state === 'read' ? 'st' : `st ${state}`}>
      {drawing(state)}
      {state !== 'read' && <span className="sr">{w[state]}</span>}
    </span>
  );
}
