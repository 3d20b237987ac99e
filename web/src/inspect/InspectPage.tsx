// The run inspector: the steps of a run in time, what is behind each, how the task was after it, and another run beside
// it.
import { type ReactNode, useEffect, useMemo } from 'react';
import { Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { lasted, thousands, useWords } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { moneys } from '../lib/money';
import { ask, go, Link, useQueryOf } from '../lib/router';
import { Shell } from '../shell/Shell';
import { shell } from '../shell/words';
import { useTask } from '../threads/tasks';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { Notice } from '../ui/Notice';
import { Compare } from './Compare';
import { type Told, useRun, useRuns } from './data';
import { Export, KeepAsTest } from './Keep';
import { Lines } from './Lines';
import { StepPanel } from './StepPanel';
import { type Line, linesOf, scaleOf } from './steps';
import { useMedia } from './useMedia';
import { inspect } from './words';
import './inspect.css';

interface PageProps {
  thread: string;
  run: string;
}

export default function InspectPage({ thread, run }: PageProps): ReactNode {
  const w = useWords(inspect);
  const s = useWords(shell);
  const query = useQueryOf();
  const vs = query.get('vs') ?? '';
  const told = useRun(thread, run);
  const other = useRun(thread, vs);
  const lines = useMemo(() => (told.data ? linesOf(told.data) : []), [told.data]);
  const numbers = useNumbers(thread, run);
  const title = useTask(thread)?.title || s.untitled;
  const name = numbers.here > 0 ? w.runOf(numbers.here, numbers.all.length) : w.run;
  useEffect(() => {
    document.title = `${name} · ${title} · Pudu`;
  }, [name, title]);
  const roomy = useMedia('(min-width: 1200px)');
  const asked = lines.find((l) => l.id === query.get('step'));
  // Where there is room the last call is shown: with its bill, it says most about a run.
  const line = vs
    ? undefined
    : (asked ?? (roomy ? (lines.findLast((l) => l.step.kind === 'call') ?? lines[0]) : undefined));
  const move = (by: number): void => {
    const next = lines[lines.findIndex((l) => l.id === line?.id) + by] ?? (line ? undefined : lines[0]);
    if (next) ask({ step: next.id, tab: null }, !!asked);
  };
  useKeys({
    nextStep: () => move(1),
    previousStep: () => move(-1),
    openStep: () =>
      line?.step.checkpoint_id !== undefined &&
      ask({ step: line.id, tab: query.get('tab') === 'state' ? null : 'state' }),
  });
  const missing = told.error instanceof Trouble && told.error.status === 404;
  return (
    <Shell
      wide
      kind="inspect"
      header={
        <>
          <Link className="btn ghost icon sm" to={`/c/${thread}`} aria-label={w.back} title={w.back}>
            <Icon name="left" />
          </Link>
          <div className="title">
            <h1>
              <span className="soft not-narrow">
                {title}
                <i className="slash" aria-hidden="true">
                  /
                </i>
              </span>
              {name}
            </h1>
            {told.data && <Status told={told.data} />}
            <span className="grow" />
          </div>
          {told.data && (
            <>
              <Versus numbers={numbers} vs={vs} />
              <Export thread={thread} run={run} told={told.data} />
              <KeepAsTest thread={thread} run={run} />
            </>
          )}
        </>
      }
      panel={line && <StepPanel thread={thread} run={run} line={line} tab={query.get('tab') ?? ''} move={move} />}
    >
      {told.error ? (
        <Failed missing={missing} error={told.error} again={() => void told.refetch()} />
      ) : (
        <div className="inspected">
          {told.data && !vs && <Sums told={told.data} lines={lines} />}
          <div className="scroll" tabIndex={0} role="region" aria-label={w.steps}>
            {vs ? (
              <Versed left={told.data} right={other.data} error={other.error} number={numbers.of(vs)} />
            ) : (
              told.data && <Steps told={told.data} lines={lines} on={line?.id ?? ''} first={!asked} />
            )}
          </div>
        </div>
      )}
    </Shell>
  );
}

interface Numbers {
  /** The runs of the task, the oldest first. */
  all: string[];
  here: number;
  of: (run: string) => number;
}

/** Which run of its task it is. */
function useNumbers(thread: string, run: string): Numbers {
  const { data } = useRuns(thread);
  return useMemo(() => {
    const all = (data ?? []).map((r) => r.run_id).reverse();
    const of = (id: string): number => all.indexOf(id) + 1;
    return { all, here: of(run), of };
  }, [data, run]);
}

function Steps({ told, lines, on, first }: { told: Told; lines: Line[]; on: string; first: boolean }): ReactNode {
  const w = useWords(inspect);
  const scale = useMemo(() => scaleOf(told, lines, Date.now()), [told, lines]);
  if (lines.length === 0) return <Notice icon="inspect" text={w.noSteps} />;
  return <Lines lines={lines} scale={scale} on={on} choose={choose(!first)} />;
}

const choosers = {
  true: (id: string) => ask({ step: id, tab: null }, true),
  false: (id: string) => ask({ step: id, tab: null }),
};
/** Chooses a step: the first one is a place that Back leads from, the others take its place. */
const choose = (replace: boolean): ((id: string) => void) => choosers[`${replace}`];

function Status({ told }: { told: Told }): ReactNode {
  const w = useWords(inspect);
  const { status } = told.timeline;
  const words: Record<string, string> = {
    success: w.success,
    error: w.error,
    interrupted: w.interrupted,
    running: w.running,
    pending: w.pending,
    timeout: w.timeout,
  };
  return (
    <span className={status === 'error' ? 'pill bad not-narrow' : 'pill not-narrow'}>
      {status === 'success' && <Icon name="check" />}
      {status === 'error' && <Icon name="x" />}
      {words[status] ?? status}
    </span>
  );
}

/** What the whole run took. */
function Sums({ told, lines }: { told: Told; lines: Line[] }): ReactNode {
  const w = useWords(inspect);
  const t = told.timeline;
  const took = (t.ended ? Date.parse(t.ended) : Date.now()) - Date.parse(t.began);
  const calls = lines.filter((l) => l.step.kind === 'call');
  const retried = calls.filter((l) => (l.step.call?.tries?.length ?? 0) > 1).length;
  const failed = lines.filter((l) => l.step.kind === 'tool' && l.bad).length;
  const models = [...new Set(calls.map((l) => l.step.call?.model ?? '').filter(Boolean))].join(', ');
  const share = Math.round(t.usage.cached_share * 100);
  return (
    <dl className="sum">
      <Fact name={w.took}>{lasted(took)}</Fact>
      <Fact name={w.cost}>{moneys(t.cost) || <span className="soft">{w.noPrice}</span>}</Fact>
      <Fact name={w.calls}>
        {t.calls} {retried > 0 && <span className="soft">{w.retried(retried)}</span>}
      </Fact>
      <Fact name={w.tools}>
        {t.tools} {failed > 0 && <span className="bad">{w.failedTools(failed)}</span>}
      </Fact>
      <Fact name={w.read}>
        {w.tokens(thousands(t.usage.input_tokens))} {share > 0 && <span className="soft">{w.cached(share)}</span>}
      </Fact>
      <Fact name={w.written}>{w.tokens(thousands(t.usage.output_tokens))}</Fact>
      {models && <Fact name={w.model}>{models}</Fact>}
    </dl>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }): ReactNode => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** The way to a comparison, and out of it. */
function Versus({ numbers, vs }: { numbers: Numbers; vs: string }): ReactNode {
  const w = useWords(inspect);
  const others = numbers.all.filter((_, i) => i !== numbers.here - 1);
  if (vs) {
    return (
      <button type="button" className="btn ghost sm" aria-pressed onClick={() => ask({ vs: null })}>
        <Icon name="compare" />
        {w.noCompare}
      </button>
    );
  }
  const [only] = others;
  if (!only) return null;
  const label = (id: string): string => w.compareWith(numbers.of(id));
  const to = (id: string): void => ask({ vs: id, step: null, tab: null });
  if (others.length === 1) {
    return (
      <button type="button" className="btn ghost sm" aria-label={label(only)} onClick={() => to(only)}>
        <Icon name="compare" />
        <span className="not-narrow">{label(only)}</span>
      </button>
    );
  }
  return (
    <Menu
      className="btn ghost sm"
      end
      title={w.compare}
      items={[...others].reverse().map((id) => ({ key: id, label: label(id), choose: () => to(id) }))}
    >
      <Icon name="compare" />
      {w.compare}
      <Icon name="down" className="i car" />
    </Menu>
  );
}

function Versed({
  left,
  right,
  error,
  number,
}: {
  left: Told | undefined;
  right: Told | undefined;
  error: unknown;
  number: number;
}): ReactNode {
  if (error)
    return (
      <Failed
        missing={error instanceof Trouble && error.status === 404}
        error={error}
        again={() => ask({ vs: null }, true)}
      />
    );
  if (!left || !right) return null;
  return <Compare left={left} right={right} number={number} />;
}

function Failed({ missing, error, again }: { missing: boolean; error: unknown; again: () => void }): ReactNode {
  const w = useWords(inspect);
  const s = useWords(shell);
  const e = useWords(errors);
  return (
    <div className="page">
      <Notice icon={missing ? 'search' : 'alert'} text={missing ? w.missing : sentence(error, e)}>
        {missing ? (
          <button type="button" className="btn primary" onClick={() => go('/')}>
            {s.home}
          </button>
        ) : (
          <button type="button" className="btn" onClick={again}>
            {s.reload}
          </button>
        )}
      </Notice>
    </div>
  );
}
