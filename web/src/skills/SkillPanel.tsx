// One skill: what it is for, its files, what the scan has found, its history; and what is done with it.
import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { draftOf, keepDraft } from '../chat/composer/drafts';
import { api, Trouble } from '../lib/api/client';
import { at } from '../lib/base';
import { useWords, when } from '../lib/i18n';
import { useKept } from '../lib/kept';
import { ask, go, useQueryOf } from '../lib/router';
import { useAdmin } from '../settings/SettingsPage';
import { failed } from '../shell/Failure';
import { Icon } from '../ui/Icon';
import { toast } from '../ui/Toasts';
import { useSaving } from '../ui/useSaving';
import { ui } from '../ui/words';
import {
  again,
  type Entry,
  type FileOf,
  findingsOf,
  goBack,
  type Skill,
  useFilesOf,
  useHistory,
  useText,
} from './data';
import { Findings } from './Findings';
import { skills, type SkillWords } from './words';

const close = (): void => go('/library/skills');

export function SkillPanel({ name, skill: s }: { name: string; skill: Skill | undefined }): ReactNode {
  const w = useWords(skills);
  const u = useWords(ui);
  const admin = useAdmin('skills:read');
  const own = admin && s?.category === 'custom';
  const { data: files } = useFilesOf(name, admin && !!s);
  const editing = useQueryOf().has('edit');
  const text = files?.find((f) => f.path === 'SKILL.md')?.content;
  return (
    <aside className="panel" aria-label={name}>
      <div className="tabs">
        <b className="strong cut">{name}</b>
        <span className="grow" />
        <button type="button" className="btn ghost icon sm" aria-label={u.close} onClick={close}>
          <Icon name="x" />
        </button>
      </div>
      <div className="panel-body" tabIndex={0} role="region" aria-label={name}>
        {!s && <p className="block soft">{w.missing(name)}</p>}
        {s && (
          <section className="block">
            <p className="wrap">{s.description}</p>
            <p className="soft">{[w[s.category as 'custom'], w.used(s.uses), s.license].filter(Boolean).join(' · ')}</p>
            {s.required_secrets && (
              <p className="soft wrap">
                {w.asks(
                  s.required_secrets.map((k) => (k.optional ? w.optional(k.name) : k.name)).join(', '),
                  s.secrets_ask ? s.name : '',
                )}
              </p>
            )}
            <Acts skill={s} own={own} />
          </section>
        )}
        {own && editing && typeof text === 'string' ? (
          <Edit key={text} name={name} text={text} />
        ) : (
          files && <Files list={files} own={own} />
        )}
        {own && <Scan name={name} />}
        {own && <History name={name} />}
      </div>
    </aside>
  );
}

function Acts({ skill: s, own }: { skill: Skill; own: boolean }): ReactNode {
  const w = useWords(skills);
  const client = useQueryClient();
  const begin = (): void => {
    const draft = draftOf('');
    if (!draft.startsWith(`/${s.name}`)) keepDraft('', `/${s.name} ${draft}`);
    go('/');
  };
  const remove = async (): Promise<void> => {
    try {
      await api('delete', '/skills/custom/{skill}', { path: { skill: s.name } });
    } catch (error) {
      return failed(error);
    }
    await again(client);
    close();
    const back = (): void =>
      void goBack(s.name)
        .catch(failed)
        .then(() => again(client));
    toast({ text: w.removed(s.name), act: { label: w.undoIt, go: back } });
  };
  return (
    <div className="acts">
      <button type="button" className="btn sm" onClick={begin}>
        <Icon name="chat" />
        {w.tryIt}
      </button>
      {own && (
        <>
          <a className="btn sm" href={at(`skills/custom/${s.name}/archive`)} download={`${s.name}.skill`}>
            <Icon name="download" />
            {w.export}
          </a>
          <button type="button" className="btn sm danger" onClick={() => void remove()}>
            <Icon name="trash" />
            {w.remove}
          </button>
        </>
      )}
    </div>
  );
}

