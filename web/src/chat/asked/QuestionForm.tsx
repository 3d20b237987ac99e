// A question as a form: one of five kinds, each with what fits it. "Decide yourself" is there on all but a risk.
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useWords } from '../../lib/i18n';
import { Icon, type IconName } from '../../ui/Icon';
import { toast } from '../../ui/Toasts';
import { FieldOf, valuesOf } from './Fields';
import type { Kind, Question } from './question';
import type { Arrival } from '../talk/requests';
import { asked } from './words';

interface FormProps {
  question: Question;
  /** Sends the answer; false says that it did not get there. */
  answer: (value: unknown) => Promise<Arrival>;
}

/** The value of the choice that stands for one's own words; no option has it. */
const other = '\u0000other';

const looks: Record<Kind, { icon: IconName; className: string }> = {
  missing_info: { icon: 'ask', className: 'asking' },
  ambiguous_requirement: { icon: 'ask', className: 'asking' },
  approach_choice: { icon: 'ask', className: 'asking' },
  risk_confirmation: { icon: 'alert', className: 'asking risk' },
  suggestion: { icon: 'spark', className: 'asking calm' },
};

export default function QuestionForm({ question: q, answer }: FormProps): ReactNode {
  const w = useWords(asked);
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const look = looks[q.clarification_type] ?? looks.missing_info;
  const send = (value: unknown): void => {
    setBusy(true);
    setFailed(false);
    void answer(value).then((there) => {
      if (there === 'elsewhere') toast({ text: w.elsewhere });
      if (there) return;
      setBusy(false);
      setFailed(true);
    });
  };
  const submit = (e: FormEvent<HTMLFormElement>): void => {
    e.preventDefault();
    const data = new FormData(e.currentTarget);
    if (q.fields?.length) return send(valuesOf(q.fields, data));
    const chosen = String(data.get('choice') ?? '');
    send(chosen && chosen !== other ? chosen : String(data.get('own') ?? '').trim());
  };
  const title = { risk_confirmation: w.undoable(q.question), suggestion: w.suggests(q.question) } as Partial<
    Record<Kind, string>
  >;
  const buttons =
    (q.clarification_type === 'risk_confirmation' || q.clarification_type === 'suggestion') &&
    (q.options?.length ?? 0) > 0;
  return (
    <form className={look.className} aria-labelledby={id} onSubmit={submit}>
      <header>
        <Icon name={look.icon} />
        <span id={id}>{title[q.clarification_type] ?? q.question}</span>
      </header>
      {(q.context || !buttons) && (
        <div className="body">
          {q.context && <p className="soft2">{q.context}</p>}
          {q.fields?.length ? (
            <div className="form">
              {q.fields.map((f) => (
                <FieldOf key={f.name} field={f} />
              ))}
            </div>
          ) : (
            !buttons && <Choices question={q} />
          )}
        </div>
      )}
      <footer>
        {buttons ? (
          q.options?.map((o, i) => (
            <button
              key={o.id}
              type="button"
              className={q.clarification_type === 'risk_confirmation' && i === 0 ? 'btn danger' : 'btn'}
              disabled={busy}
              onClick={() => send(o.value)}
            >
              {o.label}
            </button>
          ))
        ) : (
          <button type="submit" className="btn primary" disabled={busy}>
            {q.clarification_type === 'approach_choice' ? w.goThisWay : w.answer}
          </button>
        )}
        {q.clarification_type !== 'risk_confirmation' && (
          <button type="button" className="btn ghost" disabled={busy} onClick={() => send(w.decided)}>
            {w.decide}
          </button>
        )}
        {failed && (
          <p className="note-line bad" role="alert">
            {w.notSent}
          </p>
        )}
      </footer>
    </form>
  );
}

/** One choice of several, or one's own words. */
function Choices({ question: q }: { question: Question }): ReactNode {
  const w = useWords(asked);
  const first =
    q.options?.find((o) => o.suggested) ?? (q.clarification_type === 'approach_choice' ? q.options?.[0] : undefined);
  const [chosen, choose] = useState(first?.value ?? (q.options?.length ? '' : other));
  const ways = q.clarification_type === 'approach_choice';
  return (
    <>
      {!!q.options?.length && (
        <div className={ways ? 'way' : 'choices'} role="radiogroup" aria-label={q.question}>
          {q.options.map((o) => (
            <label key={o.id} className="choice">
              <input
                type="radio"
                name="choice"
                value={o.value}
                required
                checked={chosen === o.value}
                onChange={() => choose(o.value)}
              />
              {ways ? (
                <b>
                  {o.label} {o.suggested && <span className="tag">{w.suggested}</span>}
                </b>
              ) : (
                o.label
              )}
              {o.detail && <small>{o.detail}</small>}
            </label>
          ))}
          <label className="choice">
            <input type="radio" name="choice" value={other} checked={chosen === other} onChange={() => choose(other)} />
            {ways ? <b>{w.other}</b> : w.other}
          </label>
        </div>
      )}
      {chosen === other && (
        <textarea className="in" name="own" rows={2} required aria-label={w.otherLabel} placeholder={w.otherLabel} />
      )}
    </>
  );
}
