// Prints a task when the address asks for it (?print=1): all of it, which is loaded first.
import { useEffect } from 'react';
import { ask, useQueryOf } from '../lib/router';
import { failed } from '../shell/Failure';
import type { Conversation } from './talk/conversation';
import type { View } from './talk/view';

export function usePrint(conversation: Conversation, view: View): void {
  const wanted = useQueryOf().get('print') !== null;
  useEffect(() => {
    if (!wanted || view.loading) return;
    let over = false;
    void conversation
      .reach()
      // What is loaded is drawn before it is printed.
      .then(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 100))))
      .then(() => {
        if (over) return;
        ask({ print: null }, true);
        print();
      })
      .catch(failed);
    return () => {
      over = true;
    };
  }, [conversation, wanted, view.loading]);
}
