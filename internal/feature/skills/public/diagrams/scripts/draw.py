"""Draws a flow, a sequence or a timeline as an SVG, from lines of text."""

import argparse
import re
import sys
import unicodedata
from html import escape

MOST, SIZE = 60, 14
INK, LINE, FILL, SOFT = "#1d2b38", "#5b6f82", "#eaf2f9", "#fff6e0"
SHAPES = [("store", "[(", ")]"), ("box", "[", "]"), ("round", "(", ")"), ("question", "{", "}")]


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def width(text, size=SIZE):
    """How wide a text is, about: Chinese is as wide as high."""
    return sum(size if unicodedata.east_asian_width(c) in "WF" else size * 0.58 for c in text)


def wrap(text, most):
    """Lines of a text that are not wider than that, if it can be broken."""
    lines, line = [], ""
    for word in re.findall(r"[\u2e80-\uffff]\s*|[^\s\u2e80-\uffff]+\s*", text):
        if line and width(line + word.rstrip()) > most:
            lines.append(line.rstrip())
            line = ""
        line += word
    return lines + [line.rstrip()]


class Canvas:
    """The parts of a picture, and how large it has become."""

    def __init__(self):
        self.parts, self.w, self.h = [], 0.0, 0.0

    def reach(self, x, y):
        self.w, self.h = max(self.w, x), max(self.h, y)

    def text(self, x, y, lines, size=SIZE, anchor="middle", weight="normal", halo=False):
        y -= (len(lines) - 1) * size * 0.65
        extra = ' stroke="#fff" stroke-width="5" paint-order="stroke"' if halo else ""
        for n, line in enumerate(lines):
            self.parts.append('<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s" font-weight="%s"%s fill="%s">%s</text>'
                              % (x, y + n * size * 1.3 + size * 0.35, size, anchor, weight, extra, INK, escape(line)))
            side = {"middle": 0.5, "start": 1.0}[anchor]
            self.reach(x + width(line, size) * side, y + n * size * 1.3 + size)

    def path(self, d, arrow=True, dashed=False):
        self.parts.append('<path d="%s" fill="none" stroke="%s" stroke-width="1.5"%s%s/>'
                          % (d, LINE, ' marker-end="url(#a)"' if arrow else "", ' stroke-dasharray="6 4"' if dashed else ""))

    def shape(self, kind, x, y, w, h):
        style = 'fill="%s" stroke="%s" stroke-width="1.5"' % (SOFT if kind in ("question", "note") else FILL, LINE)
        left, top = x - w / 2, y - h / 2
        if kind == "question":
            points = "%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f" % (x, top, left + w, y, x, top + h, left, y)
            self.parts.append('<polygon points="%s" %s/>' % (points, style))
        elif kind == "store":
            d = "M%.1f %.1fv%.1fa%.1f 8 0 0 0 %.1f 0v-%.1fa%.1f 8 0 0 0 -%.1f 0a%.1f 8 0 0 0 %.1f 0" % (
                left, top + 8, h - 16, w / 2, w, h - 16, w / 2, w, w / 2, w)
            self.parts.append('<path d="%s" %s/>' % (d, style))
        else:
            round_ = h / 2 if kind == "round" else 4
            self.parts.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f" %s/>' % (left, top, w, h, round_, style))
        self.reach(left + w, top + h)

    def save(self, out):
        head = ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
                'font-family="\'Noto Sans\',\'Noto Sans CJK SC\',\'Microsoft YaHei\',\'PingFang SC\',sans-serif">\n'
                '<defs><marker id="a" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
                '<path d="M0 0L8 4L0 8z" fill="%s"/></marker></defs>\n<rect width="100%%" height="100%%" fill="#fff"/>\n')
        w, h = int(self.w + 30), int(self.h + 30)
        with open(out, "w", encoding="utf-8") as f:
            f.write(head % (w, h, w, h, LINE) + "\n".join(self.parts) + "\n</svg>\n")


def node(text, nodes, where):
    """The id of what stands at an end of an arrow; its name and form are noted."""
    text = text.strip()
    m = re.fullmatch(r"([\w.\-]+)\s*([\[({].*)?", text)
    if not m:
        m = re.fullmatch(r"([^\[\](){}]+)()", text)
    if not m:
        fail("%s: cannot read %r; write ID[words], ID(words), ID{words} or ID" % (where, text))
    key, rest = m.group(1).strip(), (m.group(2) or "").strip()
    if rest:
        for kind, begin, end in SHAPES:
            if rest.startswith(begin) and rest.endswith(end) and len(rest) > len(begin) + len(end):
                nodes[key] = (kind, rest[len(begin) : -len(end)].strip().strip('"'))
                break
        else:
            fail("%s: the brackets of %r do not fit together" % (where, text))
    nodes.setdefault(key, ("box", key))
    if len(nodes) > MOST:
        fail("%s: more than %d boxes; split the diagram" % (where, MOST))
    return key


ARROW = re.compile(r"\s(-->|->|--)\s")


