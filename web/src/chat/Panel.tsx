// The panel beside a task: the run with its plan. Which one is open stands in the address; each is a line in views.
import { type ReactNode, useMemo } from 'react';
import { define, lasted, thousands, useWords } from '../lib/i18n';
import { ask } from '../lib/router';
import { Glyph, type State } from '../ui/Glyph';
import { Icon } from '../ui/Icon';
import type { View } from './talk/conversation';
import { planOf, type Todo } from './talk/plan';

export const panelWords = define(
  {
    panel: 'Panel',
    run: 'Run',
    plan: 'Plan',
    close: 'Close the panel',
    noPlan: 'When Pudu makes a plan, it stands here and moves.',
    of: (n: number, all: number) => `${n} of ${all}`,
    usage: 'Usage',
    tokens: 'Tokens of this task',
    runs: 'Runs',
    last: 'Last run',
  },
  {
    panel: '面板',
    run: '运行',
    plan: '计划',
    close: '关闭面板',
    noPlan: 'Pudu 制定的计划会显示在这里并实时更新',
    of: (n: number, all: number) => `${n} / ${all}`,
    usage: '用量',
    tokens: '此任务的词元',
    runs: '运行次数',
    last: '上次运行',
  },
);

export type Kind = 'run';

interface PanelProps {
  kind: Kind;
  view: View;
}

export function Panel({ kind, view }: PanelProps): ReactNode {
  const w = useWords(panelWords);
  return (
    <aside className="panel" aria-label={w.panel}>
      <div className="tabs">
        <div role="tablist" aria-label={w.panel} className="contents">
          <button type="button" className="tab" role="tab" aria-selected={kind === 'run'} onClick={() => ask({ panel: 'run' }, true)}>
            {w.run}
          </button>
        </div>
        <span className="grow" />
        <button type="button" className="btn ghost icon sm" aria-label={w.close} onClick={() => ask({ panel: null })}>
          <Icon name="x" />
        </button>
      </div>
      <div className="panel-body">
        <RunPanel view={view} />
      </div>
    </aside>
  );
}

function RunPanel({ view }: { view: View }): ReactNode {
  const w = useWords(panelWords);
  const plan = useMemo(() => planOf(view.talk), [view.talk]);
  const runs = Object.values(view.talk.runs).sort((a, b) => b.began - a.began);
  const tokens = runs.reduce((sum, r) => sum + (r.tokens ?? 0), 0);
  const last = runs[0];
  return (
    <>
      <section className="block">
        <h2>
          {w.plan} {plan && <span className="num">{w.of(plan.filter((t) => t.status === 'completed').length, plan.length)}</span>}
          <span className="grow" />
          {plan && <Segments plan={plan} />}
        </h2>
        {plan ? <PlanList plan={plan} active={!!view.active} /> : <p className="soft">{w.noPlan}</p>}
      </section>
      <section className="block">
        <h2>{w.usage}</h2>
        <dl className="kv">
          <dt>{w.tokens}</dt>
          <dd>{thousands(tokens)}</dd>
          <dt>{w.runs}</dt>
          <dd>{runs.length}</dd>
          {last?.ended && (
            <>
              <dt>{w.last}</dt>
              <dd>{lasted(last.ended - last.began)}</dd>
            </>
          )}
        </dl>
      </section>
    </>
  );
}

export function Segments({ plan }: { plan: Todo[] }): ReactNode {
  const look: Record<string, string> = { completed: 'd', in_progress: 'n' };
  return (
    <span className="segs" aria-hidden="true">
      {plan.map((t, i) => (
        <i key={i} className={look[t.status] ?? ''} />
      ))}
    </span>
  );
}

function PlanList({ plan, active }: { plan: Todo[]; active: boolean }): ReactNode {
  const states: Record<string, State> = { completed: 'done', in_progress: active ? 'live' : 'todo' };
  const look: Record<string, string> = { completed: 'd', in_progress: 'n' };
  return (
    <ol className="plan">
      {plan.map((t, i) => (
        <li key={i} className={look[t.status] ?? ''}>
          <Glyph state={states[t.status] ?? 'todo'} />
          <span>{t.content}</span>
        </li>
      ))}
    </ol>
  );
}
