// What stands at the foot of the sidebar: a line for each page that is there.
import type { IconName } from '../ui/Icon';

export const links: { to: string; below: string; icon: IconName; word: 'settings' | 'agents' | 'skills' | 'memory' }[] =
  [
    { to: '/library/agents', below: '/library/agents', icon: 'agent', word: 'agents' },
    { to: '/library/skills', below: '/library/skills', icon: 'skill', word: 'skills' },
    { to: '/library/memory', below: '/library/memory', icon: 'memory', word: 'memory' },
    { to: '/settings/general', below: '/settings', icon: 'settings', word: 'settings' },
  ];
