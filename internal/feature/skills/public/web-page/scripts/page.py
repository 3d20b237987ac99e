"""Begins, checks and packs a web page."""

import argparse
import base64
import os
import re
import sys
from html import escape
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

VOID = set("area base br col embed hr img input link meta source track wbr".split())
OPTIONAL = set("p li dt dd tr td th tbody thead tfoot option colgroup".split())
KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".svg": "image/svg+xml", ".webp": "image/webp",
         ".woff2": "font/woff2", ".mp3": "audio/mpeg", ".mp4": "video/mp4"}
MOST = 16 << 20

PAGE = """<!DOCTYPE html>
<html lang="%s">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<header>
<h1>%s</h1>
</header>
<main>
</main>
<footer>
</footer>
<script src="script.js"></script>
</body>
</html>
"""
STYLE = """:root {
  --ink: #1d2b38; --paper: #fdfdfb; --soft: #eef2f5; --accent: #a4402a; --wide: 62rem;
  --font: system-ui, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif;
}
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecef; --paper: #14181c; --soft: #20272e; --accent: #f0937d; } }
* { box-sizing: border-box; }
body { margin: 0; font: 1.05rem/1.65 var(--font); color: var(--ink); background: var(--paper); }
header, main, footer { max-width: var(--wide); margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 3rem); }
h1 { font-size: clamp(2rem, 6vw, 3.6rem); line-height: 1.1; margin: 0 0 0.5rem; }
h2 { margin: 2.5rem 0 0.5rem; line-height: 1.25; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
img, svg, video { max-width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 0.45rem 0.7rem; text-align: start; border-bottom: 1px solid var(--soft); }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); }
.card { background: var(--soft); padding: 1.2rem; border-radius: 0.6rem; }
button, .button { font: inherit; padding: 0.6rem 1.2rem; border: 0; border-radius: 0.4rem; background: var(--accent); color: var(--paper); cursor: pointer; }
@media print { button { display: none; } body { background: none; } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
"""


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def load(path):
    try:
        with open(path, encoding="utf-8-sig") as f:
            return f.read()
    except (OSError, UnicodeDecodeError) as e:
        fail("cannot read %s: %s" % (path, e))


def new(args):
    os.makedirs(args.folder, exist_ok=True)
    title = escape(args.title)
    files = {"index.html": PAGE % (escape(args.lang), title, title), "style.css": STYLE, "script.js": '"use strict";\n'}
    for name, text in files.items():
        path = os.path.join(args.folder, name)
        if os.path.exists(path):
            fail("%s is there already; take another folder" % path)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    print("began %s: %s" % (args.folder, ", ".join(files)))


