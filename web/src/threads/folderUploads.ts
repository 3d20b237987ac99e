// A file on its way to a folder.
import { fill, needsSignIn, sentenceOf, Trouble } from '../lib/api/client';
import { at } from '../lib/base';

export interface Sending {
  id: string;
  name: string;
  /** How much of it is there, from 0 to 1. */
  part: number;
  trouble?: Trouble;
  stop: () => void;
}

/** Sends a file; one that is stopped is refused without a Trouble. */
export function sendTo(folder: string, file: File, moves: (part: number) => void): { done: Promise<void>; stop: () => void } {
  const request = new XMLHttpRequest(); // fetch tells no progress
  const done = new Promise<void>((resolve, reject) => {
    request.open('POST', at(fill('/folders/{folder_id}/files', { folder_id: folder })));
    request.upload.onprogress = (e) => moves(e.total > 0 ? e.loaded / e.total : 0);
    request.onload = () => {
      if (request.status < 300) return resolve();
      if (request.status === 401) needsSignIn();
      reject(new Trouble(request.status, sentenceOf(request.responseText)));
    };
    request.onerror = () => reject(new Trouble(0, ''));
    request.onabort = () => reject(new Error('stopped'));
    const form = new FormData();
    form.append('files', file);
    request.send(form);
  });
  return { done, stop: () => request.abort() };
}
