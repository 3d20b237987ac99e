// A file on its way to the server: fetch tells no progress.
import { at } from '../base';
import { asksAgain, sentenceOf, signInsNow, Trouble } from './client';

/** A file that is being sent. */
export interface Moving {
  /** The answer. What is no success is a Trouble; being stopped is none. */
  done: Promise<string>;
  stop: () => void;
}

/** Sends a file to a route, and tells how much of it is there, from 0 to 1. */
export function upload(path: string, file: File, moves: (part: number) => void): Moving {
  let request: XMLHttpRequest;
  const once = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const before = signInsNow();
      request = new XMLHttpRequest();
      request.open('POST', at(path));
      request.upload.onprogress = (e) => moves(e.total > 0 ? e.loaded / e.total : 0);
      request.onload = () => {
        const { status, responseText } = request;
        if (status >= 200 && status < 300) resolve(responseText);
        else if (asksAgain(status, before)) resolve(once());
        else reject(new Trouble(status, sentenceOf(responseText)));
      };
      request.onerror = () => reject(new Trouble(0, ''));
      request.onabort = () => reject(new Error('stopped'));
      const form = new FormData();
      form.append('files', file);
      request.send(form);
    });
  return { done: once(), stop: () => request.abort() };
}
