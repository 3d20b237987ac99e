// General settings: language, theme, keys. They are in force at once.
import { type ReactNode, useEffect } from 'react';
import { useWords } from '../lib/i18n';
import { change, type Language, type Theme, useSetting } from '../lib/settings';
import { Shell } from '../shell/Shell';
import { KeyMap } from './KeyMap';
import { words } from './words';

export default function GeneralPage(): ReactNode {
  const w = useWords(words);
  const language = useSetting('language');
  const theme = useSetting('theme');
  useEffect(() => {
    document.title = `${w.title} · Pudu`;
  }, [w]);
  const languages: [Language, string][] = [
    ['en', 'English'],
    ['zh', '中文'],
  ];
  const themes: [Theme, string][] = [
    ['system', w.system],
    ['light', w.light],
    ['dark', w.dark],
  ];
  return (
    <Shell header={<div className="title" />}>
      <div className="scroll">
        <div className="page">
          <div className="page-head">
            <div className="grow">
              <h1>{w.general}</h1>
              <p>{w.intro}</p>
            </div>
          </div>
          <Choice label={w.language} all={languages} now={language} choose={(v) => change({ language: v })} />
          <Choice label={w.theme} all={themes} now={theme} choose={(v) => change({ theme: v })} />
          <KeyMap />
        </div>
      </div>
    </Shell>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  all: [T, string][];
  now: T;
  choose: (value: T) => void;
}

function Choice<T extends string>({ label, all, now, choose }: ChoiceProps<T>): ReactNode {
  return (
    <fieldset className="f border-0 p-0 m-0">
      <legend className="label mb-2">{label}</legend>
      <div className="choices">
        {all.map(([value, name]) => (
          <label key={value} className="choice">
            <input type="radio" name={label} checked={value === now} onChange={() => choose(value)} />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
