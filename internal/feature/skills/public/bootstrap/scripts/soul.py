"""Begins and checks the text that says who an agent is."""

import argparse
import re
import sys

PARTS = {
    "en": [("Who you are", "what you are for, and for whom"), ("What you do", "the tasks that come often, each with what comes out"),
           ("How you work", "steps, checks, sources, tools that you prefer"), ("How you speak", "language, tone, length, an example of an answer"),
           ("What you ask before", "what needs a yes"), ("What you never do", "limits")],
    "zh": [("你是谁", "为谁、为什么而工作"), ("你做什么", "常见的任务，各有什么成果"), ("你怎样工作", "步骤、检查、来源、常用工具"),
           ("你怎样说话", "语言、语气、长短，一个回答的例子"), ("先要问的事", "哪些需要同意"), ("绝不做的事", "界限")],
}
MOST = 12000


def new(args):
    lines = ["# " + args.name.strip()]
    for head, hint in PARTS[args.lang]:
        lines += ["", "## " + head, "", "[%s]" % hint]
    try:
        with open(args.file, "x", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
    except OSError as e:
        print("error: cannot write %s: %s" % (args.file, e), file=sys.stderr)
        return 1
    print("began %s: %d parts" % (args.file, len(PARTS[args.lang])))
    return 0


def check(args):
    try:
        with open(args.file, encoding="utf-8-sig") as f:
            text = f.read()
    except (OSError, UnicodeDecodeError) as e:
        print("error: cannot read %s: %s" % (args.file, e), file=sys.stderr)
        return 1
    problems = []
    parts = {h.strip(): body.strip() for h, body in re.findall(r"^## +(.+?)[ \t]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)}
    lang = max(PARTS, key=lambda each: sum(head in parts for head, _ in PARTS[each]))
    if not re.match(r"# +\S", text):
        problems.append("it does not begin with '# NAME'")
    for head, hint in PARTS[lang]:
        if head not in parts:
            problems.append("the part '## %s' is missing: %s" % (head, hint))
        elif len(parts[head]) < 8 or parts[head].startswith("[") and parts[head].endswith("]"):
            problems.append("the part '## %s' is empty: %s" % (head, hint))
    if len(text) > MOST:
        problems.append("it has %d characters, more than %d: every run reads it" % (len(text), MOST))
    if re.search(r"-----BEGIN|\b(AKIA[0-9A-Z]{16}|gh[pousr]_\w{36,}|sk-[\w-]{24,})", text):
        problems.append("it has a secret; take it out")
    for problem in problems:
        print("problem: " + problem)
    print("checked %s: %d parts, %d characters, %d problems" % (args.file, len(parts), len(text), len(problems)))
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="do", required=True)
    c = sub.add_parser("new")
    c.add_argument("file")
    c.add_argument("--name", required=True)
    c.add_argument("--lang", choices=sorted(PARTS), default="en")
    sub.add_parser("check").add_argument("file")
    args = parser.parse_args()
    return {"new": new, "check": check}[args.do](args)


if __name__ == "__main__":
    sys.exit(main())
