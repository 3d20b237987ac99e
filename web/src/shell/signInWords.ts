// Words of the form of signing in.
import { define } from '../lib/i18n';

export const signIn = define(
  {
    title: 'Sign in',
    intro: 'This server asks for its token.',
    stays: 'What you were doing stays as it is.',
    token: 'Token',
    hint: 'PUDU_TOKEN of the server, or one of its named tokens.',
    go: 'Sign in',
    wrong: 'That is not the token of this server.',
  },
  {
    title: '登录',
    intro: '此服务器需要令牌。',
    stays: '你正在做的内容会保留。',
    token: '令牌',
    hint: '服务器的 PUDU_TOKEN，或其命名令牌之一。',
    go: '登录',
    wrong: '这不是此服务器的令牌。',
  },
);
