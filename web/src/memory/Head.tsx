// The head of the page: export, and behind a button what is done with all of the memory.
import { useQueryClient } from '@tanstack/react-query';
import { type ChangeEvent, type ReactNode, useRef, useState } from 'react';
import { api, Trouble } from '../lib/api/client';
import { at } from '../lib/base';
import { wordsNow, useWords } from '../lib/i18n';
import { ask, Link, useQueryOf } from '../lib/router';
import { failed } from '../shell/Failure';
import { Icon } from '../ui/Icon';
import { type Item, Menu } from '../ui/Menu';
import { askSure, Sure } from '../ui/Sure';
import { toast } from '../ui/Toasts';
import { again, factsIn } from './data';
import { memory } from './words';

/** As the server bounds a document, in bytes. */
const largest = 16 << 20;

interface Chosen {
  name: string;
  text: string;
  facts: number;
}

export function Head({ facts, show }: { facts: number; show: string | null }): ReactNode {
  const w = useWords(memory);
  const sure = useQueryOf().get('sure');
  const client = useQueryClient();
  const picker = useRef<HTMLInputElement>(null);
  const [chosen, choose] = useState<Chosen>();
  const act = async (work: Promise<unknown>, said: string, none = ''): Promise<void> => {
    try {
      await work;
      toast({ text: said });
    } catch (error) {
      if (error instanceof Trouble && error.status === 409) toast({ text: none || error.message, bad: true });
      else failed(error);
    }
    await again(client);
  };
  const pick = async (event: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const file = event.target.files?.[0];
    event.target.value = ''; // the same file can be chosen again
    if (!file) return;
    const read = await documentOf(file);
    if (typeof read === 'string') return toast({ text: read, bad: true });
    choose(read);
    askSure('import');
  };
  const items: Item[] = [
    {
      key: 'history',
      label: w.history,
      icon: 'clock',
      choose: () => ask({ show: 'history', fact: null, q: null, add: null }),
    },
    { key: 'gone', label: w.gone, icon: 'undo', choose: () => ask({ show: 'gone', fact: null, q: null, add: null }) },
    {
      key: 'undo',
      label: w.undo,
      icon: 'retry',
      rule: true,
      choose: () => void act(api('post', '/memory/undo'), w.undone, w.nothingToUndo),
    },
    { key: 'import', label: w.import, icon: 'out', choose: () => picker.current?.click() },
    { key: 'clear', label: w.clear, icon: 'trash', danger: true, rule: true, choose: () => askSure('clear') },
  ];
  return (
    <>
      <div className="title">
        {show ? <Link to="/library/memory">{w.title}</Link> : w.title}
        <span className="grow" />
        <a className="btn ghost sm" href={at('memory/export')} download="pudu-memory.json">
          <Icon name="download" />
          {w.export}
        </a>
        <Menu className="btn ghost icon sm" label={w.more} items={items} end>
          <Icon name="dots" />
        </Menu>
        <input
          ref={picker}
          type="file"
          hidden
          accept=".json,application/json"
          aria-label={w.import}
          onChange={(e) => void pick(e)}
        />
      </div>
      {sure === 'clear' && (
        <Sure
          title={w.clearAsk}
          text={w.clearText(facts)}
          act={w.clear}
          go={() => void act(api('delete', '/memory'), w.actCleared)}
        />
      )}
      {sure === 'import' && chosen && (
        <Sure
          title={w.importAsk(chosen.name)}
          text={w.importText(chosen.facts, facts)}
          act={w.importAct}
          go={() =>
            void act(
              api('post', '/memory/import', { body: JSON.parse(chosen.text) as never }),
              w.imported(chosen.facts),
            )
          }
        />
      )}
    </>
  );
}

/** What a file has, or why it is none that can be imported. */
async function documentOf(file: File): Promise<Chosen | string> {
  const w = wordsNow(memory);
  if (file.size > largest) return w.tooLarge(file.name);
  const text = await file.text();
  const facts = factsIn(text);
  return facts === null ? w.noDocument(file.name) : { name: file.name, text, facts };
}
