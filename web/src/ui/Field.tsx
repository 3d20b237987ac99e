// A field of a form: its name, the field, what is wrong with it or a hint. The name and the words below are the field's
// for screen readers too.
import { type ReactNode, useId } from 'react';
import { useWords } from '../lib/i18n';
import { ui } from './words';

/** What a field puts on its input. */
export interface Wired {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

interface FieldProps {
  label: string;
  children: (wired: Wired) => ReactNode;
  hint?: ReactNode;
  /** What is wrong with what it has. */
  fault?: string | undefined;
  needed?: boolean;
  /** Over the whole width of a form with two columns. */
  wide?: boolean;
}

export function Field({ label, children, hint, fault, needed = false, wide = false }: FieldProps): ReactNode {
  const w = useWords(ui);
  const id = useId();
  const below = `${id}-below`;
  return (
    <div className={wide ? 'f w' : 'f'}>
      <label htmlFor={id}>
        {label} {needed && <span className="soft font-normal">{w.needed}</span>}
      </label>
      {children({
        id,
        ...(fault || hint ? { 'aria-describedby': below } : {}),
        ...(fault ? { 'aria-invalid': true as const } : {}),
      })}
      {fault ? (
        <span id={below} className="fault" role="alert">
          {fault}
        </span>
      ) : (
        hint && (
          <span id={below} className="hint">
            {hint}
          </span>
        )
      )}
    </div>
  );
}
