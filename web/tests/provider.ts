// A provider of models, as OpenAI documents its chat completions: it takes one key, streams, and calls tools. What it
// says is enough for the tasks by which a model is tested, and to answer a person.
import { createServer, type IncomingMessage, type Server as Http, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Call {
  name: string;
  args: unknown;
}

interface Said {
  text?: string;
  calls?: Call[];
}

interface Asked {
  model: string;
  stream?: boolean;
  messages: { role: string; content?: unknown; tool_calls?: unknown }[];
  tool_choice?: unknown;
}

export const goodKey = 'sk-good-0123456789abcdef';

const textOf = (content: unknown): string =>
  Array.isArray(content) ? content.map((p: { text?: string }) => p.text ?? '').join('') : String(content ?? '');

/** What it says to a conversation. */
function reply(asked: Asked): Said {
  const of = (role: string): string[] => asked.messages.filter((m) => m.role === role).map((m) => textOf(m.content));
  const task = of('user').join('\n'); // what the program tells it stands in messages of the user too
  const results = of('tool');
  const last = results.at(-1) ?? '';
  switch (true) {
    case asked.tool_choice === 'none':
      return { text: 'I cannot know.' };
    case task.includes('this one word'):
      return { text: 'Pudu' };
    case task.includes('from one to thirty'):
      return { text: 'one, two, three, and so on up to thirty' };
    case task.includes('three times'):
      return { calls: ['Paris', 'Rome', 'Oslo'].map((city) => ({ name: 'get_weather', args: { city } })) };
    case task.includes('weather'):
      return { calls: [{ name: 'get_weather', args: { city: 'Paris' } }] };
    case task.includes('Book a trip'):
      return {
        calls: [
          {
            name: 'book_trip',
            args: {
              traveller: { name: 'Ada Lovelace', age: 41 },
              class: 'BUSINESS',
              stops: [
                { city: 'Rome', nights: 2 },
                { city: 'Oslo', nights: 3 },
              ],
              refundable: true,
            },
          },
        ],
      };
    case task.includes('list.txt'): {
      const line = (n: number): string => new RegExp(`^${n}: .*$`, 'm').exec(task)?.[0] ?? `${n}: pudu`;
      return {
        calls: [
          {
            name: 'write_file',
            args: { path: 'list.txt', content: `${Array.from({ length: 200 }, (_, i) => line(i + 1)).join('\n')}\n` },
          },
        ],
      };
    }
    case task.includes('tracking code'):
      if (results.length === 0) return { calls: [{ name: 'find_order', args: { customer: 'Lovelace' } }] };
      return results.length === 1
        ? { calls: [{ name: 'track_order', args: JSON.parse(last) as unknown }] }
        : { text: last };
    case task.includes('left half'):
      return { text: 'Green, red' };
    case task.includes('9.11'):
      return { text: '9.9' };
    case task.includes('shelf'):
      return { text: '10' };
    case task.includes('notes.md'):
      return results.length === 0
        ? {
            text: 'I read them.',
            calls: [
              { name: 'read_file', args: { description: 'Read the notes', path: '/mnt/user-data/uploads/notes.md' } },
            ],
          }
        : {
            text: last.includes('Mill Lane 12')
              ? 'Tom calls the landlord before Friday.'
              : `I could not read them: ${last}`,
          };
    default:
      return { text: `The provider's model answers: ${task.slice(-80)}` };
  }
}

export class Provider {
  private readonly http: Http;
  /** How many calls it has refused, and answered. */
  refused = 0;
  answered = 0;
  /** How long it thinks before it answers. */
  pause = 0;
  /** How many calls it turns away before it answers. */
  busy = 0;

  private port = 0;

  /** It takes a key, or none at all; one that lists Ollama's models is an Ollama. */
  constructor(private readonly options: { key: string; ollama?: string[] } = { key: goodKey }) {
    this.http = createServer((req, res) => void this.serve(req, res));
  }

  /** Starts it; its address is that of the API. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.http.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.http.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.port}/v1`;
  }

  async close(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const key = String(req.headers.authorization ?? '').replace('Bearer ', '');
    if (this.options.key && key !== this.options.key) {
      this.refused++;
      res.writeHead(401, { 'Content-Type': 'application/json' });
      res.end(
        JSON.stringify({
          error: {
            message: `Incorrect API key provided: ${key.slice(0, 6)}***. You can find your API key at example.test.`,
            type: 'invalid_request_error',
            param: null,
            code: 'invalid_api_key',
          },
        }),
      );
      return;
    }
    if (req.method === 'GET') {
      res.writeHead(200, { 'Content-Type': 'application/json' });
      if (this.options.ollama) {
        res.end(JSON.stringify({ models: this.options.ollama.map((name) => ({ name, model: name })) }));
        return;
      }
      res.end(
        JSON.stringify({
          object: 'list',
          data: ['mistral-large-latest', 'mine'].map((id) => ({ id, object: 'model', created: 1, owned_by: 'test' })),
        }),
      );
      return;
    }
    if (this.busy > 0) {
      this.busy--;
      res.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '1' });
      res.end(JSON.stringify({ error: { message: 'The engine is overloaded.', type: 'server_error' } }));
      return;
    }
    let body = '';
    for await (const piece of req) body += String(piece);
    this.answered++;
    if (this.pause > 0) await new Promise((resolve) => setTimeout(resolve, this.pause));
    const asked = JSON.parse(body) as Asked;
    await this.stream(res, asked.model, reply(asked));
  }

  private async stream(res: ServerResponse, model: string, said: Said): Promise<void> {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const chunk = (choices: object[], usage: object | null): void => {
      const it = { id: 'c1', object: 'chat.completion.chunk', created: 1, model, choices, usage };
      res.write(`data: ${JSON.stringify(it)}\n\n`);
    };
    const send = (choice: object): void => chunk([{ index: 0, finish_reason: null, ...choice }], null);
    send({ delta: { role: 'assistant', content: '' } });
    for (const word of said.text?.split(/(?<= )/) ?? []) {
      send({ delta: { content: word } });
      // Pieces within 20 ms, on a machine that is slow, are a proxy's that buffers.
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    for (const [index, call] of (said.calls ?? []).entries()) {
      send({
        delta: {
          tool_calls: [
            {
              index,
              id: `call_${index}_${this.answered}`,
              type: 'function',
              function: { name: call.name, arguments: '' },
            },
          ],
        },
      });
      send({ delta: { tool_calls: [{ index, function: { arguments: JSON.stringify(call.args) } }] } });
    }
    send({ delta: {}, finish_reason: said.calls ? 'tool_calls' : 'stop' });
    chunk([], {
      prompt_tokens: 5000,
      completion_tokens: 12,
      total_tokens: 5012,
      prompt_tokens_details: { cached_tokens: 4992 },
    });
    res.end('data: [DONE]\n\n');
  }
}
