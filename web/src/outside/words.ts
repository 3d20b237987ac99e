// Words outside of the pages, and of the header line: notifications, what is not there, a new version, the page without
// a network.
import { define } from '../lib/i18n';

export const words = define(
  {
    done: 'Done',
    failed: 'It could not finish',
    asks: 'Waits for you',
    task: 'A task',
    tellMe: 'Tell me when it is done',
    update: 'A new version is ready.',
    load: 'Load it',
    title: 'The server cannot be reached',
    body: 'What you have typed is kept in this browser. Runs go on without you.',
    waits: 'This goes out when the server is there again:',
    again: 'Try again',
  },
  {
    done: '已完成',
    failed: '未能完成',
    asks: '等你回复',
    task: '任务',
    tellMe: '完成时通知我',
    update: '新版本已就绪',
    load: '加载',
    title: '无法连接服务器',
    body: '输入的内容已保存在此浏览器中，运行会继续。',
    waits: '服务器恢复后将发送：',
    again: '重试',
  },
);
