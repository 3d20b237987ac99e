// THE list of pages: the form of the address, and what is shown there. What the first load does not need is imported
// when it is asked for.
import type { ReactNode } from 'react';
import StartPage from './chat/StartPage';
import { match } from './lib/router';
import { laterPage } from './shell/laterPage';

/** The page of a task, with Markdown and the trail: not needed to write the first message, but soon after that. */
export const ThreadPage = laterPage(() => import('./chat/ThreadPage'));
const SubPage = laterPage(() => import('./chat/tasks/SubPage'));
const InspectPage = laterPage(() => import('./inspect/InspectPage'));
const WelcomePage = laterPage(() => import('./welcome/WelcomePage'));
const FolderPage = laterPage(() => import('./threads/FolderPage'));
const TasksPage = laterPage(() => import('./threads/TasksPage'));
const ModelsPage = laterPage(() => import('./models/ModelsPage'));
const ApprovalsPage = laterPage(() => import('./settings/ApprovalsPage'));
const AgentsPage = laterPage(() => import('./agents/AgentsPage'));
const MemoryPage = laterPage(() => import('./memory/MemoryPage'));
const SkillsPage = laterPage(() => import('./skills/SkillsPage'));
const ToolboxPage = laterPage(() => import('./toolbox/ToolboxPage'));
const GeneralPage = laterPage(() => import('./settings/GeneralPage'));

export interface Page {
  form: string;
  show: (values: Record<string, string>) => ReactNode;
}

const taskForm = '/c/:thread';

/** Loads what an address shows at once, where its files are on their way already: those of a task (index.html). */
export const bringFirst = async (path: string): Promise<unknown> =>
  match(taskForm, path) ? ThreadPage.load() : undefined;

export const pages: Page[] = [
  { form: '/', show: () => <StartPage /> },
  { form: '/c', show: () => <TasksPage /> },
  { form: taskForm, show: ({ thread = '' }) => <ThreadPage key={thread} thread={thread} /> },
  { form: '/c/:thread/sub/:call', show: ({ thread = '', call = '' }) => <SubPage thread={thread} call={call} /> },
  { form: '/f/:folder', show: ({ folder = '' }) => <FolderPage key={folder} folder={folder} /> },
  {
    form: '/c/:thread/run/:run',
    show: ({ thread = '', run = '' }) => <InspectPage key={run} thread={thread} run={run} />,
  },
  { form: '/settings', show: () => <GeneralPage /> },
  { form: '/settings/general', show: () => <GeneralPage /> },
  { form: '/settings/models', show: () => <ModelsPage /> },
  { form: '/settings/approvals', show: () => <ApprovalsPage /> },
  { form: '/settings/toolbox', show: () => <ToolboxPage /> },
  { form: '/library/agents/:name?', show: ({ name }) => <AgentsPage name={name} /> },
  { form: '/library/skills/:name?', show: ({ name }) => <SkillsPage name={name} /> },
  { form: '/library/memory', show: () => <MemoryPage /> },
  { form: '/welcome', show: () => <WelcomePage /> },
];
