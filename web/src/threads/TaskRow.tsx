// A task in the sidebar: its glyph and its title, a link to it, and its menu.
import type { ReactNode } from 'react';
import { useWords } from '../lib/i18n';
import { Link } from '../lib/router';
import { shell } from '../shell/words';
import { Glyph } from '../ui/Glyph';
import { lineOf, useRenaming } from './renaming';
import { TaskMenu } from './TaskMenu';
import { TitleField } from './Title';
import { glyphOf, type Task } from './tasks';

export function TaskRow({ task, here }: { task: Task; here: boolean }): ReactNode {
  const w = useWords(shell);
  const renaming = useRenaming(task.thread_id, 'side');
  return (
    <div className={here ? 'row over on' : 'row over'} {...lineOf(task, 'side')}>
      <Glyph state={here && task.state === 'answered' ? 'read' : glyphOf(task)} />
      {renaming ? (
        <TitleField task={task} />
      ) : (
        <Link
          className="to cut grow"
          title={task.title}
          to={`/c/${task.thread_id}`}
          {...(here ? { 'aria-current': 'page' as const } : {})}
        >
          {task.title || w.untitled}
        </Link>
      )}
      {!renaming && <TaskMenu task={task} place="side" />}
    </div>
  );
}
