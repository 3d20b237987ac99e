// The start of the client.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { followOutbox } from './chat/talk/useConversation';
import { followNews } from './lib/news/news';
import { followAddress } from './lib/router';
import { followSettings } from './lib/settings';
import { bringWorker, followVersion } from './outside/install';
import { followNotices } from './outside/notices';
import { bringIcons } from './ui/Icon';
import './styles/style.css';

followSettings();
followAddress();
followNews();
followOutbox();
followNotices();
followVersion();
bringWorker();
bringIcons();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
