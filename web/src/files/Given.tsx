// The files that an answer hands over, as cards: each opens the panel with its file.
import { type ReactNode, useMemo } from 'react';
import type { Turn } from '../chat/talk/turns';
import { define, useWords } from '../lib/i18n';
import { ask } from '../lib/router';
import { Icon } from '../ui/Icon';
import { endingOf, fileAt, nameOf } from './data';
import { givenIn } from './working';

const words = define(
  {
    given: 'Files of this answer',
    open: (name: string) => `Open ${name}`,
    download: (name: string) => `Download ${name}`,
  },
  { given: '此回复的文件', open: (name: string) => `打开 ${name}`, download: (name: string) => `下载 ${name}` },
);

export function Given({ thread, turn }: { thread: string; turn: Turn }): ReactNode {
  const w = useWords(words);
  const list = useMemo(() => givenIn(turn), [turn]);
  if (list.length === 0) return null;
  return (
    <ul className="given" aria-label={w.given}>
      {list.map((path) => (
        <li key={path} className="give over">
          <span className="leaf" aria-hidden="true">
            {endingOf(path).slice(0, 4).toUpperCase()}
          </span>
          <span className="grow">
            <button
              type="button"
              className="t cut stretched"
              aria-label={w.open(nameOf(path))}
              onClick={() => ask({ panel: 'files', file: path })}
            >
              {nameOf(path)}
            </button>
            <small className="cut">{path.slice(0, Math.max(0, path.lastIndexOf('/')))}</small>
          </span>
          <a
            className="btn ghost icon sm"
            href={fileAt(thread, path, true)}
            download={nameOf(path)}
            aria-label={w.download(nameOf(path))}
          >
            <Icon name="download" />
          </a>
        </li>
      ))}
    </ul>
  );
}
