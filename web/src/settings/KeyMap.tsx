// All keys, by where they work. Single characters can be switched off, all of them or each.
import { Fragment, type ReactNode, useEffect, useRef } from 'react';
import { useWords } from '../lib/i18n';
import { isSingle, type Key, keys, shown, type What, type Where } from '../lib/keys';
import { keyWords } from '../lib/keyWords';
import { change, useSetting } from '../lib/settings';
import { words } from './words';

const places: Where[] = ['all', 'task', 'write', 'row'];

export function KeyMap(): ReactNode {
  const w = useWords(words);
  const k = useWords(keyWords);
  const letters = useSetting('letters');
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (location.hash !== '#keys') return;
    head.current?.focus();
    head.current?.scrollIntoView();
  }, []);
  return (
    <section className="keymap" aria-labelledby="keys">
      <h2 id="keys" ref={head} tabIndex={-1} className="label">
        {w.keys}
      </h2>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          className="switch"
          role="switch"
          checked={letters}
          onChange={(e) => change({ letters: e.target.checked })}
        />
        {w.letters}
      </label>
      {places.map((where) => (
        <Fragment key={where}>
          <h3 className="soft">{k[where]}</h3>
          <ul>
            {(keys as readonly Key<What>[])
              .filter((key) => key.where === where)
              .map((key) => (
                <li key={key.what}>
                  <span className="grow">{k[key.what]}</span>
                  <kbd>{shown(key.key)}</kbd>
                  {isSingle(key.key) ? <Switch of={key} all={letters} /> : <span />}
                </li>
              ))}
          </ul>
        </Fragment>
      ))}
    </section>
  );
}

function Switch({ of, all }: { of: Key<What>; all: boolean }): ReactNode {
  const k = useWords(keyWords);
  const off = useSetting('keysOff');
  const on = all && !off.includes(of.key);
  return (
    <input
      type="checkbox"
      className="switch"
      role="switch"
      aria-label={k[of.what]}
      disabled={!all}
      checked={on}
      onChange={() => change({ keysOff: on ? [...off, of.key] : off.filter((key) => key !== of.key) })}
    />
  );
}
