// A call that a restart of the server cut off: nobody knows whether it happened. What to do about it is the user's to
// say.
import { createContext, type ReactNode, useContext, useState } from 'react';
import { useWords } from '../../lib/i18n';
import { Icon } from '../../ui/Icon';
import type { CallStep } from './outcome';
import { objectOf, toolOf } from './tools';
import { trail } from './words';

/** Says words in the conversation; nobody is asked about calls of earlier turns. */
export const Deciding = createContext<((words: string) => void) | null>(null);

export function Unknown({ step }: { step: CallStep }): ReactNode {
  const w = useWords(trail);
  const decide = useContext(Deciding);
  const [decided, setDecided] = useState(false);
  const command = step.call.args['command'];
  const object = typeof command === 'string' ? command : objectOf(step.call);
  const what = `${toolOf(step.call.name).object.length > 0 ? `${step.call.name}: ` : ''}${object || step.call.name}`;
  const say = (words: string): void => {
    setDecided(true);
    decide?.(words);
  };
  return (
    <div className="unknown">
      <p>{w.unknown}</p>
      {decide && !decided && (
        <div className="flex flex-wrap gap-2">
          <button type="button" className="btn sm" onClick={() => say(w.sayLook(what))}>
            <Icon name="eye" />
            {w.look}
          </button>
          <button type="button" className="btn sm" onClick={() => say(w.sayAgain(what))}>
            {w.runAgain}
          </button>
          <button type="button" className="btn ghost sm" onClick={() => say(w.sayHappened(what))}>
            {w.happened}
          </button>
        </div>
      )}
    </div>
  );
}
