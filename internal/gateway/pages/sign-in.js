// Trades the token for the cookie of a session, and ends the session.
const session = new URL("../session", document.currentScript.src);
const fault = document.getElementById("fault");

// next is where to go after signing in: a page of this server that the address names, else this page again.
function next() {
  const asked = new URLSearchParams(location.search).get("next");
  const url = asked && new URL(asked, location.href);
  return url && url.origin === location.origin ? url.href : location.href;
}

// go loads a page, this one too.
function go(url) {
  if (url === location.href) location.reload();
  else location.replace(url);
}

async function signIn(token) {
  fault.textContent = "The token is wrong.";
  if (!/^[\x21-\x7e]+$/.test(token)) return; // no header can have it
  let res;
  try {
    res = await fetch(session, { method: "POST", headers: { Authorization: "Bearer " + token } });
  } catch {
    fault.textContent = "The server does not answer. Try again.";
    return;
  }
  if (res.ok) return go(next());
  const body = await res.json().catch(() => ({}));
  if (res.status !== 401) fault.textContent = body.detail || "The server says " + res.status + ".";
}

document.getElementById("sign-in")?.addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(document.getElementById("token").value.trim());
});

document.getElementById("sign-out")?.addEventListener("click", async () => {
  const res = await fetch(session, { method: "DELETE" });
  if (res.ok) location.reload();
});
