// Asks for the token, keeps it until the tab is closed, and shows the pages of the server with it.
const key = "pudu-token";
const info = new URL("../info", document.currentScript.src);

const ask = (path) => fetch(path, { headers: { Authorization: "Bearer " + sessionStorage.getItem(key) } });

// show puts what the server has at a path in the place of this page: HTML as it is, everything else as text.
async function show(path) {
  const res = await ask(path);
  const text = await res.text();
  if (!(res.headers.get("Content-Type") || "").startsWith("text/html")) {
    const pre = document.createElement("pre");
    pre.textContent = text;
    document.body.replaceChildren(pre);
    return;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  document.title = page.title;
  document.querySelector("style").textContent = page.querySelector("style").textContent;
  document.body.replaceChildren(...page.body.childNodes);
}

const here = () => location.pathname + location.search;

// signIn tries the token that is kept. A wrong one is forgotten.
async function signIn() {
  const res = await ask(info);
  if (res.status !== 401) return show(here());
  sessionStorage.removeItem(key);
  document.getElementById("fault").textContent = "The token is wrong.";
}

document.getElementById("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(key, document.getElementById("token").value.trim());
  signIn();
});

// Links are followed with the token, too.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || link.origin !== location.origin || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  show(here());
});
addEventListener("popstate", () => show(here()));

if (sessionStorage.getItem(key)) signIn();
