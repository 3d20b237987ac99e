"""Collects papers into a bibliography, makes a table of them, and numbers the references of a review."""

import argparse
import csv
import os
import re
import sys
import unicodedata

MOST, MOST_BYTES = 500, 32 << 20
COLUMNS = ["question", "method", "data", "result", "limits", "in or out, and why"]


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def read(path):
    try:
        if os.path.getsize(path) > MOST_BYTES:
            raise ValueError("it has more than 32 MiB")
        with open(path, encoding="utf-8-sig") as f:
            return f.read()
    except (OSError, ValueError) as e:
        fail("cannot read %s: %s" % (path, e))


def value(text, at):
    """A value of a BibTeX field at a place, and the place behind it."""
    if text[at : at + 1] == "{":
        depth, i = 0, at
        while i < len(text):
            depth += {"{": 1, "}": -1}.get(text[i], 0)
            i += 1
            if depth == 0:
                return text[at + 1 : i - 1], i
        return text[at + 1 :], len(text)
    if text[at : at + 1] == '"':
        end = text.find('"', at + 1)
        return (text[at + 1 : end], end + 1) if end > 0 else (text[at + 1 :], len(text))
    m = re.compile(r"[^,}\s]*").match(text, at)
    return m.group(0), m.end()


def parse(text, where):
    """The entries of a BibTeX file, by key."""
    out = {}
    for m in re.finditer(r"^\s*@(\w+)\s*\{\s*([^\s,{}]+)\s*,", text, re.M):
        kind, key, at = m.group(1).lower(), m.group(2), m.end()
        if kind in ("comment", "string", "preamble"):
            continue
        entry = {"kind": kind}
        while True:
            field = re.compile(r"\s*,?\s*([\w-]+)\s*=\s*").match(text, at)
            if not field:
                break
            got, at = value(text, field.end())
            entry[field.group(1).lower()] = re.sub(r"\s+", " ", got).strip()
        if key in out:
            print("warning: %s has %s twice; the first one counts" % (where, key))
        out.setdefault(key, entry)
        if len(out) > MOST:
            fail("%s has more than %d entries" % (where, MOST))
    return out


def key_of(entry, name, taken):
    first = re.split(r",|\s+and\s+|\s", entry.get("author", "") or entry.get("title", "") or name)[0]
    base = re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", first).encode("ascii", "ignore").decode().lower()) or "paper"
    base, n = base + entry.get("year", ""), 0
    while base + ("" if n == 0 else chr(96 + n) if n < 27 else str(n)) in taken:
        n += 1
    return base + ("" if n == 0 else chr(96 + n) if n < 27 else str(n))


def guess(path):
    """What a paper seems to say of itself."""
    if path.lower().endswith(".pdf"):
        import pypdf
        text = "\n".join(p.extract_text() or "" for p in pypdf.PdfReader(path).pages[:3])
    else:
        text = read(path)
    lines = [line.strip(" #*\t") for line in text.splitlines() if line.strip(" #*\t")]
    if not lines:
        raise ValueError("it has no text")
    entry = {"kind": "misc", "title": lines[0][:300], "note": "check", "file": os.path.basename(path)}
    doi = re.search(r"\b10\.\d{4,9}/[^\s\"<>{}]+", text)
    year = re.search(r"\b(19[5-9]\d|20[0-4]\d)\b", text[:3000])
    abstract = re.search(r"(?is)(?:\babstract|摘要)[\s:.：—-]*(.{40,1500}?)(?:\n\s*\n|\bkeywords\b|关键词|\b1\.?\s+introduction\b|\Z)", text)
    author = re.search(r"(?im)^(?:authors?|by|作者)[:：\s]+(.+)$", text[:3000])
    for name, found in (("doi", doi and doi.group(0).rstrip(".,;)")), ("year", year and year.group(1)),
                        ("abstract", abstract and re.sub(r"\s+", " ", abstract.group(1)).strip()),
                        ("author", author and re.sub(r"\s*[,，、;；]\s*", " and ", author.group(1).strip()))):
        if found:
            entry[name] = found
    return entry


