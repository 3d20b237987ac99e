// A block of code: its language, a button that copies it, and its own box to scroll in.
import type { ReactNode } from 'react';
import { chat } from '../chat/words';
import { useWords } from '../lib/i18n';
import { Copy } from '../ui/Copy';

interface CodeProps {
  text: string;
  language: string;
  /** It is still being written. */
  open: boolean;
}

export function Code({ text, language }: CodeProps): ReactNode {
  const w = useWords(chat);
  const name = language.split(/\s/)[0] || w.showCode;
  return (
    <div className="codebox">
      <div className="codebar">
        <span className="grow">{name}</span>
        <Copy text={() => text} />
      </div>
      <pre tabIndex={0} aria-label={name}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
