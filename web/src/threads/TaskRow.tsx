// A task in the sidebar: its glyph and its title, a link to it.
import type { ReactNode } from 'react';
import { useWords } from '../lib/i18n';
import { Link } from '../lib/router';
import { shell } from '../shell/words';
import { Glyph } from '../ui/Glyph';
import { glyphOf, type Task } from './tasks';

export function TaskRow({ task, here }: { task: Task; here: boolean }): ReactNode {
  const w = useWords(shell);
  return (
    <Link className="row" to={`/c/${task.thread_id}`} {...(here ? { 'aria-current': 'page' as const } : {})}>
      <Glyph state={here && task.state === 'answered' ? 'read' : glyphOf(task)} />
      <span className="cut" title={task.title}>
        {task.title || w.untitled}
      </span>
    </Link>
  );
}