def draft(args):
    if not os.path.isdir(args.folder):
        fail("%s is no folder" % args.folder)
    entries, left = {}, 0
    paths = sorted(os.path.join(at, n) for at, _, names in os.walk(args.folder) for n in names if not os.path.islink(os.path.join(at, n)))
    for path in paths[:MOST]:
        if path.endswith(".bib"):
            entries.update({k: e for k, e in parse(read(path), path).items() if k not in entries})
    known = {re.sub(r"\W", "", e.get("title", "").lower()) for e in entries.values()}
    for path in paths[:MOST]:
        if os.path.splitext(path)[1].lower() not in (".pdf", ".txt", ".md"):
            continue
        try:
            entry = guess(path)
        except ImportError as e:
            fail("%s needs the package %s. The person can install it with: pudu toolbox install" % (path, e.name))
        except Exception as e:
            print("warning: %s: %s" % (path, e))
            left += 1
            continue
        if re.sub(r"\W", "", entry["title"].lower()) not in known:
            entries[key_of(entry, os.path.basename(path), entries)] = entry
    if not entries:
        fail("there is no .bib, .pdf, .txt or .md in %s" % args.folder)
    with open(args.out, "w", encoding="utf-8") as f:
        for key, entry in sorted(entries.items()):
            f.write("@%s{%s,\n%s\n}\n\n" % (entry["kind"], key, "\n".join("  %s = {%s}," % (k, v.replace("{", "").replace("}", "")) for k, v in entry.items() if k != "kind")))
    print("wrote %s: %d papers, %d to check, %d could not be read" % (args.out, len(entries), sum(e.get("note") == "check" for e in entries.values()), left))
    return 0


def names(entry, most=3):
    people = [re.sub(r"^(.*?),\s*(.*)$", r"\2 \1", p.strip()) for p in entry.get("author", "").split(" and ") if p.strip()]
    return ", ".join(people[:most]) + (" et al." if len(people) > most else "")


def safe(text):
    """A cell that no spreadsheet takes for a formula."""
    return "'" + text if text[:1] in "=+-@\t" and text else text


def matrix(args):
    entries = parse(read(args.file), args.file)
    with open(args.out, "w", encoding="utf-8-sig", newline="") as f:
        w = csv.writer(f)
        w.writerow(["key", "authors", "year", "title"] + COLUMNS)
        for key, e in sorted(entries.items(), key=lambda each: (each[1].get("year", ""), each[0])):
            w.writerow([safe(c) for c in (key, names(e), e.get("year", ""), e.get("title", ""))] + [""] * len(COLUMNS))
    print("wrote %s: %d papers" % (args.out, len(entries)))
    return 0


def reference(entry):
    parts = [names(entry, 6), "(%s)" % entry["year"] if entry.get("year") else "", entry.get("title", "").replace("{", "").replace("}", "")]
    where = entry.get("journal") or entry.get("booktitle") or entry.get("publisher") or ""
    if where:
        where = "*%s*" % where + (" " + entry["volume"] if entry.get("volume") else "") + (", " + entry["pages"].replace("--", "–") if entry.get("pages") else "")
    doi = "doi:" + entry["doi"] if entry.get("doi") else entry.get("url", "")
    return ". ".join(p.rstrip(".") for p in parts + [where, doi] if p) + "."


def finish(args):
    text, entries = read(args.file), parse(read(args.bib), args.bib)
    problems, order = [], []
    for n, line in enumerate(text.splitlines(), 1):
        for group in re.findall(r"\[(@[^\]]+)\]", line):
            for key in re.split(r"\s*;\s*", group):
                key = key.strip().lstrip("@")
                if key not in entries:
                    problems.append("line %d: there is no paper %r in %s" % (n, key, args.bib))
                elif key not in order:
                    order.append(key)
    problems += ["%s is never cited; cite it, or take it out of %s" % (key, args.bib) for key in sorted(entries) if key not in order]
    problems += ["%s is a guess: compare it with the paper and take the note out" % key for key in order if entries[key].get("note") == "check"]
    for problem in problems:
        print("problem: " + problem)
    if problems:
        print("not written: %d problems" % len(problems))
        return 1

    def number(m):
        return "[" + ", ".join(map(str, sorted(order.index(k.strip().lstrip("@")) + 1 for k in m.group(1).split(";")))) + "]"

    text = re.sub(r"\[(@[^\]]+)\]", number, text).rstrip()
    head = "参考文献" if re.search(r"[\u4e00-\u9fff]{8}", text) else "References"
    with open(args.out, "w", encoding="utf-8") as f:
        f.write("%s\n\n## %s\n\n%s\n" % (text, head, "\n".join("%d. %s" % (n, reference(entries[k])) for n, k in enumerate(order, 1))))
    print("wrote %s: %d references" % (args.out, len(order)))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="do", required=True)
    for name, what in (("draft", "folder"), ("matrix", "file"), ("finish", "file")):
        c = sub.add_parser(name)
        c.add_argument(what)
        c.add_argument("-o", "--out", required=True)
        if name == "finish":
            c.add_argument("--bib", required=True)
    args = parser.parse_args()
    return {"draft": draft, "matrix": matrix, "finish": finish}[args.do](args)


if __name__ == "__main__":
    sys.exit(main())
