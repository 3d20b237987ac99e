// Asks before something is gone for good. That it asks stands in the address (?sure=NAME), so that Back closes it.
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useWords } from '../lib/i18n';
import { ask } from '../lib/router';
import { ui } from './words';

interface SureProps {
  /** The question, with the name of what is meant. */
  title: string;
  text: string;
  /** What is done, as the button says it. */
  act: string;
  go: () => void;
}

/** Asks a page to ask. */
export const askSure = (name: string): void => ask({ sure: name });

export function Sure({ title, text, act, go }: SureProps): ReactNode {
  const w = useWords(ui);
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const close = (): void => ask({ sure: null }, true);
  return (
    <dialog
      ref={dialog}
      className="dlg"
      aria-labelledby={id}
      onCancel={(e) => {
        e.preventDefault();
        close();
      }}
    >
      <div className="grid gap-3">
        <h2 id={id}>{title}</h2>
        <p>{text}</p>
        <div className="flex gap-2 justify-end">
          <button type="button" className="btn" onClick={close}>
            {w.cancel}
          </button>
          <button
            type="button"
            className="btn danger"
            onClick={() => {
              close();
              go();
            }}
          >
            {act}
          </button>
        </div>
      </div>
    </dialog>
  );
}
