// The models of the server, for admins: where each comes from, whether it answers, and forms that open in place.
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { answeredIn, thousands, useWords } from '../lib/i18n';
import { ask, useQueryOf } from '../lib/router';
import { SettingsPage } from '../settings/SettingsPage';
import { Glyph } from '../ui/Glyph';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import { askSure, Sure } from '../ui/Sure';
import { useSaving } from '../ui/useSaving';
import { ui } from '../ui/words';
import { type List, type Listed, modelsChanged, useList, useProviders } from './data';
import { ModelForm } from './ModelForm';
import { answers, remember, type Test, useTest } from './probe';
import { Outcome, Verdict } from './Verdict';
import { models } from './words';

export default function ModelsPage(): ReactNode {
  const w = useWords(models);
  const { data, error } = useList();
  const adding = useQueryOf().has('add');
  const denied = error instanceof Trouble && error.status === 403;
  const list = data?.models ?? [];
  return (
    <SettingsPage
      title={w.title}
      intro={w.intro}
      act={
        !denied && (
          <button
            type="button"
            className="btn"
            aria-expanded={adding}
            onClick={() => ask({ add: adding ? null : '', model: null })}
          >
            <Icon name="plus" />
            {w.add}
          </button>
        )
      }
    >
      {denied && <Notice icon="lock" text={w.admins} />}
      {error && !denied && <Broken error={error} />}
      {adding && (
        <ModelForm done={(name) => ask({ add: null, model: name }, true)} cancel={() => ask({ add: null }, true)} />
      )}
      {data?.default_fixed_by && <p className="note-line">{w.fixed(data.default_fixed_by)}</p>}
      {data && list.length === 0 && !adding && <Notice icon="spark" text={w.none} />}
      {data && list.length > 0 && (
        <ul className="list" aria-label={w.title}>
          {list.map((m) => (
            <Row key={`${m.origin} ${m.name}`} model={m} list={data} />
          ))}
        </ul>
      )}
    </SettingsPage>
  );
}

function Broken({ error }: { error: unknown }): ReactNode {
  const u = useWords(ui);
  const e = useWords(errors);
  const client = useQueryClient();
  return (
    <Notice icon="alert" text={sentence(error, e)}>
      <button type="button" className="btn" onClick={() => void modelsChanged(client)}>
        {u.tryAgain}
      </button>
    </Notice>
  );
}

/** What is known of a model beside its name. */
function useFacts(m: Listed): string {
  const w = useWords(models);
  const { data } = useProviders();
  const title = data?.providers?.find((p) => p.name === m.provider)?.title ?? m.provider;
  const facts = [m.provider === 'compatible' ? m.base_url : title];
  facts.push(w[`key_${m.key}` as 'key_none'] ?? m.key);
  if (m.origin !== 'added') facts.push(w[`from_${m.origin}` as 'from_environment'] ?? m.origin);
  if (m.context_window > 0) facts.push(w.tokens(thousands(m.context_window)));
  if (m.supports_vision) facts.push(w.sees);
  if (m.supports_thinking) facts.push(w.thinks);
  return facts.join(', ');
}

/** Whether it works, as far as that is known. */
function State({ of: m, test: t }: { of: Listed; test: Test | null }): ReactNode {
  const w = useWords(models);
  if (t?.running && !answers(t)) return <Glyph state="live" />;
  if (!m.usable || t?.end?.verdict === 'no verdict' || t?.trouble !== undefined) return <Glyph state="bad" />;
  return (
    <span className={answers(t) ? 'ok' : 'ok off'}>
      <span className="sr">{answers(t) ? w.works : w.unknown}</span>
    </span>
  );
}

function Row({ model: m, list }: { model: Listed; list: List }): ReactNode {
  const w = useWords(models);
  const facts = useFacts(m);
  const open = useQueryOf().get('model') === m.name;
  const testing = useTest(m.name);
  const t = testing.now;
  const ms = t?.results.find((r) => r.task === 'answers' && r.outcome === 'pass')?.ms;
  const wrong = m.problem || (t?.end?.problem ?? '');
  return (
    <li className="srv">
      <div className="head over">
        <State of={m} test={t} />
        <button
          type="button"
          className="to min-w-0"
          aria-expanded={open}
          onClick={() => ask({ model: open ? null : m.name, change: null, add: null })}
        >
          <b>{m.display_name || m.name}</b>
          <small className={wrong ? 'bad' : ''}>{wrong || facts}</small>
        </button>
        <span className="meta">
          {m.default && <span className="tag">{w.default}</span>}
          {ms !== undefined && <span>{answeredIn(ms)}</span>}
        </span>
        <button
          type="button"
          className="btn sm"
          aria-label={`${w.test}: ${m.name}`}
          onClick={() => {
            ask({ model: m.name, change: null, add: null }, open);
            void testing.start({ name: m.name }, true);
          }}
        >
          {w.test}
        </button>
        <Icon name="right" className="i chev" />
      </div>
      {open && <Opened model={m} list={list} testing={testing} />}
    </li>
  );
}

interface OpenedProps {
  model: Listed;
  list: List;
  testing: ReturnType<typeof useTest>;
}

function Opened({ model: m, list, testing }: OpenedProps): ReactNode {
  const w = useWords(models);
  const client = useQueryClient();
  const saving = useSaving();
  const query = useQueryOf();
  const changing = query.has('change');
  const t = testing.now;
  const work = (f: () => Promise<unknown>): void =>
    void saving.save(async () => {
      await f();
      await modelsChanged(client);
    });
  if (changing && !m.read_only) {
    return <ModelForm was={m} done={() => ask({ change: null }, true)} cancel={() => ask({ change: null }, true)} />;
  }
  return (
    <div className="inner">
      {m.problem && <p className="note-line bad">{m.problem}</p>}
      <dl className="facts">
        <dt>{w.name}</dt>
        <dd className="break-words">{m.name}</dd>
        <dt>{w.model}</dt>
        <dd className="break-words">{m.model}</dd>
        {m.base_url && (
          <>
            <dt>{w.address}</dt>
            <dd className="mono break-words">{m.base_url}</dd>
          </>
        )}
      </dl>
      {t && <Verdict of={t} />}
      {t && <Outcome of={t} />}
      {m.read_only && <p className="soft">{w.readOnly}</p>}
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      <div className="acts">
        <button type="button" className="btn sm" onClick={() => void testing.start({ name: m.name })}>
          <Icon name="play" />
          {w.testAll}
        </button>
        {!m.default && m.usable && !list.default_fixed_by && (
          <button
            type="button"
            className="btn sm"
            disabled={saving.busy}
            onClick={() => work(() => api('put', '/config/default-model', { body: { name: m.name } }))}
          >
            <Icon name="star" />
            {w.makeDefault}
          </button>
        )}
        {!m.read_only && (
          <>
            <button type="button" className="btn sm" onClick={() => ask({ change: '' })}>
              <Icon name="edit" />
              {w.change}
            </button>
            <span className="grow" />
            <button type="button" className="btn sm danger" disabled={saving.busy} onClick={() => askSure('model')}>
              {w.remove}
            </button>
          </>
        )}
      </div>
      {query.get('sure') === 'model' && (
        <Sure
          title={w.removeAsk(m.name)}
          text={w.removeText}
          act={w.remove}
          go={() =>
            work(async () => {
              await api('delete', '/config/models/{name}', { path: { name: m.name } });
              remember(m.name, null);
            })
          }
        />
      )}
    </div>
  );
}
