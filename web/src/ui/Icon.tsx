// The 16 px icons of the design. Their drawings stand in icons.svg, which is put into the page once.
import type { ReactNode } from 'react';
import sprite from './icons.svg?raw';

export const icons = [
  'agent',
  'alert',
  'archive',
  'ask',
  'bash',
  'branch',
  'browser',
  'chart',
  'chat',
  'check',
  'clip',
  'clock',
  'compare',
  'copy',
  'db',
  'diff',
  'dots',
  'down',
  'download',
  'drag',
  'edit',
  'enter',
  'error',
  'expand',
  'eye',
  'file',
  'folder',
  'fork',
  'globe',
  'image',
  'info',
  'inspect',
  'key',
  'left',
  'link',
  'lock',
  'mail',
  'memory',
  'menu',
  'mic',
  'offline',
  'out',
  'panel',
  'pause',
  'pin',
  'plan',
  'play',
  'plug',
  'plus',
  'queue',
  'quote',
  'read',
  'retry',
  'right',
  'search',
  'send',
  'settings',
  'share',
  'shield',
  'sidebar',
  'skill',
  'spark',
  'star',
  'steer',
  'table',
  'theme',
  'think',
  'thumbdown',
  'thumbup',
  'trash',
  'undo',
  'up',
  'wrap',
  'x',
] as const;
export type IconName = (typeof icons)[number];

let there = false;

/** Puts the drawings into the page. */
export function bringIcons(): void {
  if (there) return;
  there = true;
  const drawn = new DOMParser().parseFromString(sprite, 'image/svg+xml').documentElement;
  drawn.setAttribute('hidden', '');
  document.body.prepend(document.importNode(drawn, true));
}

/** An icon; what it means is said by the text beside it. */
export function Icon({ name, className = 'i' }: { name: IconName; className?: string }): ReactNode {
  return (
    <svg className={className} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}
