"""Draws a chart from the columns of a CSV file."""

import argparse
import csv
import glob
import os
import re
import sys

KINDS = ["bar", "barh", "line", "area", "points", "histogram", "box", "pie"]
COLOURS = ["#2f6f9f", "#d9822b", "#4c9a6a", "#b5485d", "#7a62a8", "#8a7350", "#c06fa4", "#6b7680"]


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def load(path):
    """The names of the columns, and the rows."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            with open(path, encoding=encoding, newline="") as f:
                text = f.read()
            break
        except UnicodeDecodeError:
            continue
        except OSError as e:
            fail("cannot read %s: %s" % (path, e))
    else:
        fail("%s is no text in UTF-8 or GB18030" % path)
    first = text.split("\n", 1)[0]
    rows = [r for r in csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count)) if any(c.strip() for c in r)]
    if len(rows) < 2:
        fail("%s has no rows below its head" % path)
    return [c.strip() for c in rows[0]], rows[1:]


def number(text):
    """A figure, or None; 1,234.5, 12% and (3) are figures."""
    text = text.strip().replace("\u00a0", "").replace(" ", "")
    negative = re.fullmatch(r"\((.+)\)", text)
    text = negative.group(1) if negative else text
    text = re.sub(r"^[$€£¥￥]|[%元]$", "", text)
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    try:
        value = float(text)
    except ValueError:
        return None
    return None if value != value or abs(value) == float("inf") else (-value if negative else value)


def at(names, name):
    if name not in names:
        fail("there is no column %r; there are: %s" % (name, ", ".join(names)))
    return names.index(name)


def columns(args):
    names, rows = load(args.file)
    for n, name in enumerate(names):
        values = [r[n] if n < len(r) else "" for r in rows]
        figures = [v for v in map(number, values) if v is not None]
        if len(figures) > len(values) / 2:
            print("%s: %d figures from %g to %g" % (name, len(figures), min(figures), max(figures)))
        else:
            print("%s: %d texts, such as %s" % (name, len(set(values)), ", ".join(sorted(set(values))[:4])))


def together(values, how):
    return {"sum": sum(values), "mean": sum(values) / len(values), "count": len(values)}[how]


def series(args):
    """The labels on the x axis in their order, the lists of (label, value) by series, and how many rows were left out."""
    names, rows = load(args.file)
    x = at(names, args.x) if args.x else None
    ys = [(y, at(names, y)) for y in args.y]
    by = at(names, args.by) if args.by else None
    order, out, left = {}, {}, 0
    for row in rows:
        row = row + [""] * (len(names) - len(row))
        label = row[x].strip() if x is not None else ""
        for name, y in ys:
            value = 1.0 if args.how == "count" else number(row[y])
            if value is None or x is not None and not label:
                left += 1
                continue
            order.setdefault(label, len(order))
            key = row[by].strip() if by is not None else name
            out.setdefault(key, {}).setdefault(label, []).append(value)
    return list(order), out, left


def prepare():
    try:
        import matplotlib
    except ImportError:
        fail("matplotlib is not installed. The person can install it with: pudu toolbox install")
    matplotlib.use("Agg")
    from matplotlib import font_manager, pyplot

    families = ["DejaVu Sans"]
    for path in sorted(glob.glob(os.path.join(os.environ.get("PUDU_FONTS", "/nowhere"), "**", "*.[to]t[fc]"), recursive=True)):
        font_manager.fontManager.addfont(path)
        families.append(font_manager.FontProperties(fname=path).get_name())
    pyplot.rcParams.update({
        "font.family": families, "axes.unicode_minus": False, "svg.fonttype": "path", "pdf.fonttype": 42, "axes.spines.top": False,
        "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#e3e7eb", "figure.dpi": 150,
    })
    return pyplot


def tidy(args, order, sets):
    """Puts values of the same label together, sorts the labels, and cuts them."""
    one = {key: {label: together(v, args.how or "sum") for label, v in values.items()} for key, values in sets.items()}
    if args.how is None and any(len(v) > 1 for values in sets.values() for v in values.values()):
        print("warning: several rows have the same %s and were added up; say --how sum, mean or count" % args.x)
    if all(number(label) is not None for label in order):
        order = sorted(order, key=number)
    elif args.kind in ("line", "area") and all(re.match(r"\d{4}([-/.年]|$)", label) for label in order):
        order = sorted(order)
    if args.sort:
        order = sorted(order, key=lambda label: -sum(values.get(label, 0) for values in one.values()))
    if args.top:
        order = order[: args.top]
    return order, one


def spread(axes, args, sets):
    """Draws how figures spread."""
    values = {key: [v for each in labels.values() for v in each] for key, labels in sets.items()}
    if args.kind == "box":
        axes.boxplot(list(values.values()), patch_artist=True, boxprops={"facecolor": "#cfe0ee"}, medianprops={"color": COLOURS[1]})
        axes.set_xticks(range(1, len(values) + 1), list(values))
    else:
        axes.hist(list(values.values()), bins=args.bins, label=list(values), color=COLOURS[: len(values)])
    return sum(map(len, values.values()))


def points(axes, sets):
    drawn = 0
    for n, (key, labels) in enumerate(sets.items()):
        pairs = [(number(label), v) for label, each in labels.items() for v in each if number(label) is not None]
        if pairs:
            axes.scatter(*zip(*pairs), label=key, color=COLOURS[n % len(COLOURS)], alpha=0.75)
        drawn += len(pairs)
    if drawn == 0:
        fail("points needs figures in the column of --x")
    return drawn


def named(axes, args, order, sets):
    """Draws values that have a name or a date each."""
    places, below, wide = range(len(order)), [0.0] * len(order), 0.8 if args.stacked else 0.8 / len(sets)
    drawn = 0
    if args.kind == "area":
        axes.stackplot(places, [[v.get(x, 0) for x in order] for v in sets.values()], labels=list(sets), colors=COLOURS, alpha=0.85)
    for n, (key, values) in enumerate(sets.items()):
        heights, colour = [values.get(x, 0) for x in order], COLOURS[n % len(COLOURS)]
        drawn += sum(x in values for x in order)
        if args.kind == "line":
            axes.plot(places, [values.get(x, float("nan")) for x in order], marker="o", markersize=4, label=key, color=colour)
        elif args.kind in ("bar", "barh"):
            start = [p if args.stacked else p - 0.4 + wide * (n + 0.5) for p in places]
            side = {"left" if args.kind == "barh" else "bottom": below} if args.stacked else {}
            bars = (axes.barh if args.kind == "barh" else axes.bar)(start, heights, wide, label=key, color=colour, **side)
            if args.labels:
                axes.bar_label(bars, fmt="%g", padding=2, label_type="center" if args.stacked else "edge", fontsize=8)
            below = [b + h for b, h in zip(below, heights)]
    if args.kind == "barh":
        axes.set_yticks(list(places), order)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
    else:
        step = max(1, -(-len(order) // 24))
        long = sum(min(len(x.encode()), 30) for x in order[::step]) > 90
        axes.set_xticks(list(places)[::step], order[::step], rotation=35 if long else 0, ha="right" if long else "center")
        axes.grid(axis="x", visible=False)
    if args.kind in ("bar", "barh") and len(order) > 40:
        print("warning: %d bars are too many to read; use --top" % len(order))
    return drawn


def pie(axes, order, sets):
    values = next(iter(sets.values()))
    if len(sets) > 1 or min(values[x] for x in order) < 0:
        fail("a pie needs one --y, and no figure below zero")
    if len(order) > 6:
        print("warning: %d parts are too many for a pie; use --top, or bar" % len(order))
    axes.pie([values[x] for x in order], labels=order, autopct="%.1f%%", colors=COLOURS, startangle=90, counterclock=False)
    return len(order)


def draw(args):
    if not args.out or os.path.splitext(args.out)[1].lower() not in (".png", ".svg", ".pdf"):
        fail("-o needs a file that ends with .png, .svg or .pdf")
    free = args.kind in ("histogram", "box")
    if not args.y or not free and not args.x:
        fail("%s needs %s" % (args.kind, "--y COLUMN" if free else "--x COLUMN and --y COLUMN"))
    order, sets, left = series(args)
    if not sets:
        fail("there is no figure in %s" % ", ".join(args.y))
    pyplot = prepare()
    figure, axes = pyplot.subplots(figsize=(9, 5.2), layout="constrained")
    if free:
        drawn = spread(axes, args, sets)
    elif args.kind == "points":
        drawn = points(axes, sets)
    else:
        order, sets = tidy(args, order, sets)
        drawn = pie(axes, order, sets) if args.kind == "pie" else named(axes, args, order, sets)
    if args.title:
        axes.set_title(args.title, loc="left", fontsize=14, wrap=True)
    if args.kind != "pie":
        value = (axes.set_xlabel, axes.set_ylabel) if args.kind in ("barh", "histogram") else (axes.set_ylabel, axes.set_xlabel)
        value[0](", ".join(args.y) + (" (%s)" % args.unit if args.unit else ""))
        value[1](args.x or "")
        if len(sets) > 1 and args.kind != "box":
            axes.legend(frameon=False)
    if args.log:
        (axes.set_xscale if args.kind == "barh" else axes.set_yscale)("log")
    figure.savefig(args.out)
    print("drew %s: %s of %d values in %d series; %d were left out (no figure, or no name)" % (args.out, args.kind, drawn, len(sets), left))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["columns"] + KINDS)
    parser.add_argument("file")
    parser.add_argument("--x")
    parser.add_argument("--y", action="append", default=[])
    parser.add_argument("--by")
    parser.add_argument("--how", choices=["sum", "mean", "count"])
    parser.add_argument("--top", type=int)
    parser.add_argument("--bins", type=int, default=20)
    parser.add_argument("--title")
    parser.add_argument("--unit")
    for flag in ("--stacked", "--sort", "--labels", "--log"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("-o", "--out")
    args = parser.parse_args()
    (columns if args.kind == "columns" else draw)(args)


if __name__ == "__main__":
    main()