def layers(nodes, edges):
    """The row of each box: behind all that lead to it, where arrows that lead back are left out."""
    back, state = set(), {}

    def visit(n):
        state[n] = 1
        for i, (a, b, _, _) in enumerate(edges):
            if a == n:
                if state.get(b) == 1:
                    back.add(i)
                elif b not in state:
                    visit(b)
        state[n] = 2

    for n in nodes:
        if n not in state:
            visit(n)
    row = {n: 0 for n in nodes}
    for _ in nodes:
        for i, (a, b, _, _) in enumerate(edges):
            if i not in back:
                row[b] = max(row[b], row[a] + 1)
    return row, back


def arranged(nodes, edges, row):
    """The rows, each in an order with few crossings."""
    rows = [[n for n in nodes if row[n] == r] for r in range(max(row.values()) + 1)]
    for turn in range(8):
        place = {n: (i + 0.5) / len(line) for line in rows for i, n in enumerate(line)}
        for line in rows:
            def middle(n):
                near = [place[b if a == n else a] for a, b, _, _ in edges if n in (a, b) and a != b and (row[a if b == n else b] < row[n]) == (turn % 2 == 0)]
                return sum(near) / len(near) if near else place[n]
            line.sort(key=middle)
    return rows


def flow(lines, title, down, c):
    nodes, edges = {}, []
    for where, line in lines:
        parts = ARROW.split(line)
        if len(parts) == 1:
            node(parts[0], nodes, where)
            continue
        last, colon, words = parts[-1].partition(": ")
        if not colon and parts[-1].endswith(":"):
            last = parts[-1][:-1]
        parts[-1] = last
        ends = [node(p, nodes, where) for p in parts[::2]]
        edges += [(a, b, how, words.strip() if i == len(ends) - 2 else "") for i, (a, b, how) in enumerate(zip(ends, ends[1:], parts[1::2]))]
    if not nodes:
        fail("there is no box; write A -> B")
    row, back = layers(nodes, edges)
    rows = arranged(nodes, edges, row)
    texts, size = {}, {}
    for n, (kind, words) in nodes.items():
        texts[n] = wrap(words, 150)
        w, h = max(map(width, texts[n])) + 34, len(texts[n]) * SIZE * 1.3 + 22
        size[n] = (w * 1.35 + 20, h * 1.5 + 8) if kind == "question" else (w + 8, h + 14) if kind == "store" else (w, h)
    along, across = (1, 0) if down else (0, 1)
    gap = max([56] + [width(words, 12) + 40 for _, _, _, words in edges if words and not down])
    long = max(sum(size[n][across] + 36 for n in line) for line in rows)
    at, start = {}, 70.0 if title else 30.0
    if not down:
        start = 40.0
    for line in rows:
        deep = max(size[n][along] for n in line)
        x = 40 + (long - sum(size[n][across] + 36 for n in line)) / 2 + (50 if title and not down else 0)
        for n in line:
            mine, other = x + 18 + size[n][across] / 2, start + deep / 2
            at[n] = (mine, other) if down else (other, mine)
            x += size[n][across] + 36
        start += deep + gap
    edge = max(at[n][across] + size[n][across] / 2 for n in nodes) + 24
    labels = []
    for i, (a, b, how, words) in enumerate(edges):
        (ax, ay), (bx, by) = at[a], at[b]
        far = i in back or abs(row[b] - row[a]) != 1
        if down:
            ay, by = ay + size[a][1] / 2, by - size[b][1] / 2
        else:
            ax, bx = ax + size[a][0] / 2, bx - size[b][0] / 2
        if far:  # around the outside
            edge += 18
            if down:
                ax, ay, bx, by = at[a][0] + size[a][0] / 2, at[a][1], at[b][0] + size[b][0] / 2, at[b][1]
                by += 6 if a == b else 0
                d = "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" % (ax, ay, edge + 30, ay, edge + 30, by, bx, by)
                middle = (0.125 * ax + 0.75 * (edge + 30) + 0.125 * bx, (ay + by) / 2)
            else:
                ax, ay, bx, by = at[a][0], at[a][1] + size[a][1] / 2, at[b][0], at[b][1] + size[b][1] / 2
                bx += 6 if a == b else 0
                d = "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" % (ax, ay, ax, edge + 30, bx, edge + 30, bx, by)
                middle = ((ax + bx) / 2, 0.125 * ay + 0.75 * (edge + 30) + 0.125 * by)
            c.reach(*((edge + 30, 0) if down else (0, edge + 30)))
        else:
            mx, my = (ax + bx) / 2, (ay + by) / 2
            turn = (ax, my, bx, my) if down else (mx, ay, mx, by)
            d = "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" % ((ax, ay) + turn + (bx, by))
            middle = (mx, my)
        c.path(d, arrow=how != "--", dashed=how == "-->")
        if words:
            labels.append((middle, words))
    for n, (kind, _) in nodes.items():
        c.shape(kind, at[n][0], at[n][1], *size[n])
        c.text(at[n][0], at[n][1] + (4 if kind == "store" else 0), texts[n])
    for (x, y), words in labels:
        c.text(x, y, [words], 12, halo=True)
    return "%d boxes, %d arrows" % (len(nodes), len(edges))


