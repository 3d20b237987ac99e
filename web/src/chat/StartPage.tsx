// The start: a new task, and what waits, runs and is new.
import { lazy, type ReactNode, Suspense, useEffect, useRef } from 'react';
import type { Sent } from '../files/uploads';
import { useWords, when } from '../lib/i18n';
import { ask, go, Link, useQueryOf } from '../lib/router';
import { Shell } from '../shell/Shell';
import { FolderChip } from '../threads/FolderChip';
import { glyphOf, isShown, useTasks } from '../threads/tasks';
import { shell } from '../shell/words';
import { useInfo } from '../settings/useInfo';
import { Icon } from '../ui/Icon';
import { Glyph } from '../ui/Glyph';
import { Mark } from '../ui/Mark';
import { Chips } from './composer/Chips';
import { Composer } from './composer/Composer';
import { keepOptions, useOptions } from './composer/options';
import type { Secrets } from './secrets/held';
import { conversationOf } from './talk/useConversation';
import { chat } from './words';

const ToolboxLine = lazy(() => import('../toolbox/ToolboxLine'));

export default function StartPage(): ReactNode {
  const w = useWords(chat);
  useEffect(() => {
    document.title = 'Pudu';
  }, []);
  const [options, setOptions] = useOptions('');
  const folder = useQueryOf().get('folder') ?? '';
  // An agent that was chosen on its page is that of this task alone.
  const agent = useQueryOf().get('agent');
  const start = (text: string, files: Sent[], thread: string, _: boolean, secrets?: Secrets): void => {
    const chosen = agent ? { ...options, agent } : options;
    keepOptions(thread, chosen);
    void conversationOf(thread, true).say(
      text,
      { ...chosen, ...(folder ? { folder } : {}), ...(files.length > 0 ? { files } : {}) },
      false,
      secrets,
    );
    go(`/c/${thread}`);
  };
  return (
    <Shell>
      <div className="scroll">
        <div className="start">
          <div className="col dockless">
            <div className="hello">
              <Mark />
              <h1>{w.hello}</h1>
            </div>
            <Composer place="" rows={3} placeholder={w.placeholder} label={w.task} running={false} focus send={start}>
              <Chips options={options} change={setOptions} />
              <FolderChip folder={folder} />
              {agent && (
                <button
                  type="button"
                  className="chip"
                  aria-label={w.withoutAgent(agent)}
                  title={w.withoutAgent(agent)}
                  onClick={() => ask({ agent: null }, true)}
                >
                  <Icon name="agent" />
                  <span className="cut">{agent}</span>
                  <Icon name="x" className="i car" />
                </button>
              )}
            </Composer>
            <Desk />
            <First />
          </div>
          <Suspense fallback={null}>
            <ToolboxLine />
          </Suspense>
        </div>
      </div>
    </Shell>
  );
}

/** Without a model the page says so: a task would be refused. Who has none yet and no task is led to the first run. */
function First(): ReactNode {
  const w = useWords(chat);
  const { data: info } = useInfo();
  const { data: tasks } = useTasks();
  const none = info && !info.model;
  useEffect(() => {
    if (none && tasks?.threads.length === 0) go('/welcome', true);
  }, [none, tasks]);
  if (!none) return null;
  return (
    <p className="note-line ask">
      <Icon name="alert" />
      <span>
        {w.noModel} <Link to="/welcome">{w.addModel}</Link>
      </span>
    </p>
  );
}

const most = 6;

/** What waits for the user, what runs, what is new. */
function Desk(): ReactNode {
  const w = useWords(chat);
  const s = useWords(shell);
  const { data } = useTasks();
  const order = { waiting: 0, running: 1, failed: 2, answered: 3 } as Record<string, number>;
  // What stands there keeps its place while the page is looked at, also when it is due no more; what comes stands below
  // it.
  const stood = useRef<string[]>([]);
  const all = (data?.threads ?? []).filter(isShown);
  const due = all
    .filter((t) => t.state in order)
    .sort((a, b) => (order[a.state] ?? 9) - (order[b.state] ?? 9))
    .slice(0, most);
  const list = [
    ...stood.current.flatMap((id) => all.filter((t) => t.thread_id === id)),
    ...due.filter((t) => !stood.current.includes(t.thread_id)),
  ];
  stood.current = list.map((t) => t.thread_id);
  if (list.length === 0) return null;
  return (
    <section className="desk" aria-label={w.onDesk}>
      {list.map((t) => (
        <Link key={t.thread_id} className="deskrow" to={`/c/${t.thread_id}`}>
          <Glyph state={glyphOf(t)} />
          <span className="grow">
            <b className="cut">{t.title || s.untitled}</b>
          </span>
          {t.state === 'waiting' ? (
            <span className="btn sm">{w.answer}</span>
          ) : (
            <small className="soft num">{when(t.updated_at)}</small>
          )}
        </Link>
      ))}
    </section>
  );
}
