// A button that copies a text, and says that it has.
import { type ReactNode, useEffect, useState } from 'react';
import { useWords } from '../lib/i18n';
import { Icon } from './Icon';
import { ui } from './words';

/** Copies a text; where the browser lets pages copy only with https, by a hidden field. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr';
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

interface CopyProps {
  text: () => string;
  /** What it copies, for its name. */
  label?: string;
  /** Without words, the icon alone. */
  bare?: boolean;
}

export function Copy({ text, label, bare = false }: CopyProps): ReactNode {
  const w = useWords(ui);
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <button
      type="button"
      className={bare ? 'btn ghost icon sm' : 'btn ghost sm'}
      {...(bare ? { 'aria-label': done ? w.copied : (label ?? w.copy) } : {})}
      onClick={() => void copy(text()).then(() => setDone(true))}
    >
      <Icon name={done ? 'check' : 'copy'} />
      {!bare && (done ? w.copied : w.copy)}
    </button>
  );
}
