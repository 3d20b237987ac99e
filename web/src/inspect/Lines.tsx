// The timeline: a line for each step, with what it was, bars of its time, how long it took and what it cost.
import { type CSSProperties, memo, type ReactNode, useEffect, useRef } from 'react';
import { lasted, useWords } from '../lib/i18n';
import { money } from '../lib/money';
import { trail } from '../chat/trail/words';
import { toolOf } from '../chat/trail/tools';
import { Icon } from '../ui/Icon';
import { labelOf } from './label';
import { type Bar, iconOf, type Line, mark } from './steps';
import { inspect } from './words';

interface LinesProps {
  lines: Line[];
  scale: { total: number; tick: number; ticks: number[] };
  on: string;
  choose: (id: string) => void;
}

export function Lines({ lines, scale, on, choose }: LinesProps): ReactNode {
  const w = useWords(inspect);
  const priced = lines.some((l) => l.step.call?.cost);
  const style = { '--tick': `${(scale.tick / scale.total) * 100}%` } as CSSProperties;
  return (
    <div className={priced ? 'waterfall priced' : 'waterfall'} style={style}>
      <div className="axis" aria-hidden="true">
        <span>{w.step}</span>
        <span className="ticks">
          {scale.ticks.map((t, i) => (
            <span
              key={t}
              style={{ left: `${(t / scale.total) * 100}%` }}
              className={i > 0 && t / scale.total > 0.92 ? 'last' : ''}
            >
              {mark(t, scale.tick)}
            </span>
          ))}
        </span>
        <span className="r">{w.time}</span>
        {priced && <span className="r">{w.cost}</span>}
      </div>
      <ol>
        {lines.map((line) => (
          <One key={line.id} line={line} total={scale.total} on={line.id === on} priced={priced} choose={choose} />
        ))}
      </ol>
      <p className="legend" aria-hidden="true">
        <span>
          <i className="m" /> {w.legendModel}
        </span>
        <span>
          <i className="w" /> {w.legendWaiting}
        </span>
        <span>
          <i className="tool" /> {w.legendTool}
        </span>
        <span>
          <i className="b" /> {w.legendFailed}
        </span>
        <span className="keys">
          <kbd>J</kbd>
          <kbd>K</kbd> {w.legendKeys}
        </span>
      </p>
    </div>
  );
}

interface OneProps {
  line: Line;
  total: number;
  on: boolean;
  priced: boolean;
  choose: (id: string) => void;
}

const One = memo(function One({ line, total, on, priced, choose }: OneProps): ReactNode {
  const w = useWords(inspect);
  const verbs = useWords(trail);
  const { text, code } = labelOf(line, w, verbs);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (on) button.current?.scrollIntoView({ block: 'nearest' });
  }, [on]);
  const cost = line.step.call?.cost;
  const icon = line.step.kind === 'tool' ? (line.bad ? 'x' : toolOf(line.step.tool?.name ?? '').icon) : iconOf(line);
  return (
    <li>
      <button
        ref={button}
        type="button"
        className={['ln', on && 'on', line.bad && 'bad'].filter(Boolean).join(' ')}
        {...(on ? { 'aria-current': 'step' as const } : {})}
        onClick={() => choose(line.id)}
      >
        <span className="nm">
          <Icon name={icon} />
          <span className="cut">
            {text} {code && <code>{code}</code>}
          </span>
        </span>
        <span className="lane" aria-hidden="true">
          {line.bars.map((b, i) => (
            <i key={i} className={b.look} style={placed(b, total)} />
          ))}
        </span>
        <span className="r">{line.moment ? mark(line.took, 1000) : lasted(line.took)}</span>
        {priced && <span className="r">{cost ? money(cost) : '–'}</span>}
      </button>
    </li>
  );
});

/** Where a bar stands; a moment is a dot that stays within the lane. */
function placed(b: Bar, total: number): CSSProperties {
  const left = Math.max(0, Math.min(b.from / total, 1)) * 100;
  if (b.look === 'point' || b.look === 'ask') return { left: `min(${left}%, calc(100% - 9px))` };
  return { left: `min(${left}%, calc(100% - 3px))`, width: `${Math.min(b.took / total, 1) * 100}%` };
}
