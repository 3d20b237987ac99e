// What Pudu can be taught: the skills with a switch each, what was refused and why, and beside them one with its files.
// What is asked for stands in the address: /library/skills/NAME?q=&file=&edit
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { api } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords, when } from '../lib/i18n';
import { ask, go, useQueryOf } from '../lib/router';
import { useWritten } from '../lib/settled';
import { useAdmin } from '../settings/SettingsPage';
import { failed } from '../shell/Failure';
import { Shell } from '../shell/Shell';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import { again, type Refused, type Skill, useRefused, useSkills } from './data';
import { Findings } from './Findings';
import { Install } from './Install';
import { SkillPanel } from './SkillPanel';
import { skills } from './words';
import './skills.css';

export default function SkillsPage({ name }: { name: string | undefined }): ReactNode {
  const w = useWords(skills);
  const e = useWords(errors);
  const { data, error } = useSkills();
  const title = name ?? w.title;
  useEffect(() => {
    document.title = `${title} · Pudu`;
  }, [title]);
  return (
    <Shell
      header={<div className="title">{w.title}</div>}
      panel={name && data && <SkillPanel key={name} name={name} skill={data.find((s) => s.name === name)} />}
    >
      <div className="scroll">
        <div className="page">
          <Head />
          {error && <Notice icon="alert" text={sentence(error, e)} />}
          {data && <All list={data} open={name} />}
          <NotInstalled />
        </div>
      </div>
    </Shell>
  );
}

function Head(): ReactNode {
  const w = useWords(skills);
  const admin = useAdmin('skills:write');
  const picker = useRef<HTMLInputElement>(null);
  const [file, setFile] = useState<{ file: File; n: number }>();
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <h1>{w.title}</h1>
          <p>{w.intro}</p>
        </div>
        {admin && (
          <button type="button" className="btn" onClick={() => picker.current?.click()}>
            <Icon name="download" />
            {w.install}
          </button>
        )}
        <input
          ref={picker}
          type="file"
          hidden
          accept=".skill"
          aria-label={w.install}
          onChange={(event) => {
            const chosen = event.target.files?.[0];
            event.target.value = ''; // the same file can be chosen again
            if (chosen) setFile((before) => ({ file: chosen, n: (before?.n ?? 0) + 1 }));
          }}
        />
      </div>
      {file && <Install key={file.n} file={file.file} done={() => setFile(undefined)} />}
    </>
  );
}

function All({ list, open }: { list: Skill[]; open: string | undefined }): ReactNode {
  const w = useWords(skills);
  const asked = useQueryOf().get('q') ?? '';
  const [q, setQ] = useWritten(asked);
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const found = list.filter((s) => words.every((word) => `${s.name} ${s.description}`.toLowerCase().includes(word)));
  if (list.length === 0) return <Notice icon="skill" text={w.none} />;
  return (
    <>
      <search className="searchbox">
        <Icon name="search" />
        <input
          className="in"
          type="search"
          aria-label={w.search(list.length)}
          placeholder={w.search(list.length)}
          value={q}
          maxLength={200}
          onChange={(e) => setQ(e.target.value)}
        />
      </search>
      {found.length === 0 ? (
        <Notice icon="search" text={w.nothingFound(asked)} />
      ) : (
        <ul className="list" aria-label={w.title}>
          {found.map((s) => (
            <Line key={s.name} skill={s} open={s.name === open} />
          ))}
        </ul>
      )}
    </>
  );
}

function Line({ skill: s, open }: { skill: Skill; open: boolean }): ReactNode {
  const w = useWords(skills);
  const client = useQueryClient();
  const admin = useAdmin('skills:write');
  const [busy, setBusy] = useState(false);
  const turn = async (enabled: boolean): Promise<void> => {
    setBusy(true);
    await api('put', '/skills/{skill}', { path: { skill: s.name }, body: { enabled } }).catch(failed);
    await again(client);
    setBusy(false);
  };
  return (
    <li className="over skill-line">
      <Icon name="skill" />
      <button
        type="button"
        className="to"
        aria-expanded={open}
        onClick={() => (open ? go('/library/skills') : go(`/library/skills/${s.name}`))}
      >
        {s.name}
      </button>
      <small>{s.description}</small>
      <span className="meta">
        <span>{s.category === 'custom' ? w.custom : s.category === 'legacy' ? w.legacy : w.public}</span>
        <span title={s.last_used ? w.lastUsed(when(s.last_used)) : ''}>{w.used(s.uses)}</span>
      </span>
      <input
        type="checkbox"
        role="switch"
        className="switch"
        aria-label={w.enabled(s.name)}
        title={admin ? (s.category === 'custom' ? '' : w.forAll) : w.notAdmin}
        checked={s.enabled}
        disabled={busy || !admin}
        onChange={(e) => void turn(e.target.checked)}
      />
    </li>
  );
}

/** The archives that were refused, and why. */
function NotInstalled(): ReactNode {
  const { data } = useRefused();
  if (!data?.length) return null;
  return (
    <ul className="list">
      {data.map((r, i) => (
        <RefusedLine key={`${r.ts} ${i}`} refused={r} at={`${i}`} />
      ))}
    </ul>
  );
}

function RefusedLine({ refused: r, at }: { refused: Refused; at: string }): ReactNode {
  const w = useWords(skills);
  const open = useQueryOf().get('refused') === at;
  return (
    <li>
      <div className="skill-line">
        <Icon name="alert" />
        <b className="cut">{r.skill_name || r.source}</b>
        <small className="bad">{w.notInstalled(r.findings?.[0]?.message || r.message)}</small>
        <span className="meta">{w.refused(when(r.ts))}</span>
        <button
          type="button"
          className="btn sm"
          aria-expanded={open}
          aria-label={`${w.why}: ${r.skill_name || r.source}`}
          onClick={() => ask({ refused: open ? null : at })}
        >
          {w.why}
        </button>
      </div>
      {open && (
        <div className="skill-why">
          <p>{r.message}</p>
          {!!r.findings?.length && <Findings list={r.findings} />}
        </div>
      )}
    </li>
  );
}
