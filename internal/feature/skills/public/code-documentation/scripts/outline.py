"""Outlines a folder of code, and checks a text against it, with the standard library alone."""

import argparse
import ast
import os
import re
import sys

SKIP = {".git", "node_modules", "vendor", "__pycache__", ".venv", "venv", "dist", "build", "target", ".cache"}
FORMS = {
    ".go": r"^(?:func(?:\s+\([^)]*\))?|type|var|const)\s+([A-Za-z_]\w*)",
    ".js": r"^(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\*?|class|const|let)\s+([A-Za-z_$][\w$]*)",
    ".java": r"^\s*public\s+(?:[\w<>\[\],\s]+\s)?([A-Za-z_]\w*)\s*[({]",
    ".rs": r"^\s*pub(?:\([^)]*\))?\s+(?:async\s+)?(?:fn|struct|enum|trait|type|const|mod)\s+([A-Za-z_]\w*)",
    ".rb": r"^\s*(?:def|class|module)\s+(?:self\.)?([A-Za-z_]\w*[?!]?)",
    ".sh": r"^(?:function\s+)?([A-Za-z_]\w*)\s*\(\)",
    ".c": r"^(?!static)(?:[A-Za-z_][\w\s*]*\s\**)([A-Za-z_]\w*)\s*\([^;]*$",
}
for alias, of in ((".ts", ".js"), (".tsx", ".js"), (".jsx", ".js"), (".mjs", ".js"), (".h", ".c"), (".cc", ".c"), (".cpp", ".c"), (".hpp", ".c"), (".bash", ".sh")):
    FORMS[alias] = FORMS[of]
LIMIT = 2000  # files


def python(text):
    """Names of a Python file: (line, name, signature, described)."""
    tree = ast.parse(text)

    def below(nodes, prefix):
        for n in nodes:
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not n.name.startswith("_"):
                shape = "" if isinstance(n, ast.ClassDef) else "(%s)" % ast.unparse(n.args)
                yield n.lineno, prefix + n.name, shape, ast.get_docstring(n) is not None
                if isinstance(n, ast.ClassDef):
                    yield from below(n.body, prefix + n.name + ".")

    return list(below(tree.body, ""))


def others(text, form):
    """Names of a file in another language, found by the form of declarations."""
    lines, found = text.split("\n"), []
    for i, line in enumerate(lines):
        m = re.match(form, line)
        if m:
            before = lines[i - 1].strip() if i else ""
            found.append((i + 1, m.group(1), "", before.startswith(("//", "/*", "*", "#", "///")) or before.endswith("*/")))
    return found


def outline(folder):
    files = []
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(d for d in folders if d not in SKIP and not d.startswith("."))
        for name in sorted(names):
            kind = os.path.splitext(name)[1].lower()
            if kind != ".py" and kind not in FORMS:
                continue
            path = os.path.join(at, name)
            try:
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                found = python(text) if kind == ".py" else others(text, FORMS[kind])
            except (OSError, UnicodeDecodeError, SyntaxError, ValueError) as e:
                print("warning: %s cannot be read: %s" % (path, e))
                continue
            files.append((os.path.relpath(path, folder), text.count("\n") + 1, found))
            if len(files) >= LIMIT:
                print("warning: only the first %d files are looked at" % LIMIT)
                return files
    return files


def check(files, path):
    known = set()
    for file, _, found in files:
        known.update((file, os.path.basename(file), os.path.dirname(file), os.path.dirname(file) + "/"))
        for _, name, _, _ in found:
            known.update((name, name.split(".")[-1]))
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"(?ms)^```.*?^```", "", f.read())
    asked = {n.rstrip("()") for n in re.findall(r"`([A-Za-z_][\w./]*(?:\(\))?)`", text)}
    strange = sorted(n for n in asked if n not in known)
    for name in strange:
        print("not in the code: " + name)
    print("%d names in backticks, %d of them are not in the code" % (len(asked), len(strange)))
    return 1 if strange else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--check")
    args = parser.parse_args()
    if not os.path.isdir(args.folder):
        print("error: %s is no folder" % args.folder, file=sys.stderr)
        return 1
    files = outline(args.folder)
    if args.check:
        return check(files, args.check)
    for file, lines, found in files:
        shown = [f for f in found if not args.missing or not f[3]]
        if shown or not args.missing:
            print("%s (%d lines)" % (file, lines))
        for line, name, shape, described in shown:
            print("  %d: %s%s%s" % (line, name, shape, "" if described else "  [no description]"))
    names = [f for _, _, found in files for f in found]
    print("%d files, %d names, %d without a description" % (len(files), len(names), sum(1 for f in names if not f[3])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
