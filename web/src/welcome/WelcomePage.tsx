// The first run: which model there is and how to add one, the state of the machine, three tasks that start at once.
import { type ReactNode, useEffect, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { api } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { Link } from '../lib/router';
import { useInfo } from '../settings/useInfo';
import { Icon, type IconName } from '../ui/Icon';
import { Mark } from '../ui/Mark';
import { begin, demo } from './tasks';
import { welcome } from './words';

export default function WelcomePage(): ReactNode {
  const w = useWords(welcome);
  const { data: info } = useInfo();
  const has = !!info?.model;
  useEffect(() => {
    document.title = 'Pudu';
  }, []);
  if (!info) return <main className="wel" aria-busy="true" />;
  return (
    <main className="wel">
      <header>
        <Mark />
        <h1>{has ? w.ready : w.title}</h1>
        <p>{has ? w.readyIntro : w.intro}</p>
      </header>
      {!has && <Model why={info.no_model ?? ''} />}
      <Machine sandbox={info.sandbox} />
      {has && <Starts />}
    </main>
  );
}

function Model({ why }: { why: string }): ReactNode {
  const w = useWords(welcome);
  const [play, trouble] = useBegin();
  return (
    <section aria-labelledby="model">
      <h2 id="model">{w.model}</h2>
      <div className="list">
        <details className="p-4">
          <summary className="font-medium">{w.how}</summary>
          <pre className="addhow">{why}</pre>
        </details>
        <div className="demo">
          <div className="grow">
            <b>{w.demo}</b>
            <small>{w.demoHint}</small>
          </div>
          <button type="button" className="btn primary" onClick={() => play(w.demoTask, { model: demo })}>
            {w.play}
          </button>
        </div>
      </div>
      {trouble}
    </section>
  );
}

function Machine({ sandbox }: { sandbox: string }): ReactNode {
  const w = useWords(welcome);
  const { data: session } = useQuery({ queryKey: ['session'], queryFn: () => api('get', '/session') });
  const on = sandbox !== '' && !/^(none|off|disabled)/i.test(sandbox);
  return (
    <section aria-labelledby="machine">
      <h2 id="machine">{w.machine}</h2>
      <div className="list">
        <div className={on ? 'sys' : 'sys warn'}>
          <Icon name={on ? 'shield' : 'alert'} />
          <b>{w.sandbox}</b>
          <span className="txt">{on ? w.sandboxOn : w.sandboxOff}</span>
          <span />
        </div>
        <div className="sys">
          <Icon name="agent" />
          <b>{w.who}</b>
          <span className="txt">{session?.token_required ? w.token : w.onlyYou}</span>
          <span />
        </div>
      </div>
    </section>
  );
}

/** The three tasks, as cards. */
export function Starts(): ReactNode {
  const w = useWords(welcome);
  const [start, trouble] = useBegin();
  const cards: [IconName, string, string, string, boolean][] = [
    ['chart', w.salesTitle, w.salesText, w.salesTask, true],
    ['bash', w.scriptTitle, w.scriptText, w.scriptTask, false],
    ['globe', w.pageTitle, w.pageText, w.pageTask, false],
  ];
  return (
    <section aria-labelledby="start">
      <h2 id="start">
        {w.start}{' '}
        <Link to="/" className="soft underline">
          {w.empty}
        </Link>
      </h2>
      <div className="starts">
        {cards.map(([icon, title, text, task, file]) => (
          <button key={title} type="button" className="card" onClick={() => start(task, {}, file)}>
            <Icon name={icon} />
            <b>{title}</b>
            <span className="text-ink-2">{text}</span>
          </button>
        ))}
      </div>
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
