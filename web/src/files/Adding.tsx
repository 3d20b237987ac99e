// How files are added: by a button, dropped anywhere on the page, pasted; and their chips.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { define, sized, useWords } from '../lib/i18n';
import { ask } from '../lib/router';
import { Icon } from '../ui/Icon';
import { type Sent, type Upload, type Uploads, useUploads } from './uploads';

export const words = define(
  {
    add: 'Add files',
    list: 'Files of this message',
    drop: 'Drop files to add them',
    large: (name: string, size: string, limit: string) => `${name} is ${size}; the limit is ${limit}.`,
    lost: 'It did not get to the server.',
    refused: 'The server refused it.',
    again: 'Try again',
    remove: (name: string) => `Remove ${name}`,
    cancel: (name: string) => `Stop sending ${name}`,
    sending: (part: number) => `${part} %`,
    open: 'Open',
    waits: 'It goes out when the files are there',
  },
  {
    add: '添加文件',
    list: '此消息的文件',
    drop: '松开即可添加文件',
    large: (name: string, size: string, limit: string) => `${name} 有 ${size}，上限是 ${limit}`,
    lost: '未能传到服务器。',
    refused: '服务器拒绝了该文件。',
    again: '重试',
    remove: (name: string) => `移除 ${name}`,
    cancel: (name: string) => `停止上传 ${name}`,
    sending: (part: number) => `${part}%`,
    open: '打开',
    waits: '文件传完后自动发送',
  },
);

/** The button that adds files; while it is there, files may be dropped and pasted. */
export function AddFiles({ uploads }: { uploads: Uploads }): ReactNode {
  const w = useWords(words);
  const input = useRef<HTMLInputElement>(null);
  const over = useDropped((files) => void uploads.add(files));
  return (
    <>
      <button
        type="button"
        className="btn ghost icon"
        aria-label={w.add}
        title={w.add}
        onClick={() => input.current?.click()}
      >
        <Icon name="clip" />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={w.add}
        onChange={(e) => {
          void uploads.add([...(e.target.files ?? [])]);
          e.target.value = '';
        }}
      />
      {over && (
        <div className="dropzone" role="status">
          <Icon name="clip" />
          {w.drop}
        </div>
      )}
    </>
  );
}

/** Takes files that are dropped or pasted anywhere on the page; tells whether some are held over it. */
function useDropped(take: (files: File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const now = useRef(take);
  useEffect(() => {
    now.current = take;
  });
  useEffect(() => {
    let depth = 0;
    const holds = (e: DragEvent): boolean => !!e.dataTransfer?.types.includes('Files');
    const enters = (e: DragEvent): void => {
      if (holds(e)) setOver(++depth > 0);
    };
    const leaves = (e: DragEvent): void => {
      if (holds(e)) setOver((depth = Math.max(0, depth - 1)) > 0);
    };
    const moves = (e: DragEvent): void => {
      if (holds(e)) e.preventDefault();
    };
    const drops = (e: DragEvent): void => {
      depth = 0;
      setOver(false);
      if (!holds(e)) return;
      e.preventDefault();
      now.current([...(e.dataTransfer?.files ?? [])]);
    };
    const pastes = (e: ClipboardEvent): void => {
      const files = [...(e.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      e.preventDefault();
      now.current(files);
    };
    addEventListener('dragenter', enters);
    addEventListener('dragleave', leaves);
    addEventListener('dragover', moves);
    addEventListener('drop', drops);
    addEventListener('paste', pastes);
    return () => {
      removeEventListener('dragenter', enters);
      removeEventListener('dragleave', leaves);
      removeEventListener('dragover', moves);
      removeEventListener('drop', drops);
      removeEventListener('paste', pastes);
    };
  }, []);
  return over;
}

/** The files of the message that is being written. */
export function Chips({ uploads }: { uploads: Uploads }): ReactNode {
  const w = useWords(words);
  const list = useUploads(uploads);
  if (list.length === 0) return null;
  return (
    <ul className="files" aria-label={w.list}>
      {list.map((u) => (
        <Chip key={u.id} upload={u} uploads={uploads} />
      ))}
    </ul>
  );
}

function Chip({ upload: u, uploads }: { upload: Upload; uploads: Uploads }): ReactNode {
  const w = useWords(words);
  const busy = u.state === 'sending' || u.state === 'waits';
  const why =
    u.why?.kind === 'large'
      ? w.large(u.name, sized(u.size), sized(u.why.limit))
      : u.why?.kind === 'lost'
        ? w.lost
        : u.why?.text || w.refused;
  return (
    <li className={u.state === 'refused' ? 'filechip bad' : 'filechip'}>
      <Icon name={u.state === 'refused' ? 'alert' : 'file'} />
      {u.state === 'refused' && u.why?.kind === 'large' ? null : <span className="name cut">{u.name}</span>}
      {u.state === 'refused' ? (
        <small role="alert">{why}</small>
      ) : (
        <small className="num">{busy ? w.sending(Math.floor(u.part * 100)) : sized(u.size)}</small>
      )}
      {u.state === 'refused' && u.why?.kind !== 'large' && (
        <button type="button" className="btn ghost sm" onClick={() => uploads.again(u.id)}>
          {w.again}
        </button>
      )}
      <button
        type="button"
        className="drop-it"
        aria-label={busy ? w.cancel(u.name) : w.remove(u.name)}
        onClick={() => uploads.drop(u.id)}
      >
        <Icon name="x" />
      </button>
      {busy && <span className="fill" aria-hidden="true" style={{ transform: `scaleX(${u.part})` }} />}
    </li>
  );
}

/** The files that a message came with. */
export function SentFiles({ files }: { files: unknown }): ReactNode {
  const w = useWords(words);
  const list = (Array.isArray(files) ? files : []).filter(
    (f): f is Sent => typeof (f as Sent | null)?.filename === 'string',
  );
  if (list.length === 0) return null;
  return (
    <ul className="sent" aria-label={w.list}>
      {list.map((f) => (
        <li key={f.filename}>
          <button
            type="button"
            className="filechip"
            onClick={() => ask({ panel: 'files', file: `uploads/${f.filename}` })}
          >
            <Icon name="file" />
            <span className="sr">{w.open} </span>
            <span className="name cut">{f.filename}</span>
            {typeof f.size === 'number' && <small className="num">{sized(f.size)}</small>}
          </button>
        </li>
      ))}
    </ul>
  );
}
