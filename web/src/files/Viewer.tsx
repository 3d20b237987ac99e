// One file: its name with what can be done with it, its versions, and what is in it.
import { type ReactNode, useState } from 'react';
import { useWords, when } from '../lib/i18n';
import { ask } from '../lib/router';
import { Icon } from '../ui/Icon';
import { type Entry, fileAt, isText, kindOf, nameOf, useVersions, type Version, versionAt } from './data';
import { Editor } from './Editor';
import { Preview, Words } from './Preview';
import { files as words } from './words';

interface ViewerProps {
  thread: string;
  entry: Entry;
  path: string;
  /** What Pudu writes into it now. */
  writing?: string;
}

/** The kinds that have a form beside their source. */
const hasSource = (path: string): boolean => ['markdown', 'csv', 'html'].includes(kindOf(path));

export function Viewer({ thread, entry, path, writing }: ViewerProps): ReactNode {
  const w = useWords(words);
  const [source, setSource] = useState(false);
  const [editing, setEditing] = useState(false);
  const [shown, setShown] = useState<number | null>(null);
  const { data: versions = [] } = useVersions(thread, path);
  const version = versions.find((v) => v.version === shown && v !== versions[0]);
  const canEdit = path.startsWith('outputs/') && isText(kindOf(path)) && entry.kind === 'file';
  const address = version ? versionAt(thread, path, version.version) : fileAt(thread, path);
  if (editing) return <Editor thread={thread} path={path} done={() => setEditing(false)} />;
  return (
    <section className="fileone" aria-label={path}>
      <div className="crumb">
        <button
          type="button"
          className="btn ghost icon sm totree"
          aria-label={w.allFiles}
          title={w.allFiles}
          onClick={() => ask({ file: null })}
        >
          <Icon name="left" />
        </button>
        <b className="cut" title={path}>
          {nameOf(path)}
        </b>
        <span className="grow" />
        <Versions versions={versions} shown={version} show={setShown} />
        {hasSource(path) && (
          <span className="seg" role="group" aria-label={w.view}>
            <button type="button" aria-pressed={!source} onClick={() => setSource(false)}>
              {w.page}
            </button>
            <button type="button" aria-pressed={source} onClick={() => setSource(true)}>
              {w.source}
            </button>
          </span>
        )}
        {canEdit && !version && writing === undefined && (
          <button
            type="button"
            className="btn ghost icon sm"
            aria-label={w.edit}
            title={w.edit}
            onClick={() => setEditing(true)}
          >
            <Icon name="edit" />
          </button>
        )}
        <a
          className="btn ghost icon sm"
          href={fileAt(thread, path, true)}
          download={nameOf(path)}
          aria-label={w.download(nameOf(path))}
        >
          <Icon name="download" />
        </a>
      </div>
      {version && (
        <p className="filenote">
          <Icon name="clock" />
          {w.oldVersion(when(version.created_at ?? ''))}
          <button type="button" className="btn ghost sm" onClick={() => setShown(null)}>
            {w.toNewest}
          </button>
        </p>
      )}
      {writing === undefined ? (
        <Preview
          thread={thread}
          path={path}
          address={address}
          state={version ? version.sha256 : `${entry.modified_at}-${entry.size}`}
          source={source}
        />
      ) : (
        <Writing thread={thread} path={path} text={writing} />
      )}
    </section>
  );
}

/** What is in a file while Pudu writes it. */
export function Writing({ thread, path, text }: { thread: string; path: string; text: string }): ReactNode {
  const w = useWords(words);
  return (
    <>
      <p className="filenote live">
        <svg className="arc" viewBox="0 0 14 14" aria-hidden="true">
          <circle className="bg" cx="7" cy="7" r="5.5" />
          <circle className="fg" cx="7" cy="7" r="5.5" />
        </svg>
        {w.writing}
      </p>
      <Words thread={thread} path={path} text={text} writing />
    </>
  );
}

interface VersionsProps {
  versions: Version[];
  shown: Version | undefined;
  show: (version: number) => void;
}

/** The arrows between the versions of a file: ‹ 3/3 ›. */
function Versions({ versions, shown, show }: VersionsProps): ReactNode {
  const w = useWords(words);
  if (versions.length < 2) return null;
  const at = shown ? versions.indexOf(shown) : 0;
  const number = versions.length - at;
  const step = (to: Version | undefined, label: string, icon: 'left' | 'right'): ReactNode => (
    <button
      type="button"
      className="btn ghost icon sm"
      aria-label={label}
      disabled={!to}
      onClick={() => to && show(to.version)}
    >
      <Icon name={icon} />
    </button>
  );
  const made = versions[at]?.created_at;
  return (
    <span className="versions num" title={w.versionOf(number, versions.length, made ? when(made) : '')}>
      {step(versions[at + 1], w.older, 'left')}
      <span>{w.of(number, versions.length)}</span>
      {step(versions[at - 1], w.newer, 'right')}
    </span>
  );
}
