// A task: its conversation, followed while it goes on, and the composer below.
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { api, Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { go } from '../lib/router';
import { Shell } from '../shell/Shell';
import { shell } from '../shell/words';
import { useTask } from '../threads/tasks';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import { Composer } from './composer/Composer';
import { textOf } from './talk/message';
import { type Turn, turnsOf } from './talk/turns';
import { useConversation } from './talk/useConversation';
import { TurnView } from './TurnView';
import { useFollowing } from './useFollowing';
import { chat } from './words';

export default function ThreadPage({ thread }: { thread: string }): ReactNode {
  const w = useWords(chat);
  const s = useWords(shell);
  const [conversation, view] = useConversation(thread);
  const task = useTask(thread);
  const turns = useMemo(() => turnsOf(view.talk), [view.talk]);
  const title = task?.title || (turns[0]?.ask && textOf(turns[0].ask.message).slice(0, 60)) || s.untitled;
  useEffect(() => {
    document.title = `${title} · Pudu`;
  }, [title]);
  useRead(thread, task?.state === 'answered' || task?.state === 'failed');
  const box = useRef<HTMLDivElement>(null);
  const [away, toEnd] = useFollowing(box, turns, !view.loading);
  const again = useCallback(
    (turn: Turn) => {
      if (turn.ask) void conversation.post(turn.ask.message.id, textOf(turn.ask.message), {});
    },
    [conversation],
  );
  const goOn = useCallback(() => void conversation.say(w.goOnButton, {}), [conversation, w]);
  useStopKey(() => void conversation.stop());
  const missing = view.trouble instanceof Trouble && view.trouble.status === 404 && turns.length === 0;
  return (
    <Shell
      header={
        <div className="title">
          <h1>{missing ? s.untitled : title}</h1>
          {task?.state === 'waiting' && <span className="pill ask">{w.waitsFor}</span>}
        </div>
      }
    >
      <div className="scroll" ref={box} tabIndex={0} role="region" aria-label={w.conversation}>
        <div className="col talk">
          {view.older && <Older more={() => conversation.more()} />}
          {missing ? <Missing /> : turns.length === 0 && view.trouble !== undefined && <Broken trouble={view.trouble} again={() => void conversation.load()} />}
          {turns.map((turn, i) => (
            <TurnView
              key={turn.key}
              turn={turn}
              last={i === turns.length - 1}
              {...(turn.ask && turn.ask.message.id in view.unsent ? { trouble: view.unsent[turn.ask.message.id] } : {})}
              again={again}
              goOn={goOn}
            />
          ))}
        </div>
        {!missing && (
          <div className="dock">
            <div className="col">
              {away && (
                <button type="button" className="btn icon jump" aria-label={w.jump} onClick={toEnd}>
                  <Icon name="down" />
                </button>
              )}
              <Composer
                place={thread}
                rows={1}
                placeholder={view.active ? w.whileRunning : w.goOn}
                label={w.message}
                running={!!view.active}
                focus
                send={(text) => void conversation.say(text, {})}
                stop={() => void conversation.stop()}
              />
            </div>
          </div>
        )}
      </div>
      <Said working={!!view.active} waiting={task?.state === 'waiting'} />
    </Shell>
  );
}

/** Tells the server that what is new was read, while the page is looked at. */
function useRead(thread: string, unread: boolean): void {
  useEffect(() => {
    if (!unread) return;
    const tell = (): void => {
      if (!document.hidden) void api('put', '/threads/{thread_id}/read', { path: { thread_id: thread } }).catch(() => {});
    };
    tell();
    document.addEventListener('visibilitychange', tell);
    return () => document.removeEventListener('visibilitychange', tell);
  }, [thread, unread]);
}

/** Ctrl . stops the run. */
function useStopKey(stop: () => void): void {
  useEffect(() => {
    const key = (e: KeyboardEvent): void => {
      if (e.key === '.' && (e.ctrlKey || e.metaKey)) stop();
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  });
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
