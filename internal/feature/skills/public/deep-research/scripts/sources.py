"""Numbers the paragraphs of files, searches them, and checks the citations of a text."""

import argparse
import collections
import json
import math
import os
import re
import sys
from html.parser import HTMLParser

MOST_FILES, MOST_BYTES, LONG = 500, 32 << 20, 1200


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


class Words(HTMLParser):
    """The words of a page, a paragraph a block."""

    def __init__(self):
        super().__init__()
        self.out, self.off = [], 0

    def handle_starttag(self, tag, _attrs):
        self.off += tag in ("script", "style")
        if tag in ("p", "div", "li", "tr", "h1", "h2", "h3", "h4", "br", "section", "article"):
            self.out.append("\n\n")

    def handle_endtag(self, tag):
        self.off -= tag in ("script", "style") and self.off > 0

    def handle_data(self, data):
        if not self.off:
            self.out.append(data)


def text_of(path):
    """The text of a file; an error says why there is none."""
    kind = os.path.splitext(path)[1].lower()
    if os.path.getsize(path) > MOST_BYTES:
        raise ValueError("it has more than 32 MiB")
    if kind == ".pdf":
        import pypdf
        return "\n\n".join(page.extract_text() or "" for page in pypdf.PdfReader(path).pages)
    if kind == ".docx":
        import docx
        found = docx.Document(path)
        rows = [" | ".join(c.text for c in row.cells) for table in found.tables for row in table.rows]
        return "\n\n".join([p.text for p in found.paragraphs] + rows)
    with open(path, "rb") as f:
        raw = f.read()
    if b"\0" in raw[:4096]:
        raise ValueError("it is no text")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            text = raw.decode(encoding)
            break
        except UnicodeDecodeError:
            text = None
    if text is None:
        raise ValueError("it is no text in UTF-8 or GB18030")
    if kind in (".html", ".htm"):
        page = Words()
        page.feed(text)
        return "".join(page.out)
    if kind == ".json":
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1).replace("\n {", "\n\n {")
    if kind in (".csv", ".tsv"):
        return text.replace("\r\n", "\n").replace("\n", "\n\n")
    return text


def paragraphs(text):
    out = []
    for piece in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        piece = re.sub(r"\s+", " ", piece).strip()
        while len(piece) > LONG:
            cut = max(piece.rfind(end, 0, LONG) for end in (". ", "。", "; ", "；", " ")) + 1 or LONG
            out.append(piece[:cut].strip())
            piece = piece[cut:].strip()
        if piece:
            out.append(piece)
    return out


def load(folder, tell=False):
    """The sources: number, path and paragraphs."""
    if not os.path.isdir(folder):
        fail("%s is no folder" % folder)
    paths = sorted(os.path.join(at, n) for at, dirs, names in os.walk(folder) for n in names if not n.startswith(".") and not os.path.islink(os.path.join(at, n)))
    if len(paths) > MOST_FILES:
        print("warning: only the first %d of %d files are read" % (MOST_FILES, len(paths)))
    out = []
    for n, path in enumerate(paths[:MOST_FILES], 1):
        name, found = os.path.relpath(path, folder), []
        try:
            found = paragraphs(text_of(path))
            if not found and tell:
                print("warning: S%d %s has no text; if it is a scan, look at its pages as pictures" % (n, name))
        except ImportError as e:
            print("warning: S%d %s needs the package %s. The person can install it with: pudu toolbox install" % (n, name, e.name))
        except Exception as e:
            if tell:
                print("warning: S%d %s cannot be read: %s" % (n, name, e))
        out.append(("S%d" % n, name, found))
    if not any(found for _, _, found in out):
        fail("there is no text in %s" % folder)
    return out


def terms(text):
    """What is searched for: words, and pairs of Chinese characters."""
    text = text.lower()
    out = [re.sub(r"(?<=\w{3})(es|s|ed|ing)$", "", w) for w in re.findall(r"[a-z0-9\u00c0-\u024f\u0400-\u04ff]+", text)]
    for run in re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+", text):
        out += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return out


def find(args):
    rows = [(key, n, text, collections.Counter(terms(text))) for key, _, found in load(args.folder) for n, text in enumerate(found, 1)]
    often = collections.Counter(t for _, _, _, c in rows for t in c)
    mean = sum(sum(c.values()) for _, _, _, c in rows) / len(rows) or 1
    hits = []
    for key, n, text, c in rows:
        long = 0.3 + 0.9 * sum(c.values()) / mean
        score = sum(math.log(1 + len(rows) / often[t]) * c[t] * 2.2 / (c[t] + long) for t in set(terms(args.words)) if c[t])
        if score:
            hits.append((score, key, n, text))
    hits.sort(key=lambda h: (-h[0], int(h[1][1:]), h[2]))
    for _, key, n, text in hits[: args.limit]:
        print("[%s:%d] %s" % (key, n, text[:500]))
    print("found %d paragraphs of %d" % (len(hits), len(rows)))


