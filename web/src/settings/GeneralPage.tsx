// General settings: language and theme, which are in force at once; about me; who is signed in; the keys.
import type { ReactNode } from 'react';
import { useWords } from '../lib/i18n';
import { change, type Language, type Theme, useSetting } from '../lib/settings';
import { AboutMe } from './AboutMe';
import { KeyMap } from './KeyMap';
import { Sessions } from './Sessions';
import { SettingsPage } from './SettingsPage';
import { words } from './words';

export default function GeneralPage(): ReactNode {
  const w = useWords(words);
  const language = useSetting('language');
  const theme = useSetting('theme');
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
    <SettingsPage title={w.general} intro={w.intro}>
      <Choice label={w.language} all={languages} now={language} choose={(v) => change({ language: v })} />
      <Choice label={w.theme} all={themes} now={theme} choose={(v) => change({ theme: v })} />
      <AboutMe />
      <Sessions />
      <KeyMap />
    </SettingsPage>
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
