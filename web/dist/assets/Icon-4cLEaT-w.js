import{ft as e}from"./style-Bo9DFS2S.js";var t=`<svg xmlns="http://www.w3.org/2000/svg" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
  <symbol id="i-agent" viewBox="0 0 16 16"><circle cx="8" cy="5.25" r="2.5"/><path d="M3 13.25c.45-2.6 2.4-3.9 5-3.9s4.55 1.3 5 3.9"/></symbol>
  <symbol id="i-alert" viewBox="0 0 16 16"><path d="M7.35 3.1 2.2 12a.75.75 0 0 0 .65 1.15h10.3a.75.75 0 0 0 .65-1.15L8.65 3.1a.75.75 0 0 0-1.3 0zM8 6.5v3"/><circle cx="8" cy="11.3" r=".5" fill="currentColor" stroke-width=".5"/></symbol>
  <symbol id="i-archive" viewBox="0 0 16 16"><rect x="2.25" y="3" width="11.5" height="3" rx=".75"/><path d="M3.25 6v5.75c0 .7.55 1.25 1.25 1.25h7c.7 0 1.25-.55 1.25-1.25V6M6.5 8.75h3"/></symbol>
  <symbol id="i-ask" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.75"/><path d="M6.3 6.4a1.75 1.75 0 1 1 2.6 1.5c-.6.35-.9.7-.9 1.2"/><circle cx="8" cy="11.1" r=".55" fill="currentColor" stroke-width=".5"/></symbol>
  <symbol id="i-bash" viewBox="0 0 16 16"><path d="M2.75 4.5 6.25 8l-3.5 3.5M8.25 11.75h5"/></symbol>
  <symbol id="i-branch" viewBox="0 0 16 16"><circle cx="4.5" cy="3.75" r="1.5"/><circle cx="4.5" cy="12.25" r="1.5"/><circle cx="11.5" cy="5.25" r="1.5"/><path d="M4.5 5.25v5.5M11.5 6.75c0 3.5-6.5 1.5-7 4"/></symbol>
  <symbol id="i-browser" viewBox="0 0 16 16"><rect x="2.25" y="3" width="11.5" height="10" rx="1.75"/><path d="M2.25 6.25h11.5"/><circle cx="4.5" cy="4.65" r=".4" fill="currentColor" stroke-width=".4"/><circle cx="6.2" cy="4.65" r=".4" fill="currentColor" stroke-width=".4"/></symbol>
  <symbol id="i-chart" viewBox="0 0 16 16"><path d="M2.75 13.25h10.5M4.5 10.75V8M8 10.75V3.75M11.5 10.75v-4.5"/></symbol>
  <symbol id="i-chat" viewBox="0 0 16 16"><path d="M4 3h8c.95 0 1.75.8 1.75 1.75v4.5c0 .95-.8 1.75-1.75 1.75H8.25L5 13.5V11H4c-.95 0-1.75-.8-1.75-1.75v-4.5C2.25 3.8 3.05 3 4 3z"/></symbol>
  <symbol id="i-check" viewBox="0 0 16 16"><path d="m3.25 8.5 3.1 3.1 6.4-7"/></symbol>
  <symbol id="i-clip" viewBox="0 0 16 16"><path d="m12.75 7.5-5.1 5.1a3.1 3.1 0 0 1-4.4-4.4l5.3-5.3a2.05 2.05 0 0 1 2.9 2.9l-5.2 5.2a1 1 0 0 1-1.45-1.4l4.6-4.6"/></symbol>
  <symbol id="i-clock" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.75"/><path d="M8 4.75V8l2.25 1.5"/></symbol>
  <symbol id="i-compare" viewBox="0 0 16 16"><path d="M8 2.5v11M5.25 4.75H3.5c-.4 0-.75.35-.75.75v5c0 .4.35.75.75.75h1.75M10.75 4.75h1.75c.4 0 .75.35.75.75v5c0 .4-.35.75-.75.75h-1.75"/></symbol>
  <symbol id="i-copy" viewBox="0 0 16 16"><rect x="5.75" y="5.75" width="7.5" height="7.5" rx="1.5"/><path d="M3.4 10.25c-.5-.15-.9-.6-.9-1.15v-5.1c0-.83.67-1.5 1.5-1.5h5.1c.55 0 1 .4 1.15.9"/></symbol>
  <symbol id="i-db" viewBox="0 0 16 16"><ellipse cx="8" cy="4.25" rx="5" ry="1.9"/><path d="M3 4.25v7.5c0 1.05 2.25 1.9 5 1.9s5-.85 5-1.9v-7.5M3 8c0 1.05 2.25 1.9 5 1.9S13 9.05 13 8"/></symbol>
  <symbol id="i-diff" viewBox="0 0 16 16"><path d="M8 2.75v6M5 5.75h6M5 12.5h6"/></symbol>
  <symbol id="i-dots" viewBox="0 0 16 16"><g fill="currentColor" stroke="none"><circle cx="3.5" cy="8" r="1.2"/><circle cx="8" cy="8" r="1.2"/><circle cx="12.5" cy="8" r="1.2"/></g></symbol>
  <symbol id="i-down" viewBox="0 0 16 16"><path d="M4.5 6.25 8 9.75l3.5-3.5"/></symbol>
  <symbol id="i-download" viewBox="0 0 16 16"><path d="M8 2.75v7.5M4.75 7.25 8 10.5l3.25-3.25M3 13.25h10"/></symbol>
  <symbol id="i-drag" viewBox="0 0 16 16"><g fill="currentColor" stroke="none"><circle cx="6" cy="4" r="1"/><circle cx="10" cy="4" r="1"/><circle cx="6" cy="8" r="1"/><circle cx="10" cy="8" r="1"/><circle cx="6" cy="12" r="1"/><circle cx="10" cy="12" r="1"/></g></symbol>
  <symbol id="i-edit" viewBox="0 0 16 16"><path d="M10.3 3.2a1.3 1.3 0 0 1 1.85 0l.65.65a1.3 1.3 0 0 1 0 1.85L6.1 12.4l-3.1.6.6-3.1zM9 4.5 11.5 7"/></symbol>
  <symbol id="i-enter" viewBox="0 0 16 16"><path d="M12.75 4v3.25c0 .95-.8 1.75-1.75 1.75H3.5M6 6.5 3.5 9 6 11.5"/></symbol>
  <symbol id="i-error" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.75"/><path d="M8 5v3.4"/><circle cx="8" cy="10.8" r=".5" fill="currentColor" stroke-width=".5"/></symbol>
  <symbol id="i-expand" viewBox="0 0 16 16"><path d="M9.5 2.75h3.75V6.5M13.1 2.9 9.25 6.75M6.5 13.25H2.75V9.5M2.9 13.1l3.85-3.85"/></symbol>
  <symbol id="i-eye" viewBox="0 0 16 16"><path d="M1.75 8S4 3.75 8 3.75 14.25 8 14.25 8 12 12.25 8 12.25 1.75 8 1.75 8z"/><circle cx="8" cy="8" r="1.75"/></symbol>
  <symbol id="i-file" viewBox="0 0 16 16"><path d="M9 2.25H4.75c-.7 0-1.25.55-1.25 1.25v9c0 .7.55 1.25 1.25 1.25h6.5c.7 0 1.25-.55 1.25-1.25V5.75zM9 2.25v3.5h3.5"/></symbol>
  <symbol id="i-folder" viewBox="0 0 16 16"><path d="M2.25 4.5c0-.7.55-1.25 1.25-1.25h2.6l1.5 1.5h4.9c.7 0 1.25.55 1.25 1.25v5.5c0 .7-.55 1.25-1.25 1.25h-9c-.7 0-1.25-.55-1.25-1.25z"/></symbol>
  <symbol id="i-fork" viewBox="0 0 16 16"><circle cx="8" cy="3.5" r="1.25"/><circle cx="3.75" cy="12.5" r="1.25"/><circle cx="8" cy="12.5" r="1.25"/><circle cx="12.25" cy="12.5" r="1.25"/><path d="M8 4.75v6.5M8 7.25c-2.9 0-4.25.9-4.25 4M8 7.25c2.9 0 4.25.9 4.25 4"/></symbol>
  <symbol id="i-globe" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.75"/><path d="M2.4 8h11.2M8 2.25c1.75 1.6 2.5 3.6 2.5 5.75S9.75 12.15 8 13.75C6.25 12.15 5.5 10.15 5.5 8S6.25 3.85 8 2.25z"/></symbol>
  <symbol id="i-image" viewBox="0 0 16 16"><rect x="2.25" y="3" width="11.5" height="10" rx="1.75"/><circle cx="5.6" cy="6.3" r="1.1"/><path d="m2.75 11.6 3.1-2.9 2.3 2 2.3-2.5 3 3.1"/></symbol>
  <symbol id="i-info" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.75"/><path d="M8 7.5v3.4"/><circle cx="8" cy="5.2" r=".5" fill="currentColor" stroke-width=".5"/></symbol>
  <symbol id="i-inspect" viewBox="0 0 16 16"><path d="M2.75 4h4.5M5.25 8h6M9 12h4.25"/></symbol>
  <symbol id="i-key" viewBox="0 0 16 16"><circle cx="5.4" cy="10.6" r="2.65"/><path d="m7.3 8.7 5.2-5.2M10.25 5.75 12 7.5"/></symbol>
  <symbol id="i-left" viewBox="0 0 16 16"><path d="M9.75 4.5 6.25 8l3.5 3.5"/></symbol>
  <symbol id="i-link" viewBox="0 0 16 16"><path d="M6.9 9.1a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.9.9M9.1 6.9a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.9-.9"/></symbol>
  <symbol id="i-lock" viewBox="0 0 16 16"><rect x="3.5" y="7" width="9" height="6.25" rx="1.5"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/></symbol>
  <symbol id="i-mail" viewBox="0 0 16 16"><rect x="2.25" y="3.5" width="11.5" height="9" rx="1.5"/><path d="m2.75 4.75 5.25 4 5.25-4"/></symbol>
  <symbol id="i-memory" viewBox="0 0 16 16"><path d="M4.25 2.75h7.5c.3 0 .5.2.5.5v10L8 10.4l-4.25 2.85v-10c0-.3.2-.5.5-.5z"/></symbol>
  <symbol id="i-menu" viewBox="0 0 16 16"><path d="M2.75 4.75h10.5M2.75 8h10.5M2.75 11.25h6.5"/></symbol>
  <symbol id="i-mic" viewBox="0 0 16 16"><rect x="5.75" y="1.75" width="4.5" height="7.5" rx="2.25"/><path d="M3.25 7.5v.25a4.75 4.75 0 0 0 9.5 0V7.5M8 12.5v1.75"/></symbol>
  <symbol id="i-offline" viewBox="0 0 16 16"><path d="m2.75 2.75 10.5 10.5M4.6 5.2C3.4 5.5 2.5 6.6 2.5 7.9c0 1.55 1.25 2.85 2.85 2.85h4.8M7 4.1c2.2-.35 4.3 1 4.6 3.15 1 .15 1.9 1 1.9 2.1 0 .3-.05.6-.2.85"/></symbol>
  <symbol id="i-out" viewBox="0 0 16 16"><path d="M9.25 3H13v3.75M13 3 7.5 8.5M11.5 9.75v2c0 .7-.55 1.25-1.25 1.25h-6C3.55 13 3 12.45 3 11.75v-6c0-.7.55-1.25 1.25-1.25h2"/></symbol>
  <symbol id="i-panel" viewBox="0 0 16 16"><rect x="2.25" y="3" width="11.5" height="10" rx="2"/><path d="M9.75 3v10"/></symbol>
  <symbol id="i-pause" viewBox="0 0 16 16"><path d="M5.5 3.75v8.5M10.5 3.75v8.5"/></symbol>
  <symbol id="i-pin" viewBox="0 0 16 16"><path d="M6 2.5h4l-.5 3.75L11.5 9h-7l2-2.75zM8 9v4.5"/></symbol>
  <symbol id="i-plan" viewBox="0 0 16 16"><path d="m2.75 4.5 1.1 1.1 1.9-2.2M2.75 11l1.1 1.1 1.9-2.2M8.25 4.75h5M8.25 11.25h5"/></symbol>
  <symbol id="i-play" viewBox="0 0 16 16"><path d="M5 3.6v8.8c0 .3.3.5.6.3l7-4.4a.4.4 0 0 0 0-.6l-7-4.4a.4.4 0 0 0-.6.3z"/></symbol>
  <symbol id="i-plug" viewBox="0 0 16 16"><path d="M6 2.5v3M10 2.5v3M4.25 5.5h7.5v2.25a3.75 3.75 0 0 1-7.5 0zM8 11.5v2.25"/></symbol>
  <symbol id="i-plus" viewBox="0 0 16 16"><path d="M8 3.5v9M3.5 8h9"/></symbol>
  <symbol id="i-queue" viewBox="0 0 16 16"><path d="M2.75 4.25h10.5M2.75 8h10.5M2.75 11.75h6"/></symbol>
  <symbol id="i-quote" viewBox="0 0 16 16"><path d="M6.5 5H4.25C3.55 5 3 5.55 3 6.25V8.5h3.25V6M13 5h-2.25c-.7 0-1.25.55-1.25 1.25V8.5h3.25V6M6.25 8.5c0 1.5-.9 2.25-2.25 2.5M12.75 8.5c0 1.5-.9 2.25-2.25 2.5"/></symbol>
  <symbol id="i-read" viewBox="0 0 16 16"><path d="M9 2.25H4.75c-.7 0-1.25.55-1.25 1.25v9c0 .7.55 1.25 1.25 1.25h6.5c.7 0 1.25-.55 1.25-1.25V5.75zM9 2.25v3.5h3.5M6 8.5h4M6 11h2.5"/></symbol>
  <symbol id="i-retry" viewBox="0 0 16 16"><path d="M12.9 8.6a5 5 0 1 1-1.2-4.1L13 5.75M13 2.75v3h-3"/></symbol>
  <symbol id="i-right" viewBox="0 0 16 16"><path d="M6.25 4.5 9.75 8l-3.5 3.5"/></symbol>
  <symbol id="i-search" viewBox="0 0 16 16"><circle cx="7" cy="7" r="4.25"/><path d="m10.25 10.25 3.25 3.25"/></symbol>
  <symbol id="i-send" viewBox="0 0 16 16"><path d="M8 12.75v-9M4 7.5l4-4 4 4"/></symbol>
  <symbol id="i-settings" viewBox="0 0 16 16"><path d="M2.75 5h6.4M12 5h1.25M2.75 11H4M6.85 11h6.4"/><circle cx="10.55" cy="5" r="1.4"/><circle cx="5.4" cy="11" r="1.4"/></symbol>
  <symbol id="i-share" viewBox="0 0 16 16"><path d="M8 9.75v-7M5.25 5.25 8 2.5l2.75 2.75M4.75 7.25H4c-.7 0-1.25.55-1.25 1.25v3.75c0 .7.55 1.25 1.25 1.25h8c.7 0 1.25-.55 1.25-1.25V8.5c0-.7-.55-1.25-1.25-1.25h-.75"/></symbol>
  <symbol id="i-shield" viewBox="0 0 16 16"><path d="m8 2.25 4.75 1.7v3.8c0 3-2 5-4.75 6-2.75-1-4.75-3-4.75-6v-3.8z"/></symbol>
  <symbol id="i-sidebar" viewBox="0 0 16 16"><rect x="2.25" y="3" width="11.5" height="10" rx="2"/><path d="M6.25 3v10"/></symbol>
  <symbol id="i-skill" viewBox="0 0 16 16"><path d="M8 4.4C6.8 3.35 5 2.95 2.75 3v9c2.25-.05 4.05.35 5.25 1.4 1.2-1.05 3-1.45 5.25-1.4V3C11 2.95 9.2 3.35 8 4.4zM8 4.4v9"/></symbol>
  <symbol id="i-spark" viewBox="0 0 16 16"><path d="M8 2.5c.4 3.4 2.1 5.1 5.5 5.5-3.4.4-5.1 2.1-5.5 5.5-.4-3.4-2.1-5.1-5.5-5.5 3.4-.4 5.1-2.1 5.5-5.5z"/></symbol>
  <symbol id="i-star" viewBox="0 0 16 16"><path d="m8 2.6 1.65 3.4 3.7.5-2.7 2.6.65 3.7L8 11l-3.3 1.8.65-3.7-2.7-2.6 3.7-.5z"/></symbol>
  <symbol id="i-steer" viewBox="0 0 16 16"><path d="M3 3v3.25A3.75 3.75 0 0 0 6.75 10H13M10.25 7.25 13 10l-2.75 2.75"/></symbol>
  <symbol id="i-table" viewBox="0 0 16 16"><rect x="2.25" y="3" width="11.5" height="10" rx="1.75"/><path d="M2.25 6.4h11.5M2.25 9.7h11.5M6.5 6.4V13"/></symbol>
  <symbol id="i-theme" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.25"/><path d="M8 2.75a5.25 5.25 0 0 1 0 10.5z" fill="currentColor"/></symbol>
  <symbol id="i-think" viewBox="0 0 16 16"><path d="M1.9 8.6C3 4.9 4.3 4.9 5.4 8s2.4 3.1 3.5 0 2.3-3.1 3.4 0c.5 1.4 1 2.1 1.8 2"/></symbol>
  <symbol id="i-thumbdown" viewBox="0 0 16 16"><path d="M5.25 8.75v-6H3.5a.75.75 0 0 0-.75.75V8c0 .4.35.75.75.75zl2.6 4.6c.9 0 1.65-.75 1.65-1.65L9.1 9.5h3a1.25 1.25 0 0 0 1.2-1.55l-1-4.25c-.15-.55-.65-.95-1.2-.95H5.25"/></symbol>
  <symbol id="i-thumbup" viewBox="0 0 16 16"><path d="M5.25 7.25v6H3.5a.75.75 0 0 1-.75-.75V8a.75.75 0 0 1 .75-.75zl2.6-4.6c.9 0 1.65.75 1.65 1.65L9.1 6.5h3a1.25 1.25 0 0 1 1.2 1.55l-1 4.25c-.15.55-.65.95-1.2.95H5.25"/></symbol>
  <symbol id="i-trash" viewBox="0 0 16 16"><path d="M3 4.5h10M6.25 4.4V3.25c0-.4.35-.75.75-.75h2c.4 0 .75.35.75.75V4.4M4.25 4.6l.55 7.75c.05.65.55 1.1 1.2 1.1h4c.65 0 1.15-.45 1.2-1.1l.55-7.75"/></symbol>
  <symbol id="i-undo" viewBox="0 0 16 16"><path d="M5.5 3.5 2.75 6.25 5.5 9M2.9 6.25h6.35a3.25 3.25 0 0 1 0 6.5H6"/></symbol>
  <symbol id="i-up" viewBox="0 0 16 16"><path d="M4.5 9.75 8 6.25l3.5 3.5"/></symbol>
  <symbol id="i-wrap" viewBox="0 0 16 16"><path d="M2.75 4.25h10.5M2.75 8h8.1a2 2 0 0 1 0 4H8M9.25 10.5 7.75 12l1.5 1.5M2.75 12h2"/></symbol>
  <symbol id="i-x" viewBox="0 0 16 16"><path d="m4.25 4.25 7.5 7.5M11.75 4.25l-7.5 7.5"/></symbol>
</svg>
`,n=e(),r=!1;function i(){if(r)return;r=!0;let e=new DOMParser().parseFromString(t,`image/svg+xml`).documentElement;e.setAttribute(`hidden`,``),document.body.prepend(document.importNode(e,!0))}function a({name:e,className:t=`i`}){return(0,n.jsx)(`svg`,{className:t,"aria-hidden":`true`,children:(0,n.jsx)(`use`,{href:`#i-${e}`})})}export{i as n,a as t};