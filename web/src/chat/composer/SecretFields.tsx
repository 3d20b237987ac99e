// Fields for the secrets of the skill that a message names. What is typed goes with that request alone, and is kept nowhere.
import type { ReactNode } from 'react';
import { define, useWords } from '../../lib/i18n';
import { useSkills } from '../../skills/data';
import type { Secrets } from './named';

const words = define(
  {
    secrets: (skill: string) => `Secrets for ${skill}`,
    once: 'They go with this message alone and are not kept in this browser.',
    optional: (name: string) => `${name} (optional)`,
  },
  {
    secrets: (skill: string) => `${skill} 的密钥`,
    once: '密钥只随这条消息发送，不会保存在此浏览器中。',
    optional: (name: string) => `${name}（可选）`,
  },
);

interface SecretFieldsProps {
  skill: string;
  values: Secrets;
  change: (values: Secrets) => void;
}

export default function SecretFields({ skill, values, change }: SecretFieldsProps): ReactNode {
  const w = useWords(words);
  const asked = useSkills().data?.find((s) => s.name === skill && s.enabled)?.required_secrets ?? [];
  if (asked.length === 0) return null;
  return (
    <fieldset className="secrets" aria-label={w.secrets(skill)}>
      {asked.map(({ name, optional }) => (
        <label key={name}>
          <span>{optional ? w.optional(name) : name}</span>
          <input type="password" autoComplete="off" spellCheck={false} value={values[name] ?? ''} onChange={(e) => change({ ...values, [name]: e.target.value })} />
        </label>
      ))}
      <small className="soft">{w.once}</small>
    </fieldset>
  );
}
