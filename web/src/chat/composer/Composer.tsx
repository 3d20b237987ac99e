// Where a person writes. Enter sends, Alt Enter queues while a run is under way, Shift Enter makes a new line; what is typed is kept until it is sent.
import { type KeyboardEvent, lazy, type ReactNode, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import { useWords } from '../../lib/i18n';
import { AddFiles, Chips as FileChips, words as fileWords } from '../../files/Adding';
import { type Sent, uploadsOf, useUploads } from '../../files/uploads';
import { Icon } from '../../ui/Icon';
import { chat } from '../words';
import { Dictation } from './Dictation';
import { draftOf, keepDraft } from './drafts';
import { namedSkill, type Secrets } from './named';

const SecretFields = lazy(() => import('./SecretFields'));

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
  /** Sends words with files; thread is the one that those were added to. What is to queue waits for the end of the run that is under way. */
  send: (text: string, files: Sent[], thread: string, queue: boolean, secrets?: Secrets) => void;
  stop?: () => void;
  /** Takes words to be edited: they come before what is typed, or behind it. */
  write?: RefObject<Write>;
  /** What stands left below the text, and right of it before the buttons. */
  children?: ReactNode;
  ring?: ReactNode;
}

export function Composer({ place, rows, placeholder, label, running, focus, send, stop, write: take, children, ring }: ComposerProps): ReactNode {
  const w = useWords(chat);
  const f = useWords(fileWords);
  const [text, setText] = useState(() => draftOf(place));
  const field = useRef<HTMLTextAreaElement>(null);
  // The secrets of the skill that the text names: those of another one, and of another place, do not go with it.
  const skill = namedSkill(text);
  const [secrets, setSecrets] = useState<Secrets>({});
  useEffect(() => setSecrets({}), [place, skill]);
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
    if (sending) return setPressed(queue ? 'queue' : 'now');
    setPressed(false);
    write('');
    const { thread } = uploads;
    const brought = Object.fromEntries(Object.entries(secrets).filter(([, value]) => value !== ''));
    setSecrets({});
    send(words, uploads.take(), thread, queue, Object.keys(brought).length > 0 ? brought : undefined);
  };
  // What was to be sent goes out when the files are there; one that was refused is for the user to look at first.
  useEffect(() => {
    if (!pressed || sending) return;
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
    // Without words, Ctrl Enter answers what is asked. While characters are composed, Enter belongs to the input method.
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
      {skill && (
        <Suspense fallback={null}>
          <SecretFields skill={skill} values={secrets} change={setSecrets} />
        </Suspense>
      )}
      <div className="bar">
        <AddFiles uploads={uploads} />
        {children}
        <Dictation say={(words) => write(text && !/\s$/.test(text) ? `${text} ${words}` : text + words)} />
        <span className="grow" />
        {pressed !== false && (
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
        {running && (
          <button key="queue" type="button" className="btn ghost pillshaped" disabled={empty} title={w.queueHint} onClick={() => out(true)}>
            {w.queue}
          </button>
        )}
        {running ? (
          <button key="steer" type="submit" className="btn primary pillshaped" disabled={empty} title={w.steerHint}>
            {w.steer}
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
