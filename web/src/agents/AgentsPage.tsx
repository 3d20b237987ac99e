// A user's own agents: the list, and one of them as a form. No task is made by it, and nothing is said in the user's
// name.
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { api, Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { ask, go, Link, useQueryOf } from '../lib/router';
import { Shell } from '../shell/Shell';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import { askSure, Sure } from '../ui/Sure';
import { useSaving } from '../ui/useSaving';
import { AgentForm } from './AgentForm';
import { type Agent, agentsKey, blank, toolName, useAgents, valuesOf } from './data';
import { agents } from './words';

const base = '/library/agents';

export default function AgentsPage({ name }: { name: string | undefined }): ReactNode {
  const w = useWords(agents);
  const { data, error } = useAgents();
  const list = data?.agents ?? [];
  const one = list.find((a) => a.name === name?.toLowerCase());
  const title = one?.name ?? w.title;
  useEffect(() => {
    document.title = `${title} · Pudu`;
  }, [title]);
  const off = error instanceof Trouble && error.status === 403;
  return (
    <Shell header={<div className="title">{name ? <Link to={base}>{w.title}</Link> : w.title}</div>}>
      <div className="scroll">
        <div className="page">
          {error && <Failed error={error} off={off} />}
          {data && name && (one ? <One key={one.name} agent={one} /> : <None name={name} />)}
          {!name && !error && <All list={data ? list : null} />}
        </div>
      </div>
    </Shell>
  );
}

function Failed({ error, off }: { error: unknown; off: boolean }): ReactNode {
  const w = useWords(agents);
  const e = useWords(errors);
  return (
    <>
      <h1 className="sr">{w.title}</h1>
      <Notice icon={off ? 'lock' : 'alert'} text={off ? w.off : sentence(error, e)} />
    </>
  );
}

function None({ name }: { name: string }): ReactNode {
  const w = useWords(agents);
  return (
    <>
      <h1 className="sr">{w.title}</h1>
      <Notice icon="agent" text={w.missing(name)}>
        <Link className="btn primary" to={base}>
          {w.all}
        </Link>
      </Notice>
    </>
  );
}

function All({ list }: { list: Agent[] | null }): ReactNode {
  const w = useWords(agents);
  const making = useQueryOf().has('new');
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <h1>{w.title}</h1>
          <p>{w.intro}</p>
        </div>
        <button type="button" className="btn" aria-expanded={making} onClick={() => ask({ new: making ? null : '' })}>
          <Icon name="plus" />
          {w.make}
        </button>
      </div>
      {making && (
        <div className="card">
          <AgentForm
            place="agent"
            start={blank}
            done={(a) => go(`${base}/${a.name}`, true)}
            cancel={() => ask({ new: null }, true)}
          />
        </div>
      )}
      {list?.length === 0 && !making && <Notice icon="agent" text={w.none} />}
      {list && list.length > 0 && (
        <ul className="cards">
          {list.map((a) => (
            <li key={a.name}>
              <Card agent={a} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Card({ agent: a }: { agent: Agent }): ReactNode {
  const w = useWords(agents);
  const tools =
    a.tool_groups === null
      ? w.allTools
      : a.tool_groups.length === 0
        ? w.noTools
        : a.tool_groups.map((g) => toolName(g, w)).join(', ');
  return (
    <Link className="card agentcard" to={`${base}/${a.name}`}>
      <header>
        <Icon name="agent" />
        <b className="cut">{a.name}</b>
      </header>
      <p>{a.description}</p>
      <footer>
        <span className="tag cut">{a.model || w.usual}</span>
        <span className="tag cut">{tools}</span>
        <span className="tag cut">
          {a.skills === null ? w.allSkills : a.skills.length === 0 ? w.noSkills : w.someSkills(a.skills.length)}
        </span>
      </footer>
    </Link>
  );
}

function One({ agent: a }: { agent: Agent }): ReactNode {
  const w = useWords(agents);
  const client = useQueryClient();
  const saving = useSaving();
  const sure = useQueryOf().get('sure') === 'agent';
  const remove = (): void =>
    void saving.save(async () => {
      await api('delete', '/agents/{agent}', { path: { agent: a.name } });
      go(base, true);
      await client.invalidateQueries({ queryKey: agentsKey });
    });
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <h1 className="break-words">{a.name}</h1>
          <p>{a.description}</p>
        </div>
        <Link className="btn sm" to={`/?agent=${encodeURIComponent(a.name)}`}>
          <Icon name="chat" />
          {w.begin}
        </Link>
        <button type="button" className="btn sm danger" disabled={saving.busy} onClick={() => askSure('agent')}>
          {w.remove}
        </button>
        {sure && <Sure title={w.removeAsk(a.name)} text={w.removeText} act={w.remove} go={remove} />}
      </div>
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      <AgentForm place={`agent.${a.name}`} start={valuesOf(a)} there done={() => {}} />
    </>
  );
}
