// A task: its conversation, followed while it goes on, and the composer below.
import {
  lazy,
  type ReactNode,
  type RefObject,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { api, Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { ask, go, Link, useQueryOf } from '../lib/router';
import { Failure } from '../shell/Failure';
import { Shell } from '../shell/Shell';
import { shell } from '../shell/words';
import { lineOf, useRenaming } from '../threads/renaming';
import { InBin } from '../threads/InBin';
import { TaskMenu } from '../threads/TaskMenu';
import { useBranchTitle, useTask } from '../threads/tasks';
import { TitleField } from '../threads/Title';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import { answersOf } from './asked/question';
import { keepOpen } from './asked/written';
import { Chips } from './composer/Chips';
import { Composer, type Write } from './composer/Composer';
import { ContextRing } from './composer/ContextRing';
import { useOptions } from './composer/options';
import { Queue } from './composer/Queue';
import { SpentOf, useCosts, useSpent } from './costs';
import { panelOf } from './panels';
import type { Conversation } from './talk/conversation';
import { textOf } from './talk/message';
import { openOf, type Options } from './talk/requests';
import { unread } from './talk/steers';
import type { Asked } from './talk/talk';
import { isActive, turnsOf } from './talk/turns';
import { useConversation } from './talk/useConversation';
import { Selected } from './Selected';
import { Then } from './Then';
import { type TurnActs, TurnView } from './TurnView';
import { TotalCost } from './Usage';
import { useDrawn } from './useDrawn';
import { useFollowing } from './useFollowing';
import { usePrint } from './usePrint';
import { useSought } from './useSought';
import { useTaskKeys } from './useTaskKeys';
import { chat } from './words';

const Panel = lazy(() => import('./Panel'));

/** What a sub-agent's page has of the task above it: the way back, and what this one is called. */
interface Above {
  to: string;
  back: string;
  title: string;
  /** What stands in the empty composer. */
  word: string;
}

export default function ThreadPage({ thread, above }: { thread: string; above?: Above }): ReactNode {
  const w = useWords(chat);
  const s = useWords(shell);
  const [conversation, view] = useConversation(thread);
  const task = useTask(thread);
  const turns = useMemo(
    () => turnsOf(view.talk, view.past ? undefined : view.active),
    [view.talk, view.active, view.past],
  );
  const title =
    above?.title || task?.title || (turns[0]?.ask && textOf(turns[0].ask.message).slice(0, 60)) || s.untitled;
  useEffect(() => {
    document.title = `${title} · Pudu`;
  }, [title]);
  useRead(thread, task?.state === 'answered' || task?.state === 'failed');
  const box = useRef<HTMLDivElement>(null);
  const sought = useSought(conversation, view, turns, box);
  const drawn = useDrawn(turns, sought);
  const [away, toEnd] = useFollowing(box, drawn, !view.loading, sought);
  const [options, setOptions] = useOptions(thread);
  const write = useRef<Write>(() => {});
  const named = useBranchTitle(task?.title ?? '');
  const acts = useActs(conversation, options, named, write, w.goOnButton);
  const answers = useMemo(() => answersOf(view.talk.rows), [view.talk.rows]);
  const open = useMemo(() => openOf(view.talk), [view.talk]);
  const waits = task?.state === 'waiting' && !view.loading && !view.active;
  useEffect(() => {
    if (
      !task ||
      view.loading ||
      view.active ||
      view.past ||
      (waits ? view.talk.asked.length === 0 : task.state === 'running')
    )
      return;
    keepOpen(thread, view.talk.asked); // all that is open is known
  }, [thread, task, view, waits]);
  useEffect(() => {
    if (waits) void conversation.questions();
  }, [waits, conversation]);
  const queued = useMemo(
    () => Object.values(view.talk.runs).filter((r) => r.status === 'pending' && r.says && r.id !== view.active?.id),
    [view],
  );
  const isDemo = Object.values(view.talk.runs).some((r) => r.context?.['model_name'] === 'demo');
  const query = useQueryOf();
  const costs = useCosts(thread, Object.values(view.talk.runs).filter((r) => !isActive(r)).length).data;
  const spent = useSpent(costs);
  const panel = panelOf(query);
  useTaskKeys({ turns, panel: !!panel, stop: () => void conversation.stop() });
  const renaming = useRenaming(thread, 'head');
  usePrint(conversation, view);
  const seen = useCallback(() => conversation.seen(), [conversation]);
  const missing = view.trouble instanceof Trouble && view.trouble.status === 404 && turns.length === 0;
  return (
    <Shell
      header={
        <div className="title" {...(task ? lineOf(task, 'head') : {})}>
          {above && (
            <Link className="btn ghost icon sm" to={above.to} aria-label={above.back} title={above.back}>
              <Icon name="left" />
            </Link>
          )}
          {renaming && task ? <TitleField task={task} /> : <h1 title={title}>{missing ? s.untitled : title}</h1>}
          {task?.state === 'waiting' && <span className="pill ask">{w.waitsFor}</span>}
          {isDemo && <span className="tag">{s.demo}</span>}
          <span className="grow" />
          <TotalCost costs={costs} />
          {task && !above && <TaskMenu task={task} place="head" />}
          <button
            type="button"
            className="btn ghost icon sm"
            aria-pressed={!!panel}
            aria-label={w.panel}
            title={w.panel}
            onClick={() => ask({ panel: panel ? null : 'run', file: null, run: null })}
          >
            <Icon name="panel" />
          </button>
        </div>
      }
      panel={
        panel && (
          <Suspense fallback={<aside className="panel" />}>
            <Panel kind={panel} thread={thread} view={view} costs={costs} />
          </Suspense>
        )
      }
      kind={panel === 'run' ? 'run' : 'files'}
    >
      <div className="scroll" ref={box} tabIndex={0} role="region" aria-label={w.conversation}>
        <div className="col talk">
          {view.older && <Older more={() => conversation.more()} />}
          {missing ? (
            <Missing />
          ) : (
            turns.length === 0 &&
            view.trouble !== undefined && <Broken trouble={view.trouble} again={() => void conversation.load()} />
          )}
          <SpentOf value={spent}>
            {drawn.map((turn, i) => (
              <TurnView
                key={turn.key}
                thread={thread}
                turn={turn}
                last={!above && i === drawn.length - 1}
                {...(turn.ask && turn.ask.message.id in view.unsent
                  ? { trouble: view.unsent[turn.ask.message.id] }
                  : {})}
                busy={!!above || !!view.active || view.past}
                waiting={view.past ? noneAsked : open}
                answers={answers}
                acts={acts}
              />
            ))}
          </SpentOf>
        </div>
        {!missing && (!above || view.active) && (
          <div className="dock">
            <div className="col">
              {away && (
                <button type="button" className="btn icon jump" aria-label={w.jump} onClick={toEnd}>
                  <Icon name="down" />
                </button>
              )}
              <InBin thread={thread} />
              <Queue
                steers={unread(view.steers, view.talk.rows)}
                runs={queued}
                unsteer={(steer) => void conversation.unsteer(steer)}
                drop={(run) => void conversation.drop(run.id)}
                edit={(text) => write.current(text)}
              />
              <Then conversation={conversation} past={view.past} />
              <Composer
                place={thread}
                ring={<ContextRing thread={thread} context={costs?.context ?? null} />}
                rows={1}
                write={write}
                placeholder={above ? above.word : view.active ? w.whileRunning : open.length > 0 ? w.orSay : w.goOn}
                label={w.message}
                running={!!view.active}
                bare={!!above}
                focus
                send={(text, files, _, queue, secrets) =>
                  void conversation.say(
                    text,
                    { ...(above ? {} : options), ...(files.length > 0 ? { files } : {}) },
                    queue && !above,
                    secrets,
                  )
                }
                stop={() => void conversation.stop()}
              >
                {!above && <Chips options={options} change={setOptions} />}
              </Composer>
            </div>
          </div>
        )}
      </div>
      <Selected box={box} quote={(text, before) => write.current(`${text}\n${before ? '\n' : ''}`, !before)} />
      {view.failure !== undefined && <Failure of={view.failure} seen={seen} />}
      <Said working={!!view.active} waiting={task?.state === 'waiting'} />
    </Shell>
  );
}

const noneAsked: Asked[] = [];

/** What the turns ask for, the same as long as the conversation is. */
function useActs(
  conversation: Conversation,
  options: Options,
  named: () => string,
  write: RefObject<Write>,
  goOnWords: string,
): TurnActs {
  const now = useRef(options);
  const branch = useRef(named);
  useEffect(() => {
    now.current = options;
    branch.current = named;
  });
  return useMemo(
    () => ({
      resend: (turn) => {
        if (turn.ask) void conversation.resend(turn.ask.message.id);
      },
      unsay: (turn) => {
        if (!turn.ask) return;
        write.current?.(textOf(turn.ask.message));
        conversation.unsay(turn.ask.message.id);
      },
      retry: (turn, secrets) => {
        if (turn.last) void conversation.again(turn.last, null, now.current, secrets);
        else if (turn.ask) void conversation.again(turn.ask.message.id, textOf(turn.ask.message), now.current, secrets);
      },
      goOn: (secrets) => void conversation.say(goOnWords, now.current, false, secrets),
      decide: (words) => void conversation.say(words, now.current),
      answer: (resume, secrets) => conversation.answer(resume, secrets),
      detail: (run) => void conversation.detail(run),
      again: (id, secrets) => void conversation.again(id, null, now.current, secrets),
      edit: (id, words, secrets) => void conversation.again(id, words, now.current, secrets),
      version: (id) => void conversation.version(id),
      branch: (id) => void conversation.branch(id, branch.current()).then((thread) => thread && go(`/c/${thread}`)),
    }),
    [conversation, write, goOnWords],
  );
}

/** Tells the server that what is new was read, while the page is looked at. */
function useRead(thread: string, unread: boolean): void {
  useEffect(() => {
    if (!unread) return;
    const tell = (): void => {
      if (!document.hidden)
        void api('put', '/threads/{thread_id}/read', { path: { thread_id: thread } }).catch(() => {});
    };
    tell();
    document.addEventListener('visibilitychange', tell);
    return () => document.removeEventListener('visibilitychange', tell);
  }, [thread, unread]);
}

function Older({ more }: { more: () => Promise<void> }): ReactNode {
  const w = useWords(chat);
  const [busy, setBusy] = useState(false);
  return (
    <button
      type="button"
      className="btn sm justify-self-center"
      disabled={busy}
      onClick={() => {
        setBusy(true);
        void more().finally(() => setBusy(false));
      }}
    >
      {w.older}
    </button>
  );
}

function Missing(): ReactNode {
  const w = useWords(chat);
  return (
    <Notice icon="search" text={w.notYours}>
      <button type="button" className="btn primary" onClick={() => go('/')}>
        {w.newTask}
      </button>
    </Notice>
  );
}

function Broken({ trouble, again }: { trouble: unknown; again: () => void }): ReactNode {
  const w = useWords(chat);
  const e = useWords(errors);
  return (
    <Notice icon="alert" text={sentence(trouble, e)}>
      <button type="button" className="btn" onClick={again}>
        {w.retry}
      </button>
    </Notice>
  );
}

/** The one region that is read out: that Pudu works, waits, is done. */
function Said({ working, waiting }: { working: boolean; waiting: boolean }): ReactNode {
  const w = useWords(chat);
  const was = useRef(working);
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (was.current && !working) setDone(true);
    if (working) setDone(false);
    was.current = working;
  }, [working]);
  return (
    <div className="sr" role="status">
      {working ? w.working : waiting ? w.waitsFor : done ? w.ready : ''}
    </div>
  );
}
