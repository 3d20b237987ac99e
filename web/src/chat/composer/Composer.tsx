// Where a person writes. Enter sends, Alt Enter queues while a run is under way, Shift Enter makes a new line; what is
// typed is kept until it is sent.
import { type KeyboardEvent, lazy, type ReactNode, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import { useWords } from '../../lib/i18n';
import { AddFiles, Chips as FileChips, words as fileWords } from '../../files/Adding';
import { type Sent, uploadsOf, useUploads } from '../../files/uploads';
import { Icon } from '../../ui/Icon';
import { chat } from '../words';
import { Dictation } from './Dictation';
import { draftOf, keepDraft } from './drafts';
import { given, type Secrets } from '../secrets/held';
import { namedSkill } from '../secrets/named';
import { useGap, useNeeds, useTyped } from '../secrets/needs';

const SecretFields = lazy(() => import('../secrets/SecretFields'));

/** Puts words into a composer. */
export type Write = (text: string, behind?: boolean) => void;

interface ComposerProps {
  /** Whose draft it is: a thread, or the start page. */
  place: string;
  /** Lines that it has at first. */
  rows: number;
  placeholder: string;
  label: string;
  running: boolean;
  focus?: boolean;
  /**
   * Sends words with files; thread is the one that those were added to. What is to queue waits for the end of the run
   * that is under way.
   */
  send: (text: string, files: Sent[], thread: string, queue: boolean, secrets?: Secrets) => void;
  stop?: () => void;
  /** What is said here begins no run: no secrets go with it. */
  bare?: boolean;
  /** Takes words to be edited: they come before what is typed, or behind it. */
  write?: RefObject<Write>;
  /** What stands left below the text, and right of it before the buttons. */
  children?: ReactNode;
  ring?: ReactNode;
}

export function Composer({
  place,
  rows,
  placeholder,
  label,
  running,
  focus,
  send,
  stop,
  bare = false,
  write: take,
  children,
  ring,
}: ComposerProps): ReactNode {
  const w = useWords(chat);
  const f = useWords(fileWords);
  const [text, setText] = useState(() => draftOf(place));
  const field = useRef<HTMLTextAreaElement>(null);
  // The secrets of the skill that the text names: those of another one, and of another place, do not go with it.
  const skill = bare ? '' : namedSkill(text);
  const needs = useNeeds(skill);
  const [typed, type] = useTyped(`${place} ${skill}`);
  const gap = useGap(`${place} ${skill}`, needs ?? [], typed);
  const secrets = given(typed, needs ?? []);
  useEffect(() => setText(draftOf(place)), [place]);
  useEffect(() => {
    if (focus && matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, [focus, place]);
  const write = (next: string): void => {
    setText(next);
    keepDraft(place, next);
  };
  useEffect(() => {
    if (!take) return;
    take.current = (words, behind = false) => {
      write([behind ? text : words, behind ? words : text].filter(Boolean).join('\n'));
      const it = field.current;
      it?.focus();
      // The caret stands behind all of it when it is drawn.
      requestAnimationFrame(() => it?.setSelectionRange(it.value.length, it.value.length));
    };
  });
  const uploads = uploadsOf(place);
  const files = useUploads(uploads);
  const sending = files.some((u) => u.state === 'waits' || u.state === 'sending');
  const refused = files.some((u) => u.state === 'refused');
  const [pressed, setPressed] = useState<false | 'now' | 'queue'>(false);
  const out = (queue: boolean): void => {
    const words = text.trim();
    if (!words) return;
    if (sending || !needs) return setPressed(queue ? 'queue' : 'now');
    setPressed(false);
    if (!gap.ready()) return;
    write('');
    type({});
    const { thread } = uploads;
    send(words, uploads.take(), thread, queue, secrets);
  };
  // What was to be sent goes out when the files are there, and when it is known what its skill wants; a file that was
  // refused is for the user to look at first.
  useEffect(() => {
    if (!pressed || sending || !needs) return;
    if (refused) setPressed(false);
    else out(pressed === 'queue');
  });
  const key = (e: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (e.key === 'ArrowUp' && text === '') {
      const last = [...document.querySelectorAll<HTMLElement>('[data-edit]')].at(-1);
      if (last) {
        e.preventDefault();
        last.click();
      }
      return;
    }
    // Without words, Ctrl Enter answers what is asked. While characters are composed, Enter belongs to the input
    // method.
    if ((e.ctrlKey || e.metaKey) && text.trim() === '') return;
    if (e.key !== 'Enter' || e.shiftKey || e.nativeEvent.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    out(e.altKey);
  };
  const empty = text.trim() === '';
  return (
    <form
      className="composer"
      aria-label={label}
      onSubmit={(e) => {
        e.preventDefault();
        out(false);
      }}
    >
      <FileChips uploads={uploads} />
      <textarea
        ref={field}
        data-composer
        rows={rows}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(e) => write(e.target.value)}
        onKeyDown={key}
      />
      {needs && needs.length > 0 && (
        <Suspense fallback={null}>
          <SecretFields
            skill={skill}
            goes={running ? 'queued' : 'message'}
            needs={needs}
            values={typed}
            change={type}
            missing={gap.missing}
          />
        </Suspense>
      )}
      <div className="bar">
        <AddFiles uploads={uploads} />
        {children}
        <Dictation say={(words) => write(text && !/\s$/.test(text) ? `${text} ${words}` : text + words)} />
        <span className="grow" />
        {pressed !== false && sending && (
          <small className="soft" role="status">
            {f.waits}
          </small>
        )}
        {ring}
        {running && stop && (
          <button type="button" className="stop" aria-label={w.stop} title={w.stop} onClick={stop}>
            <i />
          </button>
        )}
        {running && !secrets && (
          <button
            key="queue"
            type="button"
            className="btn ghost pillshaped"
            disabled={empty}
            title={w.queueHint}
            onClick={() => out(true)}
          >
            {w.queue}
          </button>
        )}
        {running ? (
          <button
            key="steer"
            type="submit"
            className="btn primary pillshaped"
            disabled={empty}
            title={secrets ? w.queueHint : w.steerHint}
          >
            {secrets ? w.queue : w.steer}
            <Icon name="enter" />
          </button>
        ) : (
          <button key="send" type="submit" className="send" disabled={empty} aria-label={place ? w.sendIt : w.start}>
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
}
