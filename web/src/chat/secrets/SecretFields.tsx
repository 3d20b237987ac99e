// Fields for secrets that go with a message or an answer. What is typed goes with that request alone, and is kept
// nowhere.
import { type ClipboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { define, useWords } from '../../lib/i18n';
import type { Secret, Secrets } from './held';

const words = define(
  {
    secrets: (skill: string) => `Secrets for ${skill}`,
    again: 'Secrets of this run',
    optional: (name: string) => `${name} (optional)`,
    message: 'They go with this message alone and are not kept in this browser.',
    queued:
      'They go with this message alone and are not kept in this browser. The run at work does not get them: the message waits for its end.',
    answer:
      'The run has stopped to ask, and kept none of them. They go with your answer alone and are not kept in this browser.',
    missing: (name: string) => `${name} is empty: commands that need it will not work. Once more, and it goes without.`,
    lines: 'A value of several lines does not fit in here; pudu run --secret takes it from the environment.',
  },
  {
    secrets: (skill: string) => `${skill} 的密钥`,
    again: '本次运行的密钥',
    optional: (name: string) => `${name}（可选）`,
    message: '密钥只随这条消息发送，不会保存在此浏览器中。',
    queued: '密钥只随这条消息发送，不会保存在此浏览器中。正在进行的运行拿不到密钥，消息会等它结束后再开始。',
    answer: '运行停下来询问，没有保留密钥。密钥只随你的回答发送，不会保存在此浏览器中。',
    missing: (name: string) => `${name} 未填写，需要它的命令将无法工作。再次提交即可不填继续。`,
    lines: '这里放不下多行的值，可用 pudu run --secret 从环境变量读取。',
  },
);

interface SecretFieldsProps {
  /** The skill that wants them; without one it is the run that asks. */
  skill?: string;
  /** What they go with. */
  goes: 'message' | 'queued' | 'answer';
  needs: Secret[];
  values: Secrets;
  change: (values: Secrets) => void;
  /** The one that was asked for and is empty. */
  missing: string;
}

export default function SecretFields({ skill, goes, needs, values, change, missing }: SecretFieldsProps): ReactNode {
  const w = useWords(words);
  const id = useId();
  const box = useRef<HTMLFieldSetElement>(null);
  const [lines, setLines] = useState('');
  useEffect(() => {
    if (missing) box.current?.querySelector<HTMLInputElement>(`[data-secret="${missing}"]`)?.focus();
  }, [missing]);
  // A field of one line would take the line breaks out of a value without a word.
  const paste = (name: string, e: ClipboardEvent): void => {
    const many = /[\r\n]/.test(e.clipboardData.getData('text').trim());
    if (many) e.preventDefault();
    setLines(many ? name : '');
  };
  const fault = (name: string): string => (name === lines ? w.lines : name === missing ? w.missing(name) : '');
  const title = skill ? w.secrets(skill) : w.again;
  return (
    <fieldset className="secrets" ref={box} aria-describedby={`${id}-goes`}>
      <legend>{title}</legend>
      {needs.map(({ name, optional }) => (
        <label key={name}>
          <span>{optional ? w.optional(name) : name}</span>
          <input
            className="in mono"
            type="password"
            autoComplete="off"
            spellCheck={false}
            data-secret={name}
            value={values[name] ?? ''}
            {...(fault(name) ? { 'aria-invalid': true, 'aria-describedby': `${id}-fault` } : {})}
            onChange={(e) => change({ ...values, [name]: e.target.value })}
            onPaste={(e) => paste(name, e)}
          />
        </label>
      ))}
      {needs.map(
        ({ name }) =>
          fault(name) && (
            <small key={name} id={`${id}-fault`} className="fault" role="alert">
              {fault(name)}
            </small>
          ),
      )}
      <small id={`${id}-goes`} className="soft">
        {w[goes]}
      </small>
    </fieldset>
  );
}
