// Documents of an office as a person reads them: the sheets of a workbook as tables, the words of a document or of
// slides.
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { send, Trouble } from '../lib/api/client';
import { at } from '../lib/base';
import { sized, useWords } from '../lib/i18n';
import { numeric } from './csv';
import { endingOf, filesKey, nameOf } from './data';
import { type Part, partsOf, type Sheet, sheetsOf, slidesOf } from './office';
import { Broken } from './Preview';
import { files as words } from './words';
import { unzipped } from './zip';

/** What is larger is not read, in bytes. */
const largest = 20 << 20;

type Read = { sheets: Sheet[] } | { parts: Part[] } | { slides: string[][] } | 'large' | 'other';

async function readAt(address: string, ending: string, signal: AbortSignal): Promise<Read> {
  const response = await send(address.slice(at('').length), { signal });
  if (Number(response.headers.get('Content-Length') ?? 0) > largest) {
    await response.body?.cancel();
    return 'large';
  }
  try {
    const zip = unzipped(new Uint8Array(await response.arrayBuffer()));
    if (ending === 'xlsx') return { sheets: await sheetsOf(zip) };
    return ending === 'docx' ? { parts: await partsOf(zip) } : { slides: await slidesOf(zip) };
  } catch (error) {
    if (error instanceof Trouble || signal.aborted) throw error;
    return 'other';
  }
}

export default function Office({
  thread,
  path,
  address,
  state,
}: {
  thread: string;
  path: string;
  address: string;
  state: string;
}): ReactNode {
  const w = useWords(words);
  const file = useQuery({
    queryKey: [...filesKey(thread), 'office', address, state],
    queryFn: ({ signal }) => readAt(address, endingOf(path), signal),
    staleTime: Infinity,
    retry: false,
  });
  if (file.error) return <Broken error={file.error} again={() => void file.refetch()} />;
  const { data } = file;
  if (!data) return <div className="fileview" aria-busy="true" />;
  if (data === 'large') return <p className="fileview soft">{w.tooLargeToShow(sized(largest))}</p>;
  if (data === 'other') return <p className="fileview soft">{w.notReadable}</p>;
  return (
    <>
      {'sheets' in data ? (
        <Book sheets={data.sheets} name={nameOf(path)} />
      ) : 'parts' in data ? (
        <Paper parts={data.parts} />
      ) : (
        <Slides of={data.slides} />
      )}
      <p className="filenote soft">{w.withoutLayout}</p>
    </>
  );
}

function Book({ sheets, name }: { sheets: Sheet[]; name: string }): ReactNode {
  const w = useWords(words);
  const [n, show] = useState(0);
  const sheet = sheets[n];
  if (!sheet) return <p className="fileview soft">{w.empty}</p>;
  return (
    <>
      {sheets.length > 1 && (
        <div className="sheets" role="group" aria-label={w.sheets}>
          {sheets.map((s, i) => (
            <button key={i} type="button" className="tab" aria-pressed={i === n} onClick={() => show(i)}>
              {s.name}
            </button>
          ))}
        </div>
      )}
      <Grid key={n} sheet={sheet} name={`${name}, ${sheet.name}`} />
    </>
  );
}

function Grid({ sheet: { rows, cut }, name }: { sheet: Sheet; name: string }): ReactNode {
  const w = useWords(words);
  const width = useMemo(() => Math.max(0, ...rows.map((r) => r.length)), [rows]);
  const right = useMemo(() => numeric([Array.from({ length: width }, () => ''), ...rows.slice(1)]), [rows, width]);
  const [head = [], ...body] = rows;
  if (width === 0) return <p className="fileview soft">{w.empty}</p>;
  const columns = Array.from({ length: width }, (_, i) => i);
  return (
    <>
      <div className="filecells" tabIndex={0} role="region" aria-label={w.content(name)}>
        <table className="cells">
          <thead>
            <tr>
              {columns.map((i) => (
                <th key={i} scope="col" className={right[i] ? 'r' : undefined}>
                  {head[i]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, y) => (
              <tr key={y}>
                {columns.map((i) => (
                  <td key={i} className={right[i] ? 'r' : undefined}>
                    {row[i]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="filenote soft num">{w.rows(body.length, !cut)}</p>
    </>
  );
}

function Paper({ parts }: { parts: Part[] }): ReactNode {
  const w = useWords(words);
  if (parts.length === 0) return <p className="fileview soft">{w.empty}</p>;
  return (
    <div className="doc">
      <div className="prose">
        {parts.map((part, i) => (
          <Block key={i} part={part} />
        ))}
      </div>
    </div>
  );
}

function Block({ part }: { part: Part }): ReactNode {
  switch (part.kind) {
    case 'heading': {
      const Name = part.depth === 1 ? 'h3' : part.depth === 2 ? 'h4' : 'h5';
      return <Name className={part.depth === 1 ? 'head' : undefined}>{part.text}</Name>;
    }
    case 'table':
      return (
        <div className="tablebox">
          <div className="wide" tabIndex={0}>
            <table className="cells">
              <tbody>
                {part.rows.map((row, y) => (
                  <tr key={y}>
                    {row.map((cell, x) => (
                      <td key={x}>{cell}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </div>
      );
    case 'item':
      return (
        <ul>
          <li>
            <Pieces of={part.pieces} />
          </li>
        </ul>
      );
    case 'text':
      return (
        <p>
          <Pieces of={part.pieces} />
        </p>
      );
  }
}

const Pieces = ({ of }: { of: { text: string; bold: boolean; italic: boolean }[] }): ReactNode =>
  of.map((p, i) =>
    p.bold ? <strong key={i}>{p.text}</strong> : p.italic ? <em key={i}>{p.text}</em> : <span key={i}>{p.text}</span>,
  );

function Slides({ of }: { of: string[][] }): ReactNode {
  const w = useWords(words);
  if (of.length === 0) return <p className="fileview soft">{w.empty}</p>;
  return (
    <ol className="slides">
      {of.map(([head = '', ...lines], i) => (
        <li key={i} className="card">
          <small className="soft num">{i + 1}</small>
          <b>{head}</b>
          {lines.map((line, n) => (
            <p key={n}>{line}</p>
          ))}
        </li>
      ))}
    </ol>
  );
}
