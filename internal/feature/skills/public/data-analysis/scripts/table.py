"""Summaries, groups, rows and charts of a CSV file, with the standard library alone."""

import argparse
import csv
import io
import sys
from html import escape


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def load(path):
    """Reads a table: the names of its columns, and its rows as lists of texts."""
    try:
        with open(path, "rb") as f:
            raw = f.read()
    except OSError as e:
        fail("cannot read %s: %s" % (path, e.strerror))
    for encoding in ("utf-8-sig", "gb18030", "latin-1"):
        try:
            text = raw.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    try:
        dialect = csv.Sniffer().sniff(text[:20000], delimiters=",;\t|")
        delimiter = dialect.delimiter
    except csv.Error:
        delimiter = "\t" if path.endswith(".tsv") else ","
    rows = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(c.strip() for c in r)]
    if not rows:
        fail("%s has no rows" % path)
    names = [n.strip() or "column %d" % (i + 1) for i, n in enumerate(rows[0])]
    body = [(r + [""] * len(names))[: len(names)] for r in rows[1:]]
    return names, body


def number(text):
    """The number that a text is, or None. 1,234.5 and 12% count."""
    t = text.strip().replace(",", "").replace("\u00a0", "")
    scale = 1.0
    if t.endswith("%"):
        t, scale = t[:-1], 0.01
    t = t.lstrip("$€£¥")
    try:
        value = float(t) * scale
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


def show(value):
    if isinstance(value, float):
        return "%d" % value if value == int(value) and abs(value) < 1e15 else ("%.4f" % value).rstrip("0").rstrip(".")
    return str(value)


def column(names, name):
    if name in names:
        return names.index(name)
    low = [n.lower() for n in names]
    if name.lower() in low:
        return low.index(name.lower())
    fail("there is no column %r; there are: %s" % (name, ", ".join(names)))


def write(names, rows, out):
    if out:
        with open(out, "w", encoding="utf-8", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(names)
            writer.writerows([[show(c) for c in r] for r in rows])
        print("wrote %d rows to %s" % (len(rows), out))
        return
    clean = [[show(c).replace("|", "\\|").replace("\n", " ") for c in r] for r in rows]
    print("| " + " | ".join(n.replace("|", "\\|") for n in names) + " |")
    print("|" + "---|" * len(names))
    for r in clean:
        print("| " + " | ".join(r) + " |")


def summary(args):
    names, rows = load(args.file)
    print("%d rows, %d columns\n" % (len(rows), len(names)))
    out = []
    for i, name in enumerate(names):
        cells = [r[i].strip() for r in rows]
        filled = [c for c in cells if c]
        values = [v for v in map(number, filled) if v is not None]
        missing = len(cells) - len(filled)
        if filled and len(values) == len(filled):
            mean = sum(values) / len(values)
            out.append([name, "number", missing, "min %s, max %s, mean %s, sum %s" % tuple(map(show, (min(values), max(values), mean, sum(values))))])
            continue
        count = {}
        for c in filled:
            count[c] = count.get(c, 0) + 1
        top = sorted(count.items(), key=lambda x: (-x[1], x[0]))[:3]
        kind = "text" if not values else "mixed: %d of %d are numbers" % (len(values), len(filled))
        out.append([name, kind, missing, "%d different: %s" % (len(count), ", ".join("%s (%d)" % (k[:40], n) for k, n in top))])
    write(["column", "type", "missing", "what it holds"], out, args.output)


HOW = {"count": len, "sum": sum, "mean": lambda v: sum(v) / len(v), "min": min, "max": max}


def groups(args):
    names, rows = load(args.file)
    by = column(names, args.by)
    of = column(names, args.of) if args.of else None
    if of is None and args.how != "count":
        fail("--how %s needs --of COLUMN" % args.how)
    found, left = {}, 0
    for r in rows:
        value = 1.0 if of is None or args.how == "count" else number(r[of])
        if value is None:
            left += 1
            continue
        found.setdefault(r[by].strip() or "(empty)", []).append(value)
    if left:
        print("%d rows have no number in %r and are left out" % (left, names[of]))
    return [(k, float(HOW[args.how](v))) for k, v in found.items()], names[by]


def group(args):
    found, by = groups(args)
    found.sort(key=lambda x: (-x[1], x[0]))
    what = args.how if not args.of else "%s of %s" % (args.how, args.of)
    write([by, what], found, args.output)


def matches(names, condition):
    for sign in (">=", "<=", "!=", "=", ">", "<", "~"):
        left, found, right = condition.partition(sign)
        if found:
            break
    else:
        fail("--where %r is none: write COLUMN>=10, COLUMN=text or COLUMN~part" % condition)
    at, want = column(names, left.strip()), right.strip()
    limit = number(want)

    def test(row):
        cell = row[at].strip()
        if sign == "~":
            return want.lower() in cell.lower()
        have = number(cell)
        if sign in ("=", "!="):
            same = cell == want or (have is not None and have == limit)
            return same == (sign == "=")
        if have is None or limit is None:
            return False
        return {">=": have >= limit, "<=": have <= limit, ">": have > limit, "<": have < limit}[sign]

    return test


def rows(args):
    names, all_rows = load(args.file)
    tests = [matches(names, c) for c in args.where]
    found = [r for r in all_rows if all(t(r) for t in tests)]
    if args.sort:
        at = column(names, args.sort)
        found.sort(key=lambda r: (number(r[at]) is None, number(r[at]) or 0.0, r[at]), reverse=args.desc)
    print("%d of %d rows" % (len(found), len(all_rows)))
    write(names, found[: args.limit], args.output)


def chart(args):
    if not args.output:
        fail("a chart needs -o FILE.svg")
    found, by = groups(args)
    found.sort(key=lambda x: (-x[1], x[0]))
    found = found[: args.limit]
    if not found:
        fail("there is nothing to draw")
    most = max(abs(v) for _, v in found) or 1.0
    bar, left, width = 26, 190, 760
    height = 70 + bar * len(found)
    svg = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">' % (width, height),
        '<rect width="100%" height="100%" fill="white"/>',
        '<text x="20" y="30" font-size="17" font-weight="bold">%s</text>' % escape(args.title or "%s by %s" % (args.of or "rows", by)),
    ]
    for i, (name, value) in enumerate(found):
        y = 50 + i * bar
        length = abs(value) / most * (width - left - 110)
        label = name if len(name) <= 24 else name[:23] + "…"
        svg.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (left - 8, y + 15, escape(label)))
        svg.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (left, y + 3, length, bar - 8, "#2f6f9f" if value >= 0 else "#b5483a"))
        svg.append('<text x="%.1f" y="%d">%s</text>' % (left + length + 6, y + 15, escape(show(value))))
    svg.append("</svg>")
    with open(args.output, "w", encoding="utf-8") as f:
        f.write("\n".join(svg) + "\n")
    print("wrote a chart of %d bars to %s" % (len(found), args.output))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, do in (("summary", summary), ("group", group), ("rows", rows), ("chart", chart)):
        c = commands.add_parser(name)
        c.set_defaults(do=do)
        c.add_argument("file")
        c.add_argument("-o", "--output")
        if name in ("group", "chart"):
            c.add_argument("--by", required=True)
            c.add_argument("--of")
            c.add_argument("--how", choices=sorted(HOW), default="count")
        if name == "chart":
            c.add_argument("--title")
        if name == "rows":
            c.add_argument("--where", action="append", default=[])
            c.add_argument("--sort")
            c.add_argument("--desc", action="store_true")
        if name in ("rows", "chart"):
            c.add_argument("--limit", type=int, default=50)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
