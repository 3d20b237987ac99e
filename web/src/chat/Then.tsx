// A task as it was at a checkpoint, which the inspector leads to: the address says which one, and a line says what the
// next message goes on from.
import { type ReactNode, useEffect, useRef } from 'react';
import { define, useWords } from '../lib/i18n';
import { ask, useQueryOf } from '../lib/router';
import { Icon } from '../ui/Icon';
import type { Conversation } from './talk/conversation';

const words = define(
  {
    now: 'This is the task as it was then. What you say next goes on from here, with the files as they are.',
    then: 'This is the task as it was then. What you say next goes on from here, with the files as they were.',
    leave: 'Back to the newest',
  },
  {
    now: '这是任务当时的样子。接下来的消息从这里继续，文件保持现状。',
    then: '这是任务当时的样子。接下来的消息从这里继续，并恢复当时的文件。',
    leave: '回到最新',
  },
);

interface ThenProps {
  conversation: Conversation;
  /** An earlier place is shown. */
  past: boolean;
}

export function Then({ conversation, past }: ThenProps): ReactNode {
  const w = useWords(words);
  const query = useQueryOf();
  const at = query.get('at') ?? '';
  const then = query.get('files') === 'then';
  const was = useRef('');
  useEffect(() => {
    if (at || was.current) void conversation.goTo(at, then);
    was.current = at;
  }, [conversation, at, then]);
  // A run that goes on from there makes it the present.
  const before = useRef(false);
  useEffect(() => {
    if (before.current && !past && at) ask({ at: null, files: null }, true);
    before.current = past;
  }, [past, at]);
  if (!at) return null;
  return (
    <p className="note-line mb-2" role="status">
      <Icon name="clock" />
      <span>{then ? w.then : w.now}</span>
      <button type="button" className="btn sm" onClick={() => ask({ at: null, files: null })}>
        {w.leave}
      </button>
    </p>
  );
}