def sequence(lines, _title, _down, c):
    names, steps = [], []
    for where, line in lines:
        m = re.fullmatch(r"(.+?)\s*(-->|->)\s*([^:：]+)[:：]\s*(.*)", line)
        note = re.fullmatch(r"([^:：]+)[:：]\s*(.+)", line)
        if m:
            steps.append((m.group(1).strip(), m.group(3).strip(), m.group(2), m.group(4)))
        elif note:
            steps.append((note.group(1).strip(), None, "", note.group(2)))
        else:
            fail("%s: cannot read %r; write A -> B: words, or A: words" % (where, line))
        for n in steps[-1][:2]:
            if n is not None and n not in names:
                names.append(n)
    if not steps or len(names) > MOST or len(steps) > 4 * MOST:
        fail("a sequence has at least one line, at most %d names and %d lines" % (MOST, 4 * MOST))
    apart = max(150, max(map(width, names)) + 40)
    for a, b, _, words in steps:
        hops = max(1, abs(names.index(a) - names.index(b))) if b else 1
        apart = max(apart, min(width(words, 12), 300) / hops + 40)
    x = {n: 40 + apart / 2 + i * apart for i, n in enumerate(names)}
    y, marks = 140.0, []
    for a, b, how, words in steps:
        text = wrap(words, 300)
        y += (len(text) - 1) * 17
        marks.append((a, b, how, text, y))
        y += 46 if b != a else 60
    for n in names:
        c.parts.append('<path d="M%.1f 100V%.1f" stroke="%s" stroke-dasharray="3 4"/>' % (x[n], y, LINE))
        c.shape("box", x[n], 84, max(width(n) + 30, 90), 36)
        c.text(x[n], 84, [n], weight="bold")
    for a, b, how, text, y in marks:
        if b is None:
            w = max(width(t, 12) for t in text) + 24
            c.shape("note", x[a], y - (len(text) - 1) * 8, w, len(text) * 17 + 12)
            c.text(x[a], y - (len(text) - 1) * 8, text, 12)
        elif a == b:
            c.path("M%.1f %.1fh34v22h-32" % (x[a], y), dashed=how == "-->")
            c.text(x[a] + 42, y + 10, text, 12, "start", halo=True)
        else:
            c.path("M%.1f %.1fH%.1f" % (x[a], y, x[b]), dashed=how == "-->")
            c.text((x[a] + x[b]) / 2, y - 11 - (len(text) - 1) * 8, text, 12, halo=True)
    c.reach(x[names[-1]], y + 46)
    return "%d names, %d steps" % (len(names), len(steps))


def timeline(lines, _title, _down, c):
    y, points = 84.0, 0
    for where, line in lines:
        m = re.fullmatch(r"([^:：]+)[:：]\s*(.+)", line)
        if not m:
            fail("%s: cannot read %r; write WHEN: words" % (where, line))
        text = wrap(m.group(2), 420)
        c.text(40, y, [m.group(1).strip()], 13, "start", "bold")
        c.parts.append('<circle cx="190" cy="%.1f" r="6" fill="%s"/>' % (y, LINE))
        c.text(214, y + (len(text) - 1) * 9, text, SIZE, "start")
        y, points = y + 30 + len(text) * 18, points + 1
    if not points or points > 2 * MOST:
        fail("a timeline has 1 to %d lines" % (2 * MOST))
    c.parts.insert(0, '<path d="M190 70V%.1f" stroke="%s" stroke-width="2"/>' % (y - 30, LINE))
    return "%d points" % points


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("-o", "--out", required=True)
    args = parser.parse_args()
    if not args.out.lower().endswith(".svg"):
        fail("-o needs a file that ends with .svg")
    try:
        with open(args.file, encoding="utf-8-sig") as f:
            source = f.read()
    except (OSError, UnicodeDecodeError) as e:
        fail("cannot read %s: %s" % (args.file, e))
    lines = [("line %d" % n, text.strip()) for n, text in enumerate(source.splitlines(), 1) if text.strip() and not text.strip().startswith(("#", "```"))]
    kind = lines.pop(0)[1].lower() if lines else ""
    kinds = {"flow": flow, "flow down": flow, "flow right": flow, "sequence": sequence, "timeline": timeline}
    if kind not in kinds:
        fail("the first line is %r; it must be one of: %s" % (kind, ", ".join(kinds)))
    title = next((text[6:].strip() for _, text in lines if text.lower().startswith("title:")), "")
    lines = [(where, text) for where, text in lines if not text.lower().startswith("title:")]
    c = Canvas()
    done = kinds[kind](lines, title, kind != "flow right", c)
    if title:
        c.text(40, 34, [title], 18, "start", "bold")
    c.save(args.out)
    print("drew %s: %s" % (args.out, done))


if __name__ == "__main__":
    main()
