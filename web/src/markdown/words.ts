// Words of Markdown: code, formulas, diagrams, tables.
import { define } from '../lib/i18n';

export const words = define(
  {
    code: 'Code',
    table: 'Table, scrolls sideways',
    formula: 'Formula',
    diagram: 'Diagram',
    source: 'Source',
    larger: 'Larger',
    tooLarge: 'This diagram is too large to be drawn.',
    tooLong: 'This diagram takes too long to draw.',
    wrong: 'This diagram cannot be drawn; its source is below.',
    notThere: 'The part that draws diagrams could not be loaded.',
  },
  {
    code: '代码',
    table: '表格，可横向滚动',
    formula: '公式',
    diagram: '图表',
    source: '源码',
    larger: '放大',
    tooLarge: '图表过大，无法绘制',
    tooLong: '绘制图表用时过长',
    wrong: '图表无法绘制，以下是源码',
    notThere: '无法加载绘图组件',
  },
);
