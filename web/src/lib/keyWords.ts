// What the keys do, and where, in words.
import { define } from './i18n';
import type { What, Where } from './keys';

export const keyWords = define<Record<What | Where, string>>(
  {
    all: 'Everywhere',
    task: 'In a task',
    write: 'Where you write',
    row: 'On a task in a list',
    palette: 'Search, and everything that can be done',
    newTask: 'New task',
    sidebar: 'Show or hide the sidebar',
    stop: 'Stop the run',
    rename: 'Rename',
    archive: 'Archive',
  },
  {
    all: '任何页面',
    task: '任务中',
    write: '输入框中',
    row: '任务列表中',
    palette: '搜索与全部命令',
    newTask: '新任务',
    sidebar: '显示或隐藏侧栏',
    stop: '停止运行',
    rename: '重命名',
    archive: '归档',
  },
);
