// Words of the settings.
import { define } from '../lib/i18n';

export const words = define(
  {
    title: 'Settings',
    general: 'General',
    intro: 'How Pudu looks to you. It is kept in this browser.',
    language: 'Language',
    theme: 'Theme',
    system: 'As the system',
    light: 'Light',
    dark: 'Dark',
    keys: 'Keys',
    letters: 'Single letters are keys where no field has the focus',
  },
  {
    title: '设置',
    general: '通用',
    intro: 'Pudu 的外观，仅保存在此浏览器中。',
    language: '语言',
    theme: '主题',
    system: '跟随系统',
    light: '浅色',
    dark: '深色',
    keys: '快捷键',
    letters: '未聚焦输入框时，单个字母可作为快捷键',
  },
);
