// Which secrets the skill wants that a message names, and what forms have of them.
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { skillList } from '../../skills/list';
import { gapIn, onForget, type Secret, type Secrets } from './held';
import { namedSkill } from './named';

const Bring = lazy(() => import('./Bring'));

const none: Secret[] = [];

/** The secrets that a skill declares; undefined while that is not known. Where nobody can tell there are none. */
export function useNeeds(skill: string): Secret[] | undefined {
  const { data, isFetching } = useQuery({ ...skillList, enabled: skill !== '', retry: false });
  if (skill === '') return none;
  return data
    ? (data.find((s) => s.name === skill && s.enabled)?.required_secrets ?? none)
    : isFetching
      ? undefined
      : none;
}

/** What is typed into the fields of something; it is gone when that becomes another one, and when the session ends. */
export function useTyped(of: string): [Secrets, (values: Secrets) => void] {
  const [typed, setTyped] = useState({ of, values: {} as Secrets });
  useEffect(() => onForget(() => setTyped({ of: '', values: {} })), []);
  return [typed.of === of ? typed.values : {}, (values) => setTyped({ of, values })];
}

interface Gap {
  /** The one that is needed, empty, and was asked for. */
  missing: string;
  /** Whether what is typed may go: with nothing missing, or once more without what was asked for. */
  ready: () => boolean;
}

/** Asks once for each secret that is needed and empty, before something goes without. */
export function useGap(of: string, needs: Secret[], values: Secrets): Gap {
  const [asked, setAsked] = useState('');
  const gap = gapIn(values, needs);
  const again = gap !== '' && asked === `${of} ${gap}`;
  return {
    missing: again ? gap : '',
    ready: () => {
      const may = gap === '' || again;
      setAsked(may ? '' : `${of} ${gap}`);
      return may;
    },
  };
}

/** What begins a run, with the secrets that were typed for it. */
type Begin = (secrets?: Secrets) => void;

/**
 * Begins runs once more that a message began: where the skill that it names has secrets, a form in that place asks for
 * them first.
 */
export function useBring(text: string): [form: ReactNode, begin: (label: string, act: Begin) => void] {
  const [asking, ask] = useState<{ label: string; act: Begin } | null>(null);
  const skill = namedSkill(text);
  const form = asking && (
    <Suspense fallback={null}>
      <Bring
        skill={skill}
        label={asking.label}
        cancel={() => ask(null)}
        go={(secrets) => {
          ask(null);
          asking.act(secrets);
        }}
      />
    </Suspense>
  );
  return [form, (label, act) => (skill ? ask({ label, act }) : act())];
}
