// What is behind a step: of a call of the model what was sent and what came back, of a tool its arguments and output;
// and how the task was then.
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { errors, sentence } from '../lib/errors';
import { lasted, useWords } from '../lib/i18n';
import { ask, Link } from '../lib/router';
import { CallDetail } from '../chat/trail/CallDetail';
import { trail } from '../chat/trail/words';
import { useQuery } from '@tanstack/react-query';
import { api } from '../lib/api/client';
import { Icon } from '../ui/Icon';
import { CameBack, Raw, Sent } from './CallPanel';
import { useCall } from './data';
import { labelOf } from './label';
import { StateAt, StateBlock } from './StateBlock';
import type { Line } from './steps';
import { inspect } from './words';

interface PanelProps {
  thread: string;
  run: string;
  line: Line;
  tab: string;
  move: (by: number) => void;
}

type Tab = 'sent' | 'back' | 'what' | 'raw';

const tabsOf = (line: Line): Tab[] => (line.step.kind === 'call' ? ['sent', 'back', 'raw'] : ['what', 'raw']);

export function StepPanel({ thread, run, line, tab, move }: PanelProps): ReactNode {
  const w = useWords(inspect);
  const verbs = useWords(trail);
  const { text, code } = labelOf(line, w, verbs);
  const tabs = tabsOf(line);
  const now = tabs.find((t) => t === tab) ?? (tabs[0] as Tab);
  const names: Record<Tab, string> = { sent: w.sent, back: w.cameBack, what: w.what, raw: w.raw };
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (body.current) body.current.scrollTop = 0;
  }, [line.id, tab]);
  const turn = (e: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const to = tabs[(tabs.indexOf(now) + by) % tabs.length] as Tab;
    ask({ tab: to }, true);
    document.getElementById(`step-${to}`)?.focus();
  };
  const checkpoint = line.step.checkpoint_id ?? '';
  const opened = tab === 'state' && checkpoint !== '';
  return (
    <aside className={opened ? 'panel steppanel opened' : 'panel steppanel'} aria-label={w.step}>
      <div className="tabs">
        <h2 className="cut">
          {text} {code && <code>{code}</code>}
        </h2>
        <span className="grow" />
        <button
          type="button"
          className="btn ghost icon sm"
          aria-label={w.previous}
          title={`${w.previous} (K)`}
          onClick={() => move(-1)}
        >
          <Icon name="up" />
        </button>
        <button
          type="button"
          className="btn ghost icon sm"
          aria-label={w.next}
          title={`${w.next} (J)`}
          onClick={() => move(1)}
        >
          <Icon name="down" />
        </button>
        <button
          type="button"
          className="btn ghost icon sm only-narrow"
          aria-label={w.close}
          onClick={() => ask({ step: null, tab: null })}
        >
          <Icon name="x" />
        </button>
      </div>
      {!opened && (
        <div className="segline">
          <div className="seg" role="tablist" aria-label={w.step} onKeyDown={turn}>
            {tabs.map((t) => (
              <button
                key={t}
                type="button"
                role="tab"
                id={`step-${t}`}
                aria-selected={t === now}
                aria-controls="step-body"
                tabIndex={t === now ? 0 : -1}
                onClick={() => ask({ tab: t }, true)}
              >
                {names[t]}
              </button>
            ))}
          </div>
        </div>
      )}
      <div
        className="panel-body"
        id="step-body"
        tabIndex={0}
        ref={body}
        {...(opened
          ? { role: 'region', 'aria-label': w.said }
          : { role: 'tabpanel', 'aria-labelledby': `step-${now}` })}
      >
        {opened ? (
          <StateAt thread={thread} checkpoint={checkpoint} />
        ) : (
          <>
            {line.step.kind === 'call' ? (
              <CallTab key={line.id} thread={thread} run={run} line={line} tab={now} />
            ) : (
              <OtherTab line={line} tab={now} />
            )}
            {now !== 'raw' && (
              <StateBlock thread={thread} checkpoint={checkpoint} before={line.step.kind === 'attempt'} />
            )}
          </>
        )}
      </div>
    </aside>
  );
}

