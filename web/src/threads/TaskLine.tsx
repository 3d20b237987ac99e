// A task in a list on a page: its state, its title, its folder, when it changed last, and its menu.
import { memo, type ReactNode } from 'react';
import { useWords, when } from '../lib/i18n';
import { Link } from '../lib/router';
import { shell } from '../shell/words';
import { Glyph } from '../ui/Glyph';
import { Icon } from '../ui/Icon';
import { lineOf, useRenaming } from './renaming';
import { TaskMenu } from './TaskMenu';
import { TitleField } from './Title';
import { glyphOf, type Task } from './tasks';

interface LineProps {
  task: Task;
  /** The name of its folder. */
  folder?: string | undefined;
  /** What stands behind the title. */
  children?: ReactNode;
}

export const TaskLine = memo(function TaskLine({ task, folder, children }: LineProps): ReactNode {
  const w = useWords(shell);
  const renaming = useRenaming(task.thread_id, 'list');
  return (
    <div className="task-line over" {...lineOf(task, 'list')}>
      <Glyph state={glyphOf(task)} />
      {renaming ? (
        <TitleField task={task} />
      ) : (
        <Link className="ti to" to={`/c/${task.thread_id}`}>
          <b className="cut">{task.title || w.untitled}</b>
          {children && <span className="sn cut">{children}</span>}
        </Link>
      )}
      <span className="fo">
        {folder && (
          <>
            <Icon name="folder" />
            <span className="cut">{folder}</span>
          </>
        )}
      </span>
      <span className="w">{when(task.updated_at)}</span>
      {!renaming && <TaskMenu task={task} place="list" />}
    </div>
  );
});
