// The first run, on one page: a model to think with, the state of the machine, three tasks that start at once.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { Link } from '../lib/router';
import { change, type Language, useSetting } from '../lib/settings';
import { ModelForm } from '../models/ModelForm';
import { useList } from '../models/data';
import { models } from '../models/words';
import { useAdmin, useSession } from '../settings/SettingsPage';
import { useInfo } from '../settings/useInfo';
import { turnTheme } from '../shell/Sidebar';
import { shell } from '../shell/words';
import { useTaskNews } from '../threads/tasks';
import { Icon } from '../ui/Icon';
import { Mark } from '../ui/Mark';
import { Menu } from '../ui/Menu';
import { sandboxOf } from './machine';
import { begin, demo, type Starter, startersFor } from './tasks';
import { welcome } from './words';

export default function WelcomePage(): ReactNode {
  const w = useWords(welcome);
  const { data: info } = useInfo();
  useTaskNews(); // a model that was added elsewhere
  const has = !!info?.model;
  const head = useRef<HTMLHeadingElement>(null);
  const before = useRef<boolean | null>(null);
  useEffect(() => {
    document.title = 'Pudu';
  }, []);
  useEffect(() => {
    if (!info) return;
    if (has && before.current === false) head.current?.focus(); // the form that had the focus is gone
    before.current = has;
  }, [info, has]);
  const code = !info || sandboxOf(info).state !== 'off';
  return (
    <>
      <Corner />
      <main className="wel" aria-busy={!info}>
        {info && (
          <>
            <header>
              <Mark />
              <h1 ref={head} tabIndex={-1}>
                {has ? w.ready : w.title}
              </h1>
              <p>{has ? w.readyIntro(info.model) : w.intro}</p>
            </header>
            {!has && <Model why={info.no_model ?? ''} />}
            {has && <Starts code={code} />}
            <Machine sandbox={sandboxOf(info)} />
          </>
        )}
      </main>
    </>
  );
}

/** Language and theme: nobody reads on in a language that is not theirs. */
function Corner(): ReactNode {
  const s = useWords(shell);
  const w = useWords(welcome);
  const language = useSetting('language');
  const names: Record<Language, string> = { en: 'English', zh: '中文' };
  return (
    <div className="corner">
      <Menu
        className="btn ghost sm"
        title={w.language}
        end
        items={(['en', 'zh'] as const).map((l) => ({
          key: l,
          label: names[l],
          on: l === language,
          choose: () => change({ language: l }),
        }))}
      >
        {names[language]}
        <Icon name="down" className="i car" />
      </Menu>
      <button type="button" className="btn ghost icon sm" aria-label={s.theme} onClick={turnTheme}>
        <Icon name="theme" />
      </button>
    </div>
  );
}

function Model({ why }: { why: string }): ReactNode {
  const w = useWords(welcome);
  const { data: session } = useSession();
  const admin = useAdmin('config:write');
  return (
    <section aria-labelledby="model">
      <h2 id="model">{w.model}</h2>
      {session?.signed_in &&
        (admin ? (
          <>
            <Unusable />
            <ModelForm first done={() => {}}>
              <Demo />
            </ModelForm>
            <details>
              <summary className="fold">
                <Icon name="right" className="i chev" />
                {w.how}
              </summary>
              <pre className="addhow">{why}</pre>
            </details>
          </>
        ) : (
          <>
            <p className="note-line">{w.askAdmin}</p>
            <div className="list">
              <Demo />
            </div>
          </>
        ))}
    </section>
  );
}

/** Models that are there and cannot be used, such as those of a copy that was restored without its keys. */
function Unusable(): ReactNode {
  const w = useWords(welcome);
  const m = useWords(models);
  const { data } = useList();
  if (!data?.models?.length) return null;
  return (
    <p className="note-line ask">
      <Icon name="alert" />
      <span>
        {w.unusable(data.models.map((x) => x.name).join(', '))} <Link to="/settings/models">{m.title}</Link>
      </span>
    </p>
  );
}

function Demo(): ReactNode {
  const w = useWords(welcome);
  const [play, trouble] = useBegin();
  return (
    <div className="demo">
      <div className="grow">
        <b>{w.demo}</b>
        <small>{w.demoHint}</small>
      </div>
      <button type="button" className="btn" onClick={() => play(w.demoTask, { model: demo })}>
        <Icon name="play" />
        {w.play}
      </button>
      {trouble}
    </div>
  );
}

function Machine({ sandbox }: { sandbox: ReturnType<typeof sandboxOf> }): ReactNode {
  const w = useWords(welcome);
  const { data: session } = useSession();
  const said = { on: w.sandboxOn, off: w.sandboxOff, open: w.sandboxOpen }[sandbox.state];
  return (
    <section aria-labelledby="machine">
      <h2 id="machine">{w.machine}</h2>
      <div className="list">
        <div className={sandbox.state === 'on' ? 'sys' : 'sys warn'}>
          <Icon name={sandbox.state === 'on' ? 'shield' : 'alert'} />
          <b>{w.sandbox}</b>
          <span className="txt">
            {said}
            {sandbox.state === 'off' && (
              <small className="block break-words">{sandbox.why ? w.sandboxWhy(sandbox.why) : w.sandboxSet}</small>
            )}
          </span>
          <span />
        </div>
        {session && (
          <div className="sys">
            <Icon name="agent" />
            <b>{w.who}</b>
            <span className="txt">{session.token_required ? w.token : w.onlyYou}</span>
            <span />
          </div>
        )}
      </div>
    </section>
  );
}

/** The three tasks, as cards. */
function Starts({ code }: { code: boolean }): ReactNode {
  const w = useWords(welcome);
  const [start, trouble] = useBegin();
  const card = (s: Starter): ReactNode => (
    <button key={s.name} type="button" className="card" onClick={() => start(w[`${s.name}Task`], {}, s.file)}>
      <Icon name={s.icon} />
      <b>{w[`${s.name}Title`]}</b>
      <span className="text-ink-2">{w[`${s.name}Text`]}</span>
      {s.file && <small>{w.with(s.file)}</small>}
    </button>
  );
  return (
    <section aria-labelledby="start">
      <h2 id="start">
        {w.start}{' '}
        <Link to="/" className="soft underline">
          {w.empty}
        </Link>
      </h2>
      <div className="starts">{startersFor(code).map(card)}</div>
      {trouble}
    </section>
  );
}

/** Begins a task, and says where that did not work. */
function useBegin(): [typeof begin, ReactNode] {
  const e = useWords(errors);
  const [trouble, setTrouble] = useState<unknown>();
  const start: typeof begin = (...task) => begin(...task).catch((error: unknown) => setTrouble(error));
  const said = trouble !== undefined && (
    <p className="note-line bad" role="alert">
      {sentence(trouble, e)}
    </p>
  );
  return [start, said];
}