def plain(text):
    """A text without what may differ in a quote: spaces, kinds of quotation marks, commas in figures."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return re.sub(r"[\s\"'“”‘’「」*_`]+", "", text).lower()


CITE = re.compile(r"\[(S\d+):(\d+)(?:-(\d+))?\]")
QUOTE = re.compile(r"[\"“「]([^\"”」]{4,})[\"”」]")


def check(args):
    sources = {key: found for key, _, found in load(args.folder)}
    problems = cited = 0
    for line, text in enumerate(open_text(args.text).splitlines(), 1):
        for sentence in re.split(r"(?<=[\]])\s*[.。;；!?！？]\s*|(?<=[.。!?！？])\s+(?!\[S)", text):
            found = CITE.findall(sentence)
            cited += len(found)
            there = []
            for key, first, last in found:
                n, m = int(first), int(last or first)
                if key not in sources or not 1 <= n <= m <= len(sources[key]):
                    problems += 1
                    print("problem: line %d: there is no [%s:%s]" % (line, key, first + ("-" + last if last else "")))
                else:
                    there += sources[key][n - 1 : m]
            bare, whole = CITE.sub("", sentence), plain(" ".join(there))
            figures = [f for f in re.findall(r"\d[\d,]*(?:\.\d+)?", re.sub(r"^\s*(#+|\d+[.)])", "", bare)) if len(f) > 1]
            if there:
                for quote in QUOTE.findall(bare):
                    if plain(quote) not in whole:
                        problems += 1
                        print("problem: line %d: the source does not say %r" % (line, quote[:100]))
                for f in figures:
                    if not re.search(r"(?<![\d.])%s(?![\d])" % re.escape(f.replace(",", "")), whole):
                        problems += 1
                        print("problem: line %d: the figure %s does not stand in the source" % (line, f))
            elif not found and figures and not sentence.startswith("#") and not re.search(r"(?i)guess|estimate|猜|估计", sentence):
                problems += 1
                print("problem: line %d: the figure %s has no source" % (line, figures[0]))
    if not cited:
        problems += 1
        print("problem: the text names no source; write [S1:2] behind each statement")
    print("checked %s: %d citations, %d problems" % (args.text, cited, problems))
    return 1 if problems else 0


def open_text(path):
    try:
        with open(path, encoding="utf-8-sig") as f:
            return f.read()
    except (OSError, UnicodeDecodeError) as e:
        fail("cannot read %s: %s" % (path, e))


def finish(args):
    if check(args):
        return 1
    text, lines = open_text(args.text).rstrip(), []
    used = {key for key, _, _ in CITE.findall(text)}
    for key, name, _ in load(args.folder):
        if key in used:
            lines.append("- %s: %s" % (key, name))
    with open(args.out, "w", encoding="utf-8") as f:
        f.write(text + "\n\n## %s\n\n" % ("来源" if re.search(r"[\u4e00-\u9fff]{8}", text) else "Sources") + "\n".join(lines) + "\n")
    print("wrote %s: %d sources" % (args.out, len(lines)))
    return 0


def show(args):
    for key, name, found in load(args.folder):
        if key == args.source:
            for n in range(max(args.first, 1), min(args.last or args.first + 9, len(found), args.first + 40) + 1):
                print("[%s:%d] %s" % (key, n, found[n - 1]))
            print("%s is %s, %d paragraphs" % (key, name, len(found)))
            return 0
    fail("there is no %s; list shows the sources" % args.source)


def listing(args):
    found = load(args.folder, True)
    for key, name, texts in found:
        print("%s %s: %d paragraphs; begins: %s" % (key, name, len(texts), texts[0][:80] if texts else "-"))
    print("%d sources" % len(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="do", required=True)
    for name in ("list", "find", "read", "check", "finish"):
        c = sub.add_parser(name)
        c.add_argument("folder")
        if name == "find":
            c.add_argument("words")
            c.add_argument("--limit", type=int, default=8)
        if name == "read":
            c.add_argument("source")
            c.add_argument("--from", dest="first", type=int, default=1)
            c.add_argument("--to", dest="last", type=int)
        if name in ("check", "finish"):
            c.add_argument("text")
        if name == "finish":
            c.add_argument("-o", "--out", required=True)
    args = parser.parse_args()
    return {"list": listing, "find": find, "read": show, "check": check, "finish": finish}[args.do](args)


if __name__ == "__main__":
    sys.exit(main())
