// A call of the model: what was sent with the bill of its context, what came back with its tries, and all of it as it
// is kept.
import type { ReactNode } from 'react';
import { lasted, sized, thousands, useWords } from '../lib/i18n';
import { money } from '../lib/money';
import { type Message, textOf, thoughtOf } from '../chat/talk/message';
import { Icon } from '../ui/Icon';
import { Bill } from './Bill';
import type { Call } from './data';
import { Entry, MessageList, Text } from './Messages';
import { save } from './save';
import { inspect } from './words';

export function Sent({ call }: { call: Call }): ReactNode {
  const w = useWords(inspect);
  const { request } = call;
  const messages = (request.messages ?? []) as unknown as Message[];
  const tools = request.tools ?? [];
  return (
    <>
      <Bill call={call} />
      <section className="block">
        <h2>
          {w.messages} <span className="num">{messages.length}</span>
        </h2>
        {request.note && <p className="soft">{w.notExact(request.note)}</p>}
        <MessageList
          messages={messages}
          fresh={call.new.since > 0 ? call.new.kept : Infinity}
          before={
            <>
              {request.system && (
                <Entry who={w.system} text={request.system}>
                  <Text text={request.system} />
                </Entry>
              )}
              {tools.length > 0 && (
                <Entry who={w.toolList(tools.length)} text={tools.map((t) => t.name).join(', ')}>
                  {tools.map((t) => (
                    <Text
                      key={t.name}
                      text={`${t.name}\n${t.description ?? ''}\n${JSON.stringify(t.parameters ?? {}, null, 2)}`}
                    />
                  ))}
                </Entry>
              )}
            </>
          }
        />
      </section>
    </>
  );
}

export function CameBack({ call }: { call: Call }): ReactNode {
  const w = useWords(inspect);
  const answer = (call.answer ?? null) as unknown as Message | null;
  const thought = answer ? thoughtOf(answer) : '';
  const text = answer ? textOf(answer).trim() : '';
  const calls = answer?.tool_calls ?? [];
  return (
    <>
      <section className="block">
        <h2>{w.answer}</h2>
        {call.error && (
          <p className="note-line bad">
            <Icon name="x" />
            <span>{call.error}</span>
          </p>
        )}
        {!text && !thought && calls.length === 0 && !call.error && <p className="soft">{w.nothing}</p>}
        {thought && (
          <div className="sentlist">
            <Entry who={w.thought} text={thought}>
              <Text text={thought} />
            </Entry>
          </div>
        )}
        {text && <div className="modelsaid">{text}</div>}
      </section>
      {calls.length > 0 && (
        <section className="block">
          <h2>
            {w.toolCalls} <span className="num">{calls.length}</span>
          </h2>
          <div className="sentlist">
            {calls.map((c) => (
              <Entry key={c.id} who={c.name} text={JSON.stringify(c.args)}>
                <Text text={JSON.stringify(c.args, null, 2)} />
              </Entry>
            ))}
          </div>
        </section>
      )}
      <section className="block">
        <h2>{w.time}</h2>
        <dl className="kv">
          <dt>{w.model}</dt>
          <dd>{call.model || call.provider}</dd>
          <dt>{w.took}</dt>
          <dd>{lasted(call.took_ms)}</dd>
          {call.first_ms > 0 && (
            <>
              <dt />
              <dd>{w.firstPiece(lasted(call.first_ms))}</dd>
            </>
          )}
          {call.usage && (
            <>
              <dt>{w.written}</dt>
              <dd>{w.tokens(thousands(call.usage.output_tokens))}</dd>
            </>
          )}
          {call.cost && (
            <>
              <dt>{w.cost}</dt>
              <dd>{money(call.cost)}</dd>
            </>
          )}
          {call.finish_reason && (
            <>
              <dt>{w.finish}</dt>
              <dd className="mono">{call.finish_reason}</dd>
            </>
          )}
        </dl>
      </section>
      {(call.tries?.length ?? 0) > 1 && <Tries call={call} />}
    </>
  );
}

function Tries({ call }: { call: Call }): ReactNode {
  const w = useWords(inspect);
  return (
    <section className="block">
      <h2>
        {w.tries} <span className="num">{call.tries?.length}</span>
      </h2>
      <ol className="trylist">
        {(call.tries ?? []).map((t, i) => (
          <li key={i} className={t.error ? 'bad' : ''}>
            <b>{w.try(i + 1)}</b> <span>{t.model}</span> <span className="num">{lasted(t.took_ms)}</span>
            <p>{[t.class, t.error].filter(Boolean).join(': ') || w.answered}</p>
            {t.wait_ms > 0 && <p className="soft">{w.waited(lasted(t.wait_ms))}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** How much of what is kept is drawn, in characters. */
const drawn = 60_000;

export function Raw({ value, file }: { value: unknown; file: string }): ReactNode {
  const w = useWords(inspect);
  const text = JSON.stringify(value, null, 2) ?? '';
  return (
    <section className="block">
      <h2>
        JSON {text.length > drawn && w.rawCut(sized(drawn))}
        <span className="grow" />
        <button type="button" className="btn ghost sm" onClick={() => save(file, 'application/json', text)}>
          <Icon name="download" />
          {w.download}
        </button>
      </h2>
      <pre className="rawbox" role="group" tabIndex={0} aria-label={w.raw}>
        {text.slice(0, drawn)}
      </pre>
    </section>
  );
}