class Look(HTMLParser):
    """Reads a page and notes its problems."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.problems, self.open, self.level = folder, [], [], 0
        self.ids, self.anchors, self.labels, self.fields, self.seen = {}, [], set(), [], {}
        self.words = self.marked = 0

    def problem(self, text):
        self.problems.append((self.getpos()[0], text))

    def handle_decl(self, decl):
        self.seen["doctype"] = decl.lower() == "doctype html"

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID and tag in self.open_tags() and not self.within("svg"):
            self.handle_endtag(tag)
        elif self.open and self.open[-1][0] == tag:
            self.open.pop()

    def open_tags(self):
        return [t for t, _ in self.open]

    def within(self, tag):
        return tag in self.open_tags()

    def handle_starttag(self, tag, attrs):
        a = {k: v or "" for k, v in attrs}
        self.seen[tag] = self.seen.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append((tag, self.getpos()[0]))
        if a.get("id") in self.ids:
            self.problem("the id %r stands there twice" % a["id"])
        elif "id" in a:
            self.ids[a["id"]] = True
        self.structure(tag, a)
        for key in ("src", "href", "poster", "data"):
            if key in a:
                self.leads(tag, key, a[key].strip())

    def structure(self, tag, a):
        if tag == "html" and not a.get("lang"):
            self.problem("html has no lang")
        if tag == "meta" and a.get("name") == "viewport":
            self.seen["viewport"] = True
        if tag == "meta" and "charset" in a:
            self.seen["charset"] = True
        if tag == "img" and "alt" not in a:
            self.problem("img %s has no alt" % a.get("src", "")[:60])
        if re.fullmatch("h[1-6]", tag):
            if int(tag[1]) > self.level + 1:
                self.problem("%s follows %s; no level may be left out" % (tag, "h%d" % self.level if self.level else "nothing"))
            self.level = int(tag[1])
        if tag == "label" and a.get("for"):
            self.labels.add(a["for"])
        plain = tag in ("select", "textarea") or tag == "input" and a.get("type", "text") not in ("hidden", "submit", "button", "reset", "image")
        if plain and not self.within("label") and not a.get("aria-label") and not a.get("aria-labelledby"):
            self.fields.append((self.getpos()[0], tag, a.get("id")))

    def leads(self, tag, key, to):
        kind = urlsplit(to).scheme
        if kind == "javascript":
            self.problem("%s leads to a script; use a button" % to[:60])
        elif tag == "a" and key == "href" and kind in ("http", "https", "mailto", "tel") or kind in ("data", "blob"):
            return
        elif kind or to.startswith("//"):
            self.problem("%s of %s comes from the network: %s" % (key, tag, to[:80]))
        elif to.startswith("#"):
            self.anchors.append((self.getpos()[0], to[1:]))
        elif not to or local(self.folder, to) is None:
            self.problem("%s of %s leads to %r, which is no file in the folder of the page" % (key, tag, to[:80]))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        while self.open and self.open[-1][0] != tag and self.open[-1][0] in OPTIONAL and self.within(tag):
            self.open.pop()
        if self.open and self.open[-1][0] == tag:
            self.open.pop()
        elif self.within(tag):
            while self.open and self.open[-1][0] != tag:
                name, line = self.open.pop()
                self.problem("<%s> of line %d is not closed before </%s>" % (name, line, tag))
            self.open.pop()
        else:
            self.problem("</%s> closes nothing" % tag)

    def handle_data(self, data):
        if not self.within("script") and not self.within("style") and not self.within("title"):
            self.words += len(data.split())

    def end(self):
        for tag, line in self.open:
            if tag not in OPTIONAL:
                self.problems.append((line, "<%s> is not closed" % tag))
        for what, why in (("doctype", "<!DOCTYPE html> is missing"), ("title", "there is no title"), ("h1", "there is no h1"),
                          ("main", "there is no main"), ("viewport", "the meta viewport is missing"), ("charset", "the meta charset is missing")):
            if not self.seen.get(what):
                self.problems.append((1, why))
        for line, tag, key in self.fields:
            if key not in self.labels:
                self.problems.append((line, "%s has no label" % tag))
        for line, to in self.anchors:
            if to and unquote(to) not in self.ids:
                self.problems.append((line, "#%s leads nowhere" % to))
        if self.words < 5:
            self.problems.append((1, "the page has no text"))
        return sorted(set(self.problems))


def local(folder, to):
    """The file that an address names in the folder of the page, or None."""
    path = os.path.realpath(os.path.join(folder, unquote(urlsplit(to).path)))
    inside = path.startswith(os.path.realpath(folder) + os.sep)
    return path if inside and os.path.isfile(path) else None


def check(args):
    look = Look(os.path.dirname(os.path.abspath(args.file)))
    text = load(args.file)
    look.feed(text)
    look.close()
    problems = look.end()
    for css in re.findall(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")\s]+)", text):
        problems.append((1, "a style comes from the network: " + css[:80]))
    for line, why in problems[:60]:
        print("problem: line %d: %s" % (line, why))
    print("checked %s: %d problems, %d elements, %d words" % (args.file, len(problems), sum(v for v in look.seen.values() if v is not True), look.words))
    return 1 if problems else 0


def data(path):
    kind = KINDS.get(os.path.splitext(path)[1].lower())
    if kind is None:
        fail("%s is of a kind that a page cannot hold; there are: %s" % (path, " ".join(KINDS)))
    if os.path.getsize(path) > MOST:
        fail("%s has more than 16 MiB; make it smaller" % path)
    with open(path, "rb") as f:
        return "data:%s;base64,%s" % (kind, base64.b64encode(f.read()).decode("ascii"))


def styles(path):
    """The text of a style sheet with its pictures inside."""
    folder = os.path.dirname(path)

    def put(m):
        to = local(folder, m.group(2))
        return "url(%s)" % data(to) if to else m.group(0)

    return re.sub(r"url\(\s*(['\"]?)([^'\")]+)\1\s*\)", put, load(path)).replace("</style", "<\\/style")


def pack(args):
    folder, text = os.path.dirname(os.path.abspath(args.file)), load(args.file)
    inside = []

    def attribute(tag, key):
        m = re.search(r"\s%s\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)" % key, tag, re.I)
        to = m.group(1).strip("\"'") if m else ""
        path = local(folder, to) if to and not urlsplit(to).scheme else None
        if path:
            inside.append(to)
        return m, path

    def sheet(m):
        if not re.search(r"rel\s*=\s*[\"']?stylesheet", m.group(0), re.I):
            return m.group(0)
        _, path = attribute(m.group(0), "href")
        return "<style>\n%s</style>" % styles(path) if path else m.group(0)

    def script(m):
        found, path = attribute(m.group(1), "src")
        if not path:
            return m.group(0)
        return "<script%s>\n%s</script>" % (m.group(1).replace(found.group(0), ""), load(path).replace("</script", "<\\/script"))

    def picture(m):
        found, path = attribute(m.group(0), "src")
        return m.group(0).replace(found.group(0), ' src="%s"' % data(path)) if path else m.group(0)

    text = re.sub(r"<(?:img|source|audio|video)\b[^>]*>", picture, text, flags=re.I)
    text = re.sub(r"<link\b[^>]*>", sheet, text, flags=re.I)
    text = re.sub(r"<script\b([^>]*)>\s*</script>", script, text, flags=re.I)
    with open(args.out, "w", encoding="utf-8") as f:
        f.write(text)
    print("packed %s: %d files are inside (%s), %d bytes" % (args.out, len(inside), ", ".join(inside), len(text.encode())))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="what", required=True)
    c = sub.add_parser("new")
    c.add_argument("folder")
    c.add_argument("--title", required=True)
    c.add_argument("--lang", default="en")
    sub.add_parser("check").add_argument("file")
    c = sub.add_parser("pack")
    c.add_argument("file")
    c.add_argument("-o", "--out", required=True)
    args = parser.parse_args()
    return {"new": new, "check": check, "pack": pack}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())
