// The start of the client.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { followOutbox } from './chat/talk/useConversation';
import { followNews } from './lib/news/news';
import { whenIdle } from './lib/late';
import { followAddress, pathNow } from './lib/router';
import { followSettings } from './lib/settings';
import { bringWorker, followVersion } from './outside/install';
import { followNotices } from './outside/notices';
import { bringFirst, ThreadPage } from './pages';
import { bringIcons } from './ui/Icon';
import './styles/style.css';

followSettings();
followAddress();
bringWorker();
bringIcons();
const root = document.getElementById('root');
const show = (): void => {
  if (!root) return;
  // Not before there is who hears them: what the news tell first is told once.
  followNews();
  followOutbox();
  followNotices();
  followVersion();
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
  whenIdle(() => void ThreadPage.load().catch(() => {})); // a click on a task waits for nothing
};
void bringFirst(pathNow()).then(show, show); // what could not be had says so where it belongs
