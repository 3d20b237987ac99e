// What Pudu knows of its user: what it would like to keep, the facts by kind, and beside them why one is known. What is
// asked for stands in the address: /library/memory?q=&kind=&scope=&fact=&show=history|gone&add
import { type ReactNode, useEffect } from 'react';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { ask, useQueryOf } from '../lib/router';
import { useWritten } from '../lib/settled';
import { Shell } from '../shell/Shell';
import { useFolders } from '../threads/folders';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import {
  type Fact,
  type Kind,
  kindOf,
  kinds,
  scopeName,
  scopeOf,
  useFacts,
  useMemoryConfig,
  useSearched,
} from './data';
import { FactForm } from './FactForm';
import { Line } from './FactLine';
import { FactPanel } from './FactPanel';
import { useForgottenBefore, useGoing } from './forgetting';
import { Gone, History } from './Past';
import { Proposed } from './Proposed';
import { Head } from './Head';
import { memory } from './words';
import './memory.css';

export default function MemoryPage(): ReactNode {
  const w = useWords(memory);
  const e = useWords(errors);
  const query = useQueryOf();
  const show = query.get('show');
  const fact = query.get('fact');
  const { data: config } = useMemoryConfig();
  useForgottenBefore();
  const going = useGoing();
  const { data, error } = useFacts('active');
  const facts = data?.filter((f) => !going.has(f.fact_id));
  useEffect(() => {
    document.title = `${w.title} · Pudu`;
  }, [w]);
  return (
    <Shell header={<Head facts={facts?.length ?? 0} show={show} />} panel={fact && <FactPanel key={fact} id={fact} />}>
      <div className="scroll">
        <div className="page memory-page">
          <div className="page-head">
            <div className="grow">
              <h1>{show === 'history' ? w.history : show === 'gone' ? w.gone : w.head}</h1>
              {!show && <p>{w.intro}</p>}
            </div>
          </div>
          {config && !config.enabled && (
            <p className="note-line">
              <Icon name="info" />
              <span>{w.off}</span>
            </p>
          )}
          {error && <Notice icon="alert" text={sentence(error, e)} />}
          {show === 'history' ? <History /> : show === 'gone' ? <Gone /> : facts && <Known facts={facts} />}
        </div>
      </div>
    </Shell>
  );
}

function Known({ facts }: { facts: Fact[] }): ReactNode {
  const w = useWords(memory);
  const query = useQueryOf();
  const asked = query.get('q') ?? '';
  const [q, setQ] = useWritten(asked);
  const adding = query.has('add');
  const none = facts.length === 0 && !adding;
  return (
    <>
      <Proposed />
      {!none && <Tools facts={facts} q={q} setQ={setQ} />}
      {adding && (
        <div className="card">
          <FactForm done={() => ask({ add: null }, true)} />
        </div>
      )}
      {none ? (
        <Notice icon="memory" text={w.none}>
          <button type="button" className="btn primary" onClick={() => ask({ add: '' })}>
            {w.add}
          </button>
        </Notice>
      ) : asked.trim() ? (
        <Found q={asked} />
      ) : (
        <ByKind facts={facts} />
      )}
    </>
  );
}

/** What narrows the list: words, a kind, and for whom a fact is, where there are facts that are not for all. */
function Tools({ facts, q, setQ }: { facts: Fact[]; q: string; setQ: (q: string) => void }): ReactNode {
  const w = useWords(memory);
  const query = useQueryOf();
  const { data: folders } = useFolders();
  const kind = query.get('kind') ?? '';
  const scope = query.get('scope') ?? 'all';
  const scopes = [...new Set(facts.map(scopeOf))].sort();
  return (
    <div className="bar2">
      <search className="searchbox grow">
        <Icon name="search" />
        <input
          className="in"
          type="search"
          aria-label={w.search(facts.length)}
          placeholder={w.search(facts.length)}
          value={q}
          maxLength={300}
          onChange={(e) => setQ(e.target.value)}
        />
      </search>
      <div className="seg" role="group" aria-label={w.kind}>
        {(['', ...kinds] as const).map((k) => (
          <button key={k} type="button" aria-pressed={k === kind} onClick={() => ask({ kind: k || null }, true)}>
            {k ? w[k] : w.all}
          </button>
        ))}
      </div>
      {(scopes.length > 1 || scope !== 'all') && (
        <select
          className="in scope-of"
          aria-label={w.forWhom}
          value={scope}
          onChange={(e) => ask({ scope: e.target.value === 'all' ? null : e.target.value }, true)}
        >
          <option value="all">{w.everybody}</option>
          {[...new Set([...scopes, ...(scope === 'all' ? [] : [scope])])].map((s) => (
            <option key={s} value={s}>
              {scopeName(s, folders ?? [], w)}
            </option>
          ))}
        </select>
      )}
      <button
        type="button"
        className="btn tall"
        aria-expanded={query.has('add')}
        onClick={() => ask({ add: query.has('add') ? null : '' })}
      >
        <Icon name="plus" />
        {w.add}
      </button>
    </div>
  );
}

/** Whether a fact is one of those that the address asks for. */
function useWanted(): (f: Fact) => boolean {
  const query = useQueryOf();
  const kind = query.get('kind');
  const scope = query.get('scope');
  return (f) => (!kind || kindOf(f) === kind) && (scope === null || scopeOf(f) === scope);
}

function ByKind({ facts }: { facts: Fact[] }): ReactNode {
  const w = useWords(memory);
  const wanted = useWanted();
  const of = (kind: Kind): Fact[] =>
    facts.filter((f) => wanted(f) && kindOf(f) === kind).sort((a, b) => newest(b).localeCompare(newest(a)));
  const there = kinds.map((kind) => [kind, of(kind)] as const).filter(([, list]) => list.length > 0);
  if (there.length === 0) return facts.length > 0 && <Notice icon="memory" text={w.noneOfKind} />;
  return there.map(([kind, list]) => (
    <section key={kind} aria-labelledby={`kind-${kind}`}>
      <h2 id={`kind-${kind}`} className="group-of">
        {w[kind]} <span className="num">{list.length}</span>
      </h2>
      <ul className="list">
        {list.map((f) => (
          <Line key={f.fact_id} fact={f} />
        ))}
      </ul>
    </section>
  ));
}

/** What was used last stands first, then what was changed last. */
const newest = (f: Fact): string => `${f.used_at ?? ''} ${f.updated_at ?? ''}`;

function Found({ q }: { q: string }): ReactNode {
  const w = useWords(memory);
  const e = useWords(errors);
  const going = useGoing();
  const wanted = useWanted();
  const { data, error, isPlaceholderData } = useSearched(q);
  if (error) return <Notice icon="alert" text={sentence(error, e)} />;
  if (!data) return null;
  const list = data.filter((f) => wanted(f) && !going.has(f.fact_id));
  if (list.length === 0) return isPlaceholderData ? null : <Notice icon="search" text={w.nothingFound(q)} />;
  return (
    <ul className="list">
      {list.map((f) => (
        <Line key={f.fact_id} fact={f} />
      ))}
    </ul>
  );
}
