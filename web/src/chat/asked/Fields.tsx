// The fields of a form that Pudu asks with, each of the right kind.
import { type ReactNode, useId } from 'react';
import { useWords } from '../../lib/i18n';
import type { Field } from './question';
import { Field as Labelled, type Wired } from '../../ui/Field';
import { ui } from '../../ui/words';

/** What a form has, by the fields' names; what was left empty is left out. */
export function valuesOf(fields: Field[], data: FormData): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const f of fields) {
    const all = data.getAll(f.name).map(String);
    const one = all[0] ?? '';
    if (f.type === 'multi_select') out[f.name] = all;
    else if (f.type === 'checkbox') out[f.name] = one === 'on';
    else if (f.type === 'number' && one !== '') out[f.name] = Number(one);
    else if (one !== '') out[f.name] = one;
  }
  return out;
}

export function FieldOf({ field: f }: { field: Field }): ReactNode {
  if (f.type === 'multi_select') return <Several field={f} />;
  if (f.type === 'checkbox') {
    return (
      <label className="choice self-end">
        <input type="checkbox" name={f.name} />
        {f.label}
      </label>
    );
  }
  return (
    <Labelled label={f.label} needed={f.required} wide={f.type === 'text' || f.type === 'textarea'}>
      {(wired) => <Control field={f} wired={wired} />}
    </Labelled>
  );
}

function Control({ field: f, wired }: { field: Field; wired: Wired }): ReactNode {
  const w = useWords(ui);
  const shared = {
    ...wired,
    name: f.name,
    required: f.required,
    className: 'in',
    ...(f.placeholder ? { placeholder: f.placeholder } : {}),
  };
  switch (f.type) {
    case 'textarea':
      return <textarea rows={3} {...shared} />;
    case 'select':
      return (
        <select {...shared} defaultValue="">
          <option value="" disabled={f.required}>
            {w.choose}
          </option>
          {f.options?.map((o) => (
            <option key={o.id} value={o.value}>
              {o.label}
            </option>
          ))}
        </select>
      );
    case 'number':
      return <input type="number" step="any" {...shared} />;
    case 'date':
      return <input type="date" {...shared} />;
    default:
      return <input type="text" {...shared} />;
  }
}

function Several({ field: f }: { field: Field }): ReactNode {
  const id = useId();
  return (
    <div className="f w">
      <span className="label" id={id}>
        {f.label}
      </span>
      <div className="choices" role="group" aria-labelledby={id}>
        {f.options?.map((o) => (
          <label key={o.id} className="choice">
            <input type="checkbox" name={f.name} value={o.value} />
            {o.label}
          </label>
        ))}
      </div>
    </div>
  );
}
