// Two runs side by side: what each took, and their steps in pairs, with the first that differs marked and compared.
import { type ReactNode, useMemo } from 'react';
import { Hunks } from '../files/DiffView';
import { hunksBetween } from '../files/diff';
import { lasted, thousands, useWords } from '../lib/i18n';
import { moneys } from '../lib/money';
import { trail } from '../chat/trail/words';
import { toolOf } from '../chat/trail/tools';
import { Icon } from '../ui/Icon';
import { compared, type Deed, type Row } from './compare';
import type { Told } from './data';
import { labelOf } from './label';
import { iconOf, linesOf } from './steps';
import { inspect } from './words';

interface CompareProps {
  left: Told;
  right: Told;
  /** The number of the other run. */
  number: number;
}

export function Compare({ left, right, number }: CompareProps): ReactNode {
  const w = useWords(inspect);
  const { rows, first } = useMemo(() => compared(linesOf(left), linesOf(right)), [left, right]);
  return (
    <div className="cmp">
      <table className="cmpsum">
        <thead>
          <tr>
            <td />
            <th scope="col">{w.left}</th>
            <th scope="col">{w.right(number)}</th>
          </tr>
        </thead>
        <tbody>
          <Sum
            name={w.took}
            of={(t) => (t.timeline.ended ? lasted(Date.parse(t.timeline.ended) - Date.parse(t.timeline.began)) : '–')}
            left={left}
            right={right}
          />
          <Sum name={w.cost} of={(t) => moneys(t.timeline.cost) || '–'} left={left} right={right} />
          <Sum name={w.calls} of={(t) => `${t.timeline.calls}`} left={left} right={right} />
          <Sum name={w.tools} of={(t) => `${t.timeline.tools}`} left={left} right={right} />
          <Sum name={w.read} of={(t) => thousands(t.timeline.usage.input_tokens)} left={left} right={right} />
          <Sum name={w.written} of={(t) => thousands(t.timeline.usage.output_tokens)} left={left} right={right} />
        </tbody>
      </table>
      {first < 0 && <p className="cmpnote">{w.noDifference}</p>}
      <ol className="pairs">
        {rows.map((row, i) => (
          <Pair key={i} row={row} first={i === first} />
        ))}
      </ol>
    </div>
  );
}

function Sum({ name, of, left, right }: { name: string; of: (t: Told) => string; left: Told; right: Told }): ReactNode {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{of(left)}</td>
      <td>{of(right)}</td>
    </tr>
  );
}

function Pair({ row, first }: { row: Row; first: boolean }): ReactNode {
  const w = useWords(inspect);
  return (
    <li
      className={['cmppair', !row.same && 'differs', first && 'first'].filter(Boolean).join(' ')}
      {...(first ? { 'aria-label': w.firstDifference } : {})}
    >
      {first && <span className="cmpmark">{w.firstDifference}</span>}
      <Side deed={row.left} missing={w.onlyThere} />
      <Side deed={row.right} missing={w.onlyHere} />
      {first && row.left && row.right && <Difference left={row.left} right={row.right} />}
    </li>
  );
}

function Side({ deed, missing }: { deed: Deed | undefined; missing: string }): ReactNode {
  const w = useWords(inspect);
  const verbs = useWords(trail);
  if (!deed) return <span className="side-of none soft">{missing}</span>;
  const { line } = deed;
  const { text, code } = labelOf(line, w, verbs);
  const icon = line.step.kind === 'tool' ? (line.bad ? 'x' : toolOf(line.step.tool?.name ?? '').icon) : iconOf(line);
  return (
    <span className={line.bad ? 'side-of bad' : 'side-of'}>
      <Icon name={icon} />
      <span className="cut">
        {text} {code && <code>{code}</code>}
      </span>
      <span className="r">{line.moment ? '' : lasted(line.took)}</span>
    </span>
  );
}

/** How much of a text is compared, in characters. */
const most = 40_000;

function Difference({ left, right }: { left: Deed; right: Deed }): ReactNode {
  const w = useWords(inspect);
  const hunks = useMemo(() => hunksBetween(left.text.slice(0, most), right.text.slice(0, most)), [left, right]);
  return (
    <div className="cmpdiff fdiff">
      <Hunks hunks={hunks} label={w.difference} />
    </div>
  );
}
