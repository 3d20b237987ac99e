// Errors in the words of the pages: a sentence, and where it helps what to do.
import { Trouble } from './api/client';
import { define, type Words } from './i18n';

export const errors = define(
  {
    unreachable: 'The server cannot be reached. Check that it runs, then try again.',
    signedOut: 'You are not signed in. Sign in, then try again.',
    forbidden: (why: string) => why || 'You may not do this.',
    missing: 'This does not exist, or it is not yours.',
    busy: 'Too many requests at once. Wait a moment, then try again.',
    broken: (why: string) => `The server made a mistake: ${why} Try again; the server’s log says more.`,
    other: (why: string) => why || 'That did not work. Try again.',
  },
  {
    unreachable: '无法连接服务器。请确认它正在运行，然后重试。',
    signedOut: '尚未登录。请先登录再重试。',
    forbidden: (why: string) => why || '没有权限。',
    missing: '内容不存在，或不属于你。',
    busy: '请求过多，请稍候再试。',
    broken: (why: string) => `服务器出错：${why} 请重试，详情见服务器日志。`,
    other: (why: string) => why || '未能完成，请重试。',
  },
);

type Said = typeof errors extends Words<infer _> ? (typeof errors)['en'] : never;

/** An error as a sentence. */
export function sentence(error: unknown, w: Said): string {
  if (!(error instanceof Trouble)) return w.other(error instanceof Error ? error.message : '');
  switch (true) {
    case error.status === 0:
      return w.unreachable;
    case error.status === 401:
      return w.signedOut;
    case error.status === 403:
      return w.forbidden(error.message);
    case error.status === 404:
      return w.missing;
    case error.status === 429:
      return w.busy;
    case error.status >= 500:
      return w.broken(error.message);
    default:
      return w.other(error.message);
  }
}