function Files({ list, own }: { list: FileOf[]; own: boolean }): ReactNode {
  const w = useWords(skills);
  const chosen = useQueryOf().get('file') ?? 'SKILL.md';
  const file = list.find((f) => f.path === chosen) ?? list[0];
  return (
    <section className="block">
      <h2>
        {w.files} <span className="num">{list.length}</span>
        <span className="grow" />
        {own && (
          <button type="button" className="btn ghost sm" onClick={() => ask({ edit: '', file: null })}>
            <Icon name="edit" />
            {w.edit}
          </button>
        )}
      </h2>
      <ul className="skill-files">
        {list.map((f) => (
          <li key={f.path}>
            <button type="button" aria-pressed={f === file} onClick={() => ask({ file: f.path }, true)}>
              <Icon name="file" />
              <span className="cut">{f.path}</span>
              <span className="num">{sizeOf(f.size)}</span>
            </button>
          </li>
        ))}
      </ul>
      {file && (
        <pre className="skill-text" role="group" tabIndex={0} aria-label={file.path}>
          {file.content ?? w.noText}
        </pre>
      )}
    </section>
  );
}

const sizeOf = (bytes: number): string =>
  bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;

function Edit({ name, text }: { name: string; text: string }): ReactNode {
  const w = useWords(skills);
  const u = useWords(ui);
  const client = useQueryClient();
  const form = useKept(`skill.${name}`, { content: text });
  const saving = useSaving(['content']);
  const done = (): void => {
    form.forget();
    ask({ edit: null }, true);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void saving
      .save(async () => {
        await api('put', '/skills/custom/{skill}', { path: { skill: name }, body: { content: form.values.content } });
        await again(client);
      })
      .then((good) => good && done());
  };
  const findings = saving.error instanceof Trouble ? findingsOf(saving.error.detail) : [];
  return (
    <form className="block" aria-label={w.edit} onSubmit={submit}>
      <textarea
        className="in mono"
        rows={18}
        spellCheck={false}
        autoFocus
        aria-label={w.text('SKILL.md')}
        value={form.values.content}
        onChange={(e) => form.set({ content: e.target.value })}
      />
      <p className="soft">{w.saveHint}</p>
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      {findings.length > 0 && <Findings list={findings} />}
      <div className="acts">
        <button type="submit" className="btn primary" disabled={saving.busy || form.values.content === text}>
          {u.save}
        </button>
        <button type="button" className="btn ghost" onClick={done}>
          {u.cancel}
        </button>
      </div>
    </form>
  );
}

function Scan({ name }: { name: string }): ReactNode {
  const w = useWords(skills);
  const { data } = useText(name, true);
  if (!data) return null;
  const list = data.scanner.static_findings ?? [];
  return (
    <section className="block">
      <h2>{w.scan}</h2>
      {data.scanner.decision === 'warn' && <p className="note-line">{data.scanner.reason}</p>}
      {list.length > 0 ? <Findings list={list} /> : <p className="soft">{w.scanClean}</p>}
    </section>
  );
}

function History({ name }: { name: string }): ReactNode {
  const w = useWords(skills);
  const client = useQueryClient();
  const saving = useSaving();
  const { data } = useHistory(name, true);
  if (!data?.length) return null;
  const back = (index: number): void =>
    void saving.save(async () => {
      await goBack(name, index);
      await again(client);
    });
  return (
    <section className="block">
      <h2>{w.history}</h2>
      <ul className="skill-history">
        {data
          .map((entry, index) => ({ entry, index }))
          .reverse()
          .map(({ entry, index }) => (
            <li key={index}>
              <span>
                {actOf(entry, w)}{' '}
                <small className="soft">{[entry.file_path, when(entry.ts)].filter(Boolean).join(' · ')}</small>
              </span>
              {entry.prev_content !== null && (
                <button type="button" className="btn ghost sm" disabled={saving.busy} onClick={() => back(index)}>
                  <Icon name="undo" />
                  {w.undo}
                </button>
              )}
            </li>
          ))}
      </ul>
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
    </section>
  );
}

/** What happened, in words. */
function actOf(e: Entry, w: SkillWords): string {
  const known: Record<string, string> = {
    human_edit: w.changedByYou,
    human_delete: w.removedByYou,
    rollback: w.wentBack,
    create: w.madeByPudu,
    edit: w.changedByPudu,
    patch: w.changedByPudu,
    write_file: w.changedByPudu,
    remove_file: w.changedByPudu,
    delete: w.removedByPudu,
  };
  return known[e.action] ?? e.action;
}
