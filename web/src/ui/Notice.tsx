// What stands where there is nothing, and what says that something could not be had: a sentence and a next step.
import type { ReactNode } from 'react';
import { Icon, type IconName } from './Icon';

interface NoticeProps {
  icon: IconName;
  text: string;
  children?: ReactNode;
}

export function Notice({ icon, text, children }: NoticeProps): ReactNode {
  return (
    <div className="empty" role="status">
      <Icon name={icon} />
      <p>{text}</p>
      {children}
    </div>
  );
}
