// The panel beside a task: the run with its plan, the files, what was changed in them. Which one is open stands in the
// address.
import { type KeyboardEvent, lazy, type ReactNode, Suspense, useMemo } from 'react';
import { useFiles } from '../files/data';
import { define, useWords } from '../lib/i18n';
import { ask } from '../lib/router';
import { Glyph, type State } from '../ui/Glyph';
import { Icon } from '../ui/Icon';
import type { Costs } from './costs';
import type { View } from './talk/view';
import { type Kind, kinds } from './panels';
import { planOf, type Todo } from './talk/plan';
import { isActive } from './talk/turns';
import { UsageOf } from './Usage';

const panelWords = define(
  {
    panel: 'Panel',
    run: 'Run',
    plan: 'Plan',
    files: 'Files',
    changes: 'Changes',
    close: 'Close the panel',
    noPlan: 'When Pudu makes a plan, it stands here and moves.',
    of: (n: number, all: number) => `${n} of ${all}`,
  },
  {
    panel: '面板',
    run: '运行',
    plan: '计划',
    files: '文件',
    changes: '改动',
    close: '关闭面板',
    noPlan: 'Pudu 制定的计划会显示在这里并实时更新',
    of: (n: number, all: number) => `${n} / ${all}`,
  },
);

const FilesPanel = lazy(() => import('../files/FilesPanel'));
const ChangesPanel = lazy(() => import('../files/ChangesPanel'));
const Knew = lazy(() => import('../memory/Knew'));

interface PanelProps {
  kind: Kind;
  thread: string;
  view: View;
  costs: Costs | undefined;
}

export default function Panel({ kind, thread, view, costs }: PanelProps): ReactNode {
  const w = useWords(panelWords);
  const { data } = useFiles(thread);
  const count = data?.filter((e) => e.kind !== 'folder').length;
  const show = (k: Kind): void => ask({ panel: k, file: null, run: null }, true);
  return (
    <aside className="panel" aria-label={w.panel}>
      <div className="tabs">
        <div role="tablist" aria-label={w.panel} className="contents" onKeyDown={(e) => turn(e, kind, show)}>
          {kinds.map((k) => (
            <button
              key={k}
              type="button"
              className="tab"
              role="tab"
              id={`tab-${k}`}
              aria-selected={k === kind}
              aria-controls="panel-body"
              tabIndex={k === kind ? 0 : -1}
              onClick={() => show(k)}
            >
              {w[k]} {k === 'files' && !!count && <span className="n">{count}</span>}
            </button>
          ))}
        </div>
        <span className="grow" />
        <button
          type="button"
          className="btn ghost icon sm"
          aria-label={w.close}
          onClick={() => ask({ panel: null, file: null, run: null })}
        >
          <Icon name="x" />
        </button>
      </div>
      <div className="panel-body" id="panel-body" role="tabpanel" tabIndex={-1} aria-labelledby={`tab-${kind}`}>
        <Suspense>
          {kind === 'run' && <RunPanel thread={thread} view={view} costs={costs} />}
          {kind === 'files' && <FilesPanel thread={thread} view={view} />}
          {kind === 'changes' && <ChangesPanel thread={thread} view={view} />}
        </Suspense>
      </div>
    </aside>
  );
}

/** The arrows go from tab to tab. */
function turn(e: KeyboardEvent<HTMLElement>, kind: Kind, show: (k: Kind) => void): void {
  const step = { ArrowRight: 1, ArrowLeft: kinds.length - 1 }[e.key];
  if (!step) return;
  e.preventDefault();
  const to = kinds[(kinds.indexOf(kind) + step) % kinds.length] ?? kind;
  show(to);
  document.getElementById(`tab-${to}`)?.focus();
}

function RunPanel({ thread, view, costs }: Omit<PanelProps, 'kind'>): ReactNode {
  const w = useWords(panelWords);
  const plan = useMemo(() => planOf(view.talk), [view.talk]);
  const last = Object.values(view.talk.runs)
    .filter((r) => !isActive(r))
    .sort((a, b) => b.began - a.began)[0];
  return (
    <>
      <section className="block">
        <h2>
          {w.plan}{' '}
          {plan && (
            <span className="num">{w.of(plan.filter((t) => t.status === 'completed').length, plan.length)}</span>
          )}
          <span className="grow" />
          {plan && <Segments plan={plan} />}
        </h2>
        {plan ? <PlanList plan={plan} active={!!view.active} /> : <p className="soft">{w.noPlan}</p>}
      </section>
      <UsageOf thread={thread} costs={costs} />
      {last && <Knew thread={thread} run={last.id} />}
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
