// How a task was after a step: told in a line, opened to its messages, plan and files, and gone on from.
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { sized, useWords } from '../lib/i18n';
import { ask, go } from '../lib/router';
import { isHidden } from '../chat/talk/message';
import { nameOf, short, versionAt } from '../files/data';
import { tasksKey } from '../threads/tasks';
import { Glyph, type State as GlyphState } from '../ui/Glyph';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { type State, type Then, useFilesAt, useStateAt } from './data';
import { MessageList } from './Messages';
import { inspect } from './words';

interface StateProps {
  thread: string;
  checkpoint: string;
  /** It is the state before the run. */
  before: boolean;
}

const done = (state: State): number => state.todos.filter((t) => t.status === 'completed').length;
const seen = (state: State): State['messages'] => state.messages.filter((m) => !isHidden(m));

/** The state after a step in a line, with Open and Branch from here. */
export function StateBlock({ thread, checkpoint, before }: StateProps): ReactNode {
  const w = useWords(inspect);
  const e = useWords(errors);
  const state = useStateAt(thread, checkpoint);
  const files = useFilesAt(thread, checkpoint);
  const trouble = state.error ?? files.error;
  return (
    <section className="block">
      <h2>{before ? w.stateBefore : w.state}</h2>
      {checkpoint === '' && <p className="soft">{w.noState}</p>}
      {checkpoint !== '' && (
        <>
          <p className="facts">
            {trouble ? sentence(trouble, e) : state.data && files.data ? told(state.data, files.data, w) : ' '}
          </p>
          <div className="acts">
            <button type="button" className="btn sm" onClick={() => ask({ tab: 'state' })}>
              <Icon name="eye" />
              {w.open}
            </button>
            <Branch thread={thread} checkpoint={checkpoint} />
          </div>
        </>
      )}
    </section>
  );
}

function told(state: State, files: Then, w: typeof inspect.en): string {
  const plan = state.todos.length > 0 ? w.planAt(done(state), state.todos.length) : '';
  return w.stateOf(seen(state).length, files.files?.length ?? 0, plan);
}

function Branch({ thread, checkpoint }: { thread: string; checkpoint: string }): ReactNode {
  const w = useWords(inspect);
  const e = useWords(errors);
  const client = useQueryClient();
  const [trouble, setTrouble] = useState<unknown>();
  const apart = async (): Promise<void> => {
    setTrouble(undefined);
    try {
      const made = await api('post', '/threads/{thread_id}/branches', {
        path: { thread_id: thread },
        body: { checkpoint_id: checkpoint, files: 'then' } as never,
      });
      void client.invalidateQueries({ queryKey: tasksKey });
      go(`/c/${(made as unknown as { thread_id: string }).thread_id}`);
    } catch (error) {
      setTrouble(error);
    }
  };
  return (
    <>
      <Menu
        className="btn sm"
        title={w.branch}
        items={[
          {
            key: 'now',
            icon: 'play',
            label: w.goOnNow,
            hint: w.goOnNowHint,
            choose: () => go(`/c/${thread}?at=${checkpoint}`),
          },
          {
            key: 'then',
            icon: 'undo',
            label: w.goOnThen,
            hint: w.goOnThenHint,
            choose: () => go(`/c/${thread}?at=${checkpoint}&files=then`),
          },
          { key: 'new', icon: 'branch', label: w.newTask, hint: w.newTaskHint, rule: true, choose: () => void apart() },
        ]}
      >
        <Icon name="branch" />
        {w.branch}
      </Menu>
      {trouble !== undefined && (
        <p className="note-line bad" role="alert">
          {sentence(trouble, e)}
        </p>
      )}
    </>
  );
}

/** The state at a checkpoint, all of it: its plan, its files, its messages. */
export function StateAt({ thread, checkpoint }: { thread: string; checkpoint: string }): ReactNode {
  const w = useWords(inspect);
  const e = useWords(errors);
  const state = useStateAt(thread, checkpoint);
  const files = useFilesAt(thread, checkpoint);
  const trouble = state.error ?? files.error;
  return (
    <>
      <section className="block">
        <div className="acts">
          <button type="button" className="btn ghost sm" onClick={() => ask({ tab: null })}>
            <Icon name="left" />
            {w.toStep}
          </button>
          <span className="grow" />
          <Branch thread={thread} checkpoint={checkpoint} />
        </div>
        {trouble && (
          <p className="note-line bad" role="alert">
            {sentence(trouble, e)}
          </p>
        )}
      </section>
      {state.data && state.data.todos.length > 0 && (
        <section className="block">
          <h2>
            {w.plan}{' '}
            <span className="num">
              {done(state.data)} / {state.data.todos.length}
            </span>
          </h2>
          <ol className="plan">
            {state.data.todos.map((t, i) => (
              <li key={i} className={t.status === 'completed' ? 'd' : t.status === 'in_progress' ? 'n' : ''}>
                <Glyph state={(t.status === 'completed' ? 'done' : 'todo') satisfies GlyphState} />
                <span>{t.content}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
      {files.data && <FilesThen thread={thread} then={files.data} />}
      {state.data && (
        <section className="block">
          <h2>
            {w.said} <span className="num">{seen(state.data).length}</span>
          </h2>
          <MessageList messages={seen(state.data)} own />
        </section>
      )}
    </>
  );
}

function FilesThen({ thread, then }: { thread: string; then: Then }): ReactNode {
  const w = useWords(inspect);
  const list = then.files ?? [];
  return (
    <section className="block">
      <h2>
        {w.files} <span className="num">{list.length}</span>
      </h2>
      {list.length === 0 && <p className="soft">{w.noFiles}</p>}
      <ul className="thenfiles">
        {list.map((f) => (
          <li key={f.path}>
            {f.available && !f.symlink_target ? (
              <a className="cut" href={versionAt(thread, f.path, f.version)} download={nameOf(f.path)} title={f.path}>
                {short(f.path)}
              </a>
            ) : (
              <span className="cut" title={f.path}>
                {short(f.path)}
              </span>
            )}
            <small>{f.available ? (f.current ? w.sameNow : w.changedNow) : w.notKept}</small>
            <small className="num">{sized(f.size)}</small>
          </li>
        ))}
      </ul>
      {then.more && <p className="soft">{w.moreFiles}</p>}
    </section>
  );
}
