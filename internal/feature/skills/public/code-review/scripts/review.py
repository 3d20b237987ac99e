"""Shows code or a change with the numbers of its lines, and checks that the findings of a review stand where they say."""

import argparse
import ast
import difflib
import os
import re
import sys

SKIP = {".git", "node_modules", "__pycache__", ".venv", "vendor", "dist", "build"}
MOST_FILES, MOST_BYTES, MOST_LINES = 2000, 1 << 20, 1500
MARKS = [
    (r"\b(TODO|FIXME|XXX|HACK)\b", "is unfinished by its own words"),
    (r"\bexcept\s*(Exception\s*)?:\s*(pass)?\s*$|catch\s*\([^)]*\)\s*\{\s*\}|_\s*=\s*err\b", "an error may be lost"),
    (r"(?<![\w.])ev" + r"al\s*\(|(?<![\w.])ex" + r"ec\s*\(|pickle\.loads?|yaml\.load\(", "data may become code"),
    (r"shell\s*=\s*True|os\.system|child_process|Runtime\.getRuntime", "a command is made of text"),
    (r"(?i)(select|insert|update|delete)\b.*(%s|\{\w+\}|\+\s*\w+|\$\{)", "SQL may be made of text"),
    (r"(?i)(password|passwd|secret|api_?key|token)\s*[:=]\s*[\"'][^\"']{6,}", "a secret may stand in the code"),
    (r"innerHTML\s*=|dangerouslySetInnerHTML|document\.write", "text may become a page"),
    (r"verify\s*=\s*False|InsecureSkipVerify", "a certificate is not checked"),
    (r"\b(print|console\.log|fmt\.Println|debugger)\b\s*\(?", "may be left over from a search for errors"),
    (r"while\s*\(?\s*(True|true|1)\s*\)?\s*[:{]|for\s*\(;;\)", "a loop without an end of its own"),
    (r"def \w+\([^)]*=\s*(\[\]|\{\})", "a default value that all calls share"),
]


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def read(path):
    """The lines of a text, or None."""
    try:
        if os.path.getsize(path) > MOST_BYTES:
            return None
        with open(path, encoding="utf-8") as f:
            return f.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return None


def files(root):
    if not os.path.isdir(root):
        fail("%s is no folder" % root)
    out = {}
    for at, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIP)
        for name in sorted(names):
            path = os.path.join(at, name)
            lines = None if os.path.islink(path) else read(path)
            if lines is not None:
                out[os.path.relpath(path, root)] = lines
            if len(out) >= MOST_FILES:
                print("warning: only the first %d files are looked at" % MOST_FILES)
                return out
    return out


def marks(line):
    return [why for pattern, why in MARKS if re.search(pattern, line)]


def of_diff(path):
    """The new lines of a diff, by file."""
    out, name, n = {}, None, 0
    for line in read(path) or fail("cannot read %s as text of at most 1 MiB" % path):
        hunk = re.match(r"@@ -\d+(?:,\d+)? \+(\d+)", line)
        if line.startswith("+++ "):
            name = re.sub(r"^b/", "", line[4:].split("\t")[0].strip())
        elif hunk:
            n = int(hunk.group(1))
        elif name and line.startswith("+"):
            out.setdefault(name, []).append((n, "+", line[1:]))
            n += 1
        elif name and line.startswith("-"):
            out.setdefault(name, []).append((n, "-", line[1:]))
        elif name and line.startswith(" "):
            n += 1
    return out


def of_folders(new, old):
    out = {}
    for name in sorted(set(new) | set(old)):
        before, after = old.get(name, []), new.get(name, [])
        if before == after and name in new and name in old:
            continue
        lines = out.setdefault(name, [])
        for how, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if how != "equal":
                lines += [(c + 1, "-", t) for t in before[a:b]] + [(c + 1 + i, "+", t) for i, t in enumerate(after[c:d])]
    return out


def long_functions(name, lines):
    if not name.endswith(".py"):
        return
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError) as e:
        print("look: %s:%s is no Python: %s" % (name, getattr(e, "lineno", 1), getattr(e, "msg", e)))
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno - node.lineno > 60:
            print("look: %s:%d %s has %d lines" % (name, node.lineno, node.name, node.end_lineno - node.lineno + 1))


def look(args):
    if os.path.isfile(args.what):
        change = of_diff(args.what)
    else:
        new = files(args.what)
        if args.against:
            change = of_folders(new, files(args.against))
        else:
            change = {name: [(i, " ", t) for i, t in enumerate(lines, 1)] for name, lines in new.items()}
        for name in change:
            long_functions(name, new.get(name, []))
    if not change:
        fail("there is no code, or nothing has changed")
    shown = hints = 0
    whole = not os.path.isfile(args.what) and not args.against
    for name, lines in change.items():
        print("== %s: %d lines%s" % (name, len(lines), "" if whole else " changed"))
        for n, sign, text in lines:
            why = marks(text) if sign != "-" else []
            hints += len(why)
            if not why and whole:
                continue
            shown += 1
            if shown <= MOST_LINES:
                print("%s%5d %s%s" % (sign, n, text[:240], "".join("   <-- " + w for w in why)))
    if shown > MOST_LINES:
        print("warning: %d further lines are not shown; look at fewer files" % (shown - MOST_LINES))
    print("looked at %d files: %d lines, %d marks" % (len(change), sum(map(len, change.values())), hints))


FINDING = re.compile(r"^\s*[-*]\s+\*\*(\w+)\*\*\s+`?([^\s`:]+):(\d+)`?\s*(?:[\"“`]([^\"”`]+)[\"”`])?")


def check(args):
    code, found, wrong = files(args.root), 0, 0
    for n, line in enumerate(read(args.what) or fail("cannot read %s" % args.what), 1):
        if not re.match(r"^\s*[-*]\s+\*\*(high|medium|low)", line):
            continue
        m = FINDING.match(line)
        found += 1
        if not m:
            why = "is no finding; write - **high** FILE:LINE \"WORDS\": ..."
        elif m.group(2) not in code:
            why = "names %s, which is not in %s" % (m.group(2), args.root)
        elif not 1 <= int(m.group(3)) <= len(code[m.group(2)]):
            why = "names line %s, and %s has %d" % (m.group(3), m.group(2), len(code[m.group(2)]))
        elif not m.group(4):
            why = "does not quote the line"
        elif m.group(4).strip() not in code[m.group(2)][int(m.group(3)) - 1]:
            why = "quotes %r, but the line is %r" % (m.group(4), code[m.group(2)][int(m.group(3)) - 1].strip()[:120])
        else:
            continue
        wrong += 1
        print("problem: line %d %s" % (n, why))
    print("checked %s: %d findings, %d are not right" % (args.what, found, wrong))
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="do", required=True)
    c = sub.add_parser("look")
    c.add_argument("what")
    c.add_argument("--against")
    c = sub.add_parser("check")
    c.add_argument("what")
    c.add_argument("--root", required=True)
    args = parser.parse_args()
    return {"look": look, "check": check}[args.do](args)


if __name__ == "__main__":
    sys.exit(main())