interface TabProps {
  line: Line;
  tab: Tab;
}

function CallTab({ thread, run, line, tab }: TabProps & { thread: string; run: string }): ReactNode {
  const e = useWords(errors);
  const { data, error } = useCall(thread, run, line.step.n ?? 0);
  if (error) {
    return (
      <section className="block">
        <p className="note-line bad" role="alert">
          {sentence(error, e)}
        </p>
      </section>
    );
  }
  if (!data) return <div className="waiting" />;
  if (tab === 'raw') return <Raw value={data} file={`${run}-call-${data.n}.json`} />;
  return tab === 'back' ? <CameBack call={data} /> : <Sent call={data} />;
}

function OtherTab({ line, tab }: TabProps): ReactNode {
  if (tab === 'raw')
    return <Raw value={{ step: line.step, call: line.call, result: line.result }} file={`${line.id}.json`} />;
  return line.step.kind === 'tool' ? <ToolTab line={line} /> : <PlainTab line={line} />;
}

/** A call of a tool, as the trail of the task shows it. */
function ToolTab({ line }: { line: Line }): ReactNode {
  const w = useWords(inspect);
  const verbs = useWords(trail);
  const { tool } = line.step;
  const call = line.call ?? { id: tool?.call_id ?? '', name: tool?.name ?? '', args: {} };
  const step = {
    kind: 'call' as const,
    key: line.id,
    call,
    at: Date.parse(line.step.at),
    open: false,
    live: { millis: tool?.took_ms ?? 0 },
    ...(line.result ? { result: line.result } : {}),
  };
  return (
    <section className="block tool">
      <h2>
        <code>{tool?.name}</code> <span className="num">{tool?.unfinished ? '' : lasted(tool?.took_ms ?? 0)}</span>
        {line.bad && <span className="bad">{tool?.exit_code ? verbs.exit(String(tool.exit_code)) : w.error}</span>}
      </h2>
      <CallDetail step={step} outcome={tool?.unfinished ? 'stopped' : line.bad ? 'bad' : 'done'} />
    </section>
  );
}

function PlainTab({ line }: { line: Line }): ReactNode {
  const w = useWords(inspect);
  const { step } = line;
  return (
    <section className="block">
      {line.said && <div className="modelsaid">{line.said}</div>}
      {step.notice && (
        <p>
          {step.notice.message || step.notice.type}
          {step.notice.wait_ms ? `, ${w.waited(lasted(step.notice.wait_ms))}` : ''}
        </p>
      )}
      {step.compaction && <p>{labelOf(line, w, {} as never).text}</p>}
      {step.end && (
        <p className={line.bad ? 'note-line bad' : ''}>
          {[labelOf(line, w, {} as never).text, step.end.stop_reason].filter(Boolean).join(', ')}
        </p>
      )}
      {step.question && <p>{w.asked}</p>}
      {step.run_id && <Below run={step.run_id} />}
      <p className="soft num">{new Date(step.at).toLocaleString()}</p>
    </section>
  );
}

/** The way to the run of a sub-agent, which is on a thread of its own. */
function Below({ run }: { run: string }): ReactNode {
  const w = useWords(inspect);
  const { data } = useQuery({
    queryKey: ['run', run],
    queryFn: () => api('get', '/runs/{run_id}', { path: { run_id: run } }),
    retry: false,
  });
  const thread = (data as { thread_id?: string } | undefined)?.thread_id;
  if (!thread) return <p className="mono">{run}</p>;
  return (
    <Link className="btn sm" to={`/c/${thread}/run/${run}`}>
      <Icon name="fork" />
      {w.openRun}
    </Link>
  );
}
