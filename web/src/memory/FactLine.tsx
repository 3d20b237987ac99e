// A fact as a line: what it says, for whom it is and who was told. It opens why it is known.
import type { ReactNode } from 'react';
import { useWords, when } from '../lib/i18n';
import { ask, useQueryOf } from '../lib/router';
import { Excerpt } from '../threads/Excerpt';
import { useFolders } from '../threads/folders';
import { categoryOf, type Fact, markOf, scopeName, scopeOf, sourceOf } from './data';
import { memory } from './words';

export function Line({ fact: f, children }: { fact: Fact; children?: ReactNode }): ReactNode {
  const w = useWords(memory);
  const { data: folders } = useFolders();
  const here = useQueryOf().get('fact') === f.fact_id;
  const scope = scopeOf(f);
  const told = f.uses > 0 && f.used_at ? w.usedTimes(f.uses, when(f.used_at)) : '';
  const below = [
    categoryOf(f, w),
    scope && scopeName(scope, folders ?? [], w),
    told || (f.source === 'unknown' ? '' : sourceOf(f, w)),
    markOf(f, w),
  ]
    .filter(Boolean)
    .join(' · ');
  return (
    <li className="over fact-line">
      <button type="button" className="to" aria-expanded={here} onClick={() => ask({ fact: here ? null : f.fact_id })}>
        {f.excerpt?.length ? <Excerpt of={f.excerpt} /> : f.content}
      </button>
      <small>{below}</small>
      {children && <span className="acts">{children}</span>}
    </li>
  );
}
