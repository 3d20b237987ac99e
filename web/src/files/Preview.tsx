// A file as a person wants to see it, by its kind.
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { api } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { sized, useWords } from '../lib/i18n';
import { Markdown } from '../markdown/Markdown';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import { numeric, rowsOf } from './csv';
import { endingOf, fileAt, filesKey, isText, kindOf, mostShown, nameOf, textAt, whole } from './data';
import { files as words } from './words';

const Office = lazy(() => import('./Office'));

interface PreviewProps {
  thread: string;
  path: string;
  /** Where it lies: that of the newest version, or of another one. */
  address: string;
  /** What changes when the file does. */
  state: string;
  /** Its source is asked for, where it has another form too. */
  source: boolean;
}

export function Preview({ thread, path, address, state, source }: PreviewProps): ReactNode {
  const w = useWords(words);
  const kind = kindOf(path);
  const name = nameOf(path);
  const src = `${address}${address.includes('?') ? '&' : '?'}s=${encodeURIComponent(state)}`;
  switch (kind) {
    case 'image':
      return (
        <div className="fileview picture">
          <img src={src} alt={name} />
        </div>
      );
    case 'pdf':
      return <iframe className="fileframe" src={src} title={w.page1(name)} />;
    case 'office':
      return (
        <Suspense fallback={<div className="fileview" aria-busy="true" />}>
          <Office thread={thread} path={path} address={address} state={state} />
        </Suspense>
      );
    case 'audio':
      return (
        <div className="fileview">
          <audio controls src={src} aria-label={name} />
        </div>
      );
    case 'video':
      return (
        <div className="fileview picture">
          <video controls src={src} aria-label={name} />
        </div>
      );
    case 'html':
      // An earlier version has no page of its own: the files beside it are those of today.
      if (!source && address === fileAt(thread, path)) return <Page thread={thread} path={path} state={state} />;
      return <TextFile thread={thread} path={path} address={address} state={state} source />;
    default:
      return <TextFile thread={thread} path={path} address={address} state={state} source={source} />;
  }
}

/** A page in a frame of nobody: it reaches nothing of ours. */
function Page({ thread, path, state }: { thread: string; path: string; state: string }): ReactNode {
  const w = useWords(words);
  const link = useQuery({
    queryKey: [...filesKey(thread), 'page', path, state],
    queryFn: ({ signal }) =>
      api('get', '/threads/{thread_id}/preview', { path: { thread_id: thread }, query: { path: whole(path) }, signal }),
    staleTime: 50 * 60_000, // a link lasts an hour
    retry: false,
  });
  if (link.error) return <Broken error={link.error} again={() => void link.refetch()} />;
  const { url } = (link.data ?? {}) as { url?: string };
  if (!url) return <div className="fileframe" aria-busy="true" />;
  return (
    <iframe
      key={state}
      className="fileframe"
      sandbox="allow-scripts allow-forms"
      referrerPolicy="no-referrer"
      src={url}
      title={w.page1(nameOf(path))}
    />
  );
}

function TextFile({ thread, path, address, state, source }: PreviewProps): ReactNode {
  const w = useWords(words);
  const file = useQuery({
    queryKey: [...filesKey(thread), 'text', address, state],
    queryFn: ({ signal }) => textAt(address, mostShown(path), signal),
    placeholderData: (before, query) => (query?.queryKey[3] === address ? before : undefined),
    staleTime: Infinity,
    retry: false,
  });
  if (file.error) return <Broken error={file.error} again={() => void file.refetch()} />;
  if (!file.data) return <div className="fileview" aria-busy="true" />;
  const { text, cut, binary } = file.data;
  if (binary || (!isText(kindOf(path)) && text.includes('\ufffd'))) return <Other thread={thread} path={path} />;
  if (text === '') return <p className="fileview soft">{w.empty}</p>;
  return (
    <>
      <Words thread={thread} path={path} text={text} source={source} />
      {cut && <p className="filenote soft">{w.cut(sized(mostShown(path)))}</p>}
    </>
  );
}

/** A text in the form of its kind. */
export function Words({
  thread,
  path,
  text,
  source = false,
  writing = false,
}: {
  thread: string;
  path: string;
  text: string;
  source?: boolean;
  writing?: boolean;
}): ReactNode {
  const kind = source ? 'text' : kindOf(path);
  if (kind === 'markdown')
    return (
      <div className="doc">
        <Markdown text={withFiles(text, thread, path)} writing={writing} />
      </div>
    );
  if (kind === 'csv' && !writing) return <Cells text={text} name={nameOf(path)} />;
  return <Lines text={kind === 'json' && !writing ? pretty(text) : text} name={nameOf(path)} />;
}

/** Leads the relative links of a text to the files of the task. */
function withFiles(text: string, thread: string, path: string): string {
  const folder = whole(path).slice(0, whole(path).lastIndexOf('/') + 1);
  return text.replace(/(\]\()(?!\w+:|\/|#)([^)\s]+)/g, (_, open: string, to: string) => {
    const target = new URL(to, `file://${folder}`).pathname;
    return open + new URL(fileAt(thread, decodeURI(target)), location.href).href;
  });
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Text as it is, with the numbers of its lines. */
function Lines({ text, name }: { text: string; name: string }): ReactNode {
  const w = useWords(words);
  const numbers = useMemo(
    () => Array.from({ length: text.replace(/\n$/, '').split('\n').length }, (_, i) => i + 1).join('\n'),
    [text],
  );
  return (
    <div className="filelines" tabIndex={0} role="region" aria-label={w.content(name)}>
      <pre className="nos" aria-hidden="true">
        {numbers}
      </pre>
      <pre>{text}</pre>
    </div>
  );
}

/** How many rows of a table are drawn at first, and with each further step. */
const step = 500;

function Cells({ text, name }: { text: string; name: string }): ReactNode {
  const w = useWords(words);
  const [most, setMost] = useState(step);
  const rows = useMemo(() => rowsOf(text, most + 2), [text, most]);
  const right = useMemo(() => numeric(rows), [rows]);
  const [head = [], ...rest] = rows;
  const all = rest.length <= most;
  const body = all ? rest : rest.slice(0, most);
  return (
    <>
      <div className="filecells" tabIndex={0} role="region" aria-label={w.content(name)}>
        <table className="cells">
          <thead>
            <tr>
              {head.map((cell, i) => (
                <th key={i} scope="col" className={right[i] ? 'r' : undefined}>
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, n) => (
              <tr key={n}>
                {head.map((_, i) => (
                  <td key={i} className={right[i] ? 'r' : undefined}>
                    {row[i]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="filenote soft num">
        {w.rows(body.length, all)}
        {!all && (
          <button type="button" className="btn ghost sm" onClick={() => setMost(most + step)}>
            <Icon name="plus" />
            {step}
          </button>
        )}
      </p>
    </>
  );
}

/** What cannot be shown can be saved. */
function Other({ thread, path }: { thread: string; path: string }): ReactNode {
  const w = useWords(words);
  return (
    <Notice icon="file" text={w.noPreview(endingOf(path).toUpperCase())}>
      <a className="btn" href={fileAt(thread, path, true)} download>
        <Icon name="download" />
        {w.save}
      </a>
    </Notice>
  );
}

export function Broken({ error, again }: { error: unknown; again: () => void }): ReactNode {
  const w = useWords(words);
  const e = useWords(errors);
  return (
    <Notice icon="alert" text={sentence(error, e)}>
      <button type="button" className="btn" onClick={again}>
        {w.retry}
      </button>
    </Notice>
  );
}
