// Dictation, where the browser makes words of speech by itself, on this machine: what is said leaves it no more than
// what is typed. Elsewhere there is no button.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { define, useWords } from '../../lib/i18n';
import { useSetting } from '../../lib/settings';
import { Icon } from '../../ui/Icon';

const words = define({ begin: 'Dictate', end: 'End the dictation' }, { begin: '听写', end: '结束听写' });

interface Heard {
  resultIndex: number;
  results: ArrayLike<ArrayLike<{ transcript: string }> & { isFinal: boolean }>;
}
interface Recognition {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  processLocally: boolean;
  onresult: ((e: Heard) => void) | null;
  onend: (() => void) | null;
  onerror: (() => void) | null;
  start: () => void;
  stop: () => void;
  abort: () => void;
}
interface Recognizer {
  new (): Recognition;
  available?: (asked: { langs: string[]; processLocally: boolean }) => Promise<string>;
}

const recognizer = (): Recognizer | undefined => (globalThis as { SpeechRecognition?: Recognizer }).SpeechRecognition;

/** Whether the browser hears a language here. */
function useHears(lang: string): boolean {
  const [hears, setHears] = useState(false);
  useEffect(() => {
    let there = true;
    setHears(false);
    const it = recognizer();
    if (!it?.available || !('processLocally' in it.prototype)) return;
    it.available({ langs: [lang], processLocally: true }).then(
      (state) => there && setHears(state === 'available'),
      () => {},
    );
    return () => {
      there = false;
    };
  }, [lang]);
  return hears;
}

/** A button that listens, and hands over each sentence when it is whole. */
export function Dictation({ say }: { say: (words: string) => void }): ReactNode {
  const w = useWords(words);
  const lang = useSetting('language') === 'zh' ? 'zh-CN' : 'en-US';
  const hears = useHears(lang);
  const [on, setOn] = useState<Recognition | null>(null);
  const now = useRef(say);
  useEffect(() => {
    now.current = say;
  });
  useEffect(() => () => on?.abort(), [on]);
  const begin = (): void => {
    const Recognizer = recognizer();
    if (!Recognizer) return;
    const it = new Recognizer();
    Object.assign(it, { lang, continuous: true, interimResults: false, processLocally: true });
    it.onresult = (e) => {
      for (let i = e.resultIndex; i < e.results.length; i++) {
        const said = e.results[i];
        if (said?.isFinal && said[0]) now.current(said[0].transcript.trim());
      }
    };
    it.onend = it.onerror = () => setOn(null);
    it.start();
    setOn(it);
  };
  if (!hears) return null;
  const name = on ? w.end : w.begin;
  return (
    <button
      type="button"
      className="btn ghost icon"
      aria-pressed={!!on}
      aria-label={name}
      title={name}
      onClick={() => (on ? on.stop() : begin())}
    >
      <Icon name="mic" />
    </button>
  );
}
