"""Begins, checks and packs a skill."""

import argparse
import ast
import os
import re
import sys
import zipfile

KEYS = ["name", "description", "license", "allowed-tools", "required-secrets", "secrets-autonomous", "metadata", "compatibility", "version", "author"]
SECRET = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY|\b(AKIA[0-9A-Z]{16}|gh[pousr]_\w{36,}|sk-[\w-]{24,})")
MOST_FILES, MOST_BYTES = 500, 16 << 20

TEXT = """---
name: %s
description: %s
---

# %s

1. Look at what the user has given.
2. `python3 /mnt/skills/custom/%s/scripts/main.py FILE -o /mnt/user-data/outputs/RESULT`
3. Check the result, then present it with present_files.
"""
SCRIPT = '''"""Says what it does in one sentence."""

import argparse
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("-o", "--out", required=True)
    args = parser.parse_args()
    try:
        with open(args.file, encoding="utf-8") as f:
            text = f.read()
    except (OSError, UnicodeDecodeError) as e:
        print("error: cannot read %s: %s" % (args.file, e), file=sys.stderr)
        return 1
    with open(args.out, "w", encoding="utf-8") as f:
        f.write(text)
    print("wrote %s: %d characters" % (args.out, len(text)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def name_problem(name):
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > 64:
        return "the name %r must be of small letters, digits and single hyphens, at most 64" % name


def description_problem(text):
    if not text or len(text) > 1024 or re.search(r"[<>\x00-\x08]", text):
        return "the description must have 1 to 1024 characters, without < and >"
    if re.search(r":(\s|$)|\s#", text) and not re.fullmatch(r"(['\"]).*\1", text):
        return "the description has ': ' or ' #'; put it into quotes"


def new(args):
    problem = name_problem(args.name) or description_problem(args.description)
    if problem:
        fail(problem)
    folder = os.path.join(args.folder, args.name)
    if os.path.exists(folder):
        fail("%s is there already" % folder)
    os.makedirs(os.path.join(folder, "scripts"))
    title = args.name.replace("-", " ").capitalize()
    for name, text in (("SKILL.md", TEXT % (args.name, args.description, title, args.name)), ("scripts/main.py", SCRIPT)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    print("began %s: SKILL.md, scripts/main.py" % folder)
    return 0


def files(folder):
    out = []
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != "__pycache__" and not f.startswith("."))
        out += [os.path.relpath(os.path.join(at, n), folder) for n in sorted(names) if not n.startswith(".")]
    return out


def head(text):
    """The members of the head that stand on a line of their own, or None."""
    m = re.match(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(\r?\n|$)", text, re.S)
    if not m:
        return None
    return {k: v.strip() for k, v in re.findall(r"^([\w-]+):[ \t]*(.*)$", m.group(1), re.M)}


def problems(folder):
    name = os.path.basename(os.path.abspath(folder))
    try:
        with open(os.path.join(folder, "SKILL.md"), encoding="utf-8") as f:
            text = f.read()
    except (OSError, UnicodeDecodeError) as e:
        return ["cannot read SKILL.md: %s" % e]
    values = head(text)
    if values is None:
        return ["SKILL.md does not begin with a head between lines of ---"]
    out = ["the head has %r, which no skill has; there are: %s" % (k, ", ".join(KEYS)) for k in values if k not in KEYS]
    out += [p for p in (name_problem(values.get("name", "")), description_problem(values.get("description", ""))) if p]
    if values.get("name") != name:
        out.append("the name in the head is %r, the folder is %r" % (values.get("name"), name))
    if len(text.split("---", 2)[-1].split()) < 20:
        out.append("SKILL.md hardly says anything; write the steps")
    there = files(folder)
    for path in sorted(set(re.findall(r"(?<![\w/.-])(?:/mnt/skills/\w+/%s/)?((?:scripts|references|assets|templates)/[\w./-]*\w)" % re.escape(name), text))):
        if path not in there and not os.path.isdir(os.path.join(folder, path)):
            out.append("SKILL.md names %s, which is not there" % path)
    if len(there) > MOST_FILES or sum(os.path.getsize(os.path.join(folder, p)) for p in there) > MOST_BYTES:
        out.append("it has more than %d files or 16 MiB" % MOST_FILES)
    for path in there[:MOST_FILES]:
        if path != "SKILL.md" and os.path.basename(path) == "SKILL.md":
            out.append("%s: a skill lies in a skill" % path)
        with open(os.path.join(folder, path), "rb") as f:
            raw = f.read()
        if SECRET.search(raw.decode("utf-8", "replace")):
            out.append("%s has a secret; name it in required-secrets instead" % path)
        if raw[:4] in (b"\x7fELF", b"PK\x03\x04") or raw[:2] == b"MZ":
            out.append("%s is a program or an archive, which no skill may have" % path)
        if path.endswith(".py"):
            try:
                ast.parse(raw)
            except (SyntaxError, ValueError) as e:
                out.append("%s does not parse: %s" % (path, e))
    return out


def check(args):
    found = problems(args.folder)
    for text in found:
        print("problem: " + text)
    print("checked %s: %d files, %d problems" % (args.folder, len(files(args.folder)), len(found)))
    return 1 if found else 0


def pack(args):
    found = problems(args.folder)
    if found:
        fail("%s; use check, and correct it first" % found[0])
    if not args.out.endswith(".skill"):
        fail("-o needs a file that ends with .skill")
    name, there = os.path.basename(os.path.abspath(args.folder)), files(args.folder)
    with zipfile.ZipFile(args.out, "w", zipfile.ZIP_DEFLATED) as z:
        for path in there:
            z.write(os.path.join(args.folder, path), name + "/" + path)
    print("packed %s: %d files" % (args.out, len(there)))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="do", required=True)
    c = sub.add_parser("new")
    c.add_argument("name")
    c.add_argument("--in", dest="folder", required=True)
    c.add_argument("--description", required=True)
    sub.add_parser("check").add_argument("folder")
    c = sub.add_parser("pack")
    c.add_argument("folder")
    c.add_argument("-o", "--out", required=True)
    args = parser.parse_args()
    return {"new": new, "check": check, "pack": pack}[args.do](args)


if __name__ == "__main__":
    sys.exit(main())
