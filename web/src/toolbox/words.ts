// Words of the toolbox.
import { define, some } from '../lib/i18n';

export const toolbox = define(
  {
    title: 'Toolbox',
    intro:
      'The Python packages that Pudu works with in its sandbox: tables, charts, documents, slides, PDF. Nothing of the machine changes.',
    installed: (n: number) => `${some(n, 'package')} are installed.`,
    outdated: (n: number) => `${some(n, 'package')} of an older Pudu are installed. A newer set can take their place.`,
    missing:
      'It is not installed. Without it Pudu has the standard library alone: no Word, Excel, PowerPoint or PDF, no pandas.',
    unavailable: (why: string) => `It cannot be had here: ${why}`,
    offer: (size: string) =>
      `${size} are downloaded from the index of Python packages, each compared with a hash that Pudu knows.`,
    install: (size: string) => (size ? `Install, ${size}` : 'Install'),
    failed: (why: string) => `It was not installed: ${why}`,
    download: 'Downloads',
    unpack: 'Unpacks',
    compile: 'Translates the modules',
    begins: 'Begins',
    of: (done: string, total: string) => `${done} of ${total}`,
    packages: 'Packages',
    notAdmin: 'An admin installs it.',
    line: 'For Word, Excel, slides, PDF and charts Pudu needs its toolbox.',
    later: 'Not now',
  },
  {
    title: '工具箱',
    intro: 'Pudu 在沙箱中使用的 Python 包：表格、图表、文档、幻灯片、PDF。不会改动这台机器。',
    installed: (n: number) => `已安装 ${n} 个包`,
    outdated: (n: number) => `已安装旧版 Pudu 的 ${n} 个包，可以换成新的一套`,
    missing: '尚未安装。没有它，Pudu 只有标准库：不能处理 Word、Excel、PowerPoint、PDF，也没有 pandas。',
    unavailable: (why: string) => `此处无法使用：${why}`,
    offer: (size: string) => `将从 Python 包索引下载 ${size}，每个文件都会与 Pudu 已知的哈希比对。`,
    install: (size: string) => (size ? `安装，${size}` : '安装'),
    failed: (why: string) => `未能安装：${why}`,
    download: '正在下载',
    unpack: '正在解包',
    compile: '正在编译模块',
    begins: '正在开始',
    of: (done: string, total: string) => `${done} / ${total}`,
    packages: '包',
    notAdmin: '由管理员安装',
    line: '处理 Word、Excel、幻灯片、PDF 和图表需要工具箱。',
    later: '以后再说',
  },
);
