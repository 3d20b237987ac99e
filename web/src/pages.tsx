// THE list of pages: the form of the address, and what is shown there. What the first load does not need is imported when it is
// asked for.
import { lazy, type ReactNode } from 'react';
import StartPage from './chat/StartPage';
import ThreadPage from './chat/ThreadPage';

const SubPage = lazy(() => import('./chat/tasks/SubPage'));
const InspectPage = lazy(() => import('./inspect/InspectPage'));
const WelcomePage = lazy(() => import('./welcome/WelcomePage'));
const FolderPage = lazy(() => import('./threads/FolderPage'));
const TasksPage = lazy(() => import('./threads/TasksPage'));
const ModelsPage = lazy(() => import('./models/ModelsPage'));
const ApprovalsPage = lazy(() => import('./settings/ApprovalsPage'));
const AgentsPage = lazy(() => import('./agents/AgentsPage'));
const MemoryPage = lazy(() => import('./memory/MemoryPage'));
const SkillsPage = lazy(() => import('./skills/SkillsPage'));
const ToolboxPage = lazy(() => import('./toolbox/ToolboxPage'));
const GeneralPage = lazy(() => import('./settings/GeneralPage'));

export interface Page {
  form: string;
  show: (values: Record<string, string>) => ReactNode;
}

export const pages: Page[] = [
  { form: '/', show: () => <StartPage /> },
  { form: '/c', show: () => <TasksPage /> },
  { form: '/c/:thread', show: ({ thread = '' }) => <ThreadPage key={thread} thread={thread} /> },
  { form: '/c/:thread/sub/:call', show: ({ thread = '', call = '' }) => <SubPage thread={thread} call={call} /> },
  { form: '/f/:folder', show: ({ folder = '' }) => <FolderPage key={folder} folder={folder} /> },
  { form: '/c/:thread/run/:run', show: ({ thread = '', run = '' }) => <InspectPage key={run} thread={thread} run={run} /> },
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
