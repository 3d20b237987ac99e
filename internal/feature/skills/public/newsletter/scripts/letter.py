"""Makes a mail of Markdown: as a page with its styles inside, as plain text, and as a file that mail programs open."""

import argparse
import base64
import os
import re
import sys
import textwrap
from email.message import EmailMessage
from email.policy import SMTP
from html import escape

FONT = "font-family:'Segoe UI','PingFang SC','Microsoft YaHei','Noto Sans CJK SC',Arial,sans-serif"
KINDS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif"}
MOST = 1 << 20
warnings = []


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def parse(lines):
    """The parts of a letter: the title, what stands in its lines, and blocks of (kind, text)."""
    head = {"title": "", "subject": "", "preview": "", "footer": ""}
    blocks, open_ = [], False
    for line in lines:
        text = line.strip()
        known = re.match(r"(Subject|Preview|Footer):\s*(.*)", text)
        picture = re.fullmatch(r"!\[(.*?)\]\(([^)\s]+)\)", text)
        if text.startswith("# ") and not head["title"]:
            head["title"] = text[2:].strip()
        elif known:
            head[known.group(1).lower()] = known.group(2)
        elif text.startswith("## "):
            blocks.append(("head", text[3:].strip()))
        elif picture:
            blocks.append(("picture", picture.groups()))
        elif re.match(r"[-*]\s", text):
            if not (open_ and blocks and blocks[-1][0] == "list"):
                blocks.append(("list", []))
            blocks[-1][1].append(text[2:].strip())
        elif text and open_ and blocks and blocks[-1][0] == "text":
            blocks[-1] = ("text", blocks[-1][1] + " " + text)
        elif text:
            blocks.append(("text", text))
        open_ = bool(text)
    return head, blocks


def inline(text):
    """Marks within a text, as HTML."""
    out, at = [], 0
    for m in re.finditer(r"\[([^\]]+)\]\(([^)\s]+)\)", text):
        to = m.group(2)
        out.append(marks(text[at : m.start()]))
        if re.match(r"(?i)(https?://|mailto:)", to):
            out.append('<a href="%s" style="color:#1a5f93">%s</a>' % (escape(to), marks(m.group(1))))
        else:
            warnings.append("the link %s leads nowhere in a mail" % to)
            out.append(marks(m.group(1)))
        at = m.end()
    return "".join(out) + marks(text[at:])


def marks(text):
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text, quote=False)))


def bare(text):
    text = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r"\1 (\2)", text)
    return re.sub(r"\*+(.+?)\*+", r"\1", text)


def pictures(blocks, folder):
    """The pictures that a mail can hold, by the name in the letter."""
    out = {}
    for kind, what in blocks:
        if kind != "picture":
            continue
        alt, name = what
        path = os.path.realpath(os.path.join(folder, name))
        form = KINDS.get(os.path.splitext(name)[1].lower())
        if not alt:
            warnings.append("the picture %s has no words for those who do not see it" % name)
        if form is None or not os.path.isfile(path):
            warnings.append("the picture %s is not there, or is no PNG, JPEG or GIF" % name)
        elif os.path.getsize(path) > MOST:
            warnings.append("the picture %s has more than 1 MiB; make it smaller" % name)
        else:
            with open(path, "rb") as f:
                out[name] = (form, f.read())
    return out


def page(head, blocks, address):
    """The HTML. Mail programs know tables and styles of single elements, not more."""
    rows = []
    for kind, what in blocks:
        if kind == "head":
            rows.append('<h2 style="margin:28px 0 6px;font-size:20px;line-height:1.3;color:#173a56;%s">%s</h2>' % (FONT, inline(what)))
        elif kind == "list":
            items = "".join('<li style="margin:4px 0">%s</li>' % inline(i) for i in what)
            rows.append('<ul style="margin:8px 0;padding-left:22px;font-size:16px;line-height:1.6;color:#26323c;%s">%s</ul>' % (FONT, items))
        elif kind == "text":
            rows.append('<p style="margin:8px 0;font-size:16px;line-height:1.6;color:#26323c;%s">%s</p>' % (FONT, inline(what)))
        elif what[1] in address:
            rows.append('<img src="%s" alt="%s" width="536" style="display:block;width:100%%;max-width:536px;height:auto;border:0;margin:10px 0">'
                        % (address[what[1]], escape(what[0])))
    lang = "zh" if re.search(r"[\u4e00-\u9fff]", head["title"]) else "en"
    return """<!DOCTYPE html>
<html lang="%s"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%s</title></head>
<body style="margin:0;padding:0;background:#eef1f4">
<div style="display:none;max-height:0;overflow:hidden">%s</div>
<table role="presentation" width="100%%" cellpadding="0" cellspacing="0" border="0"><tr><td align="center" style="padding:16px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%%;max-width:600px;background:#ffffff">
<tr><td style="padding:28px 32px 8px;background:#173a56"><h1 style="margin:0 0 16px;font-size:28px;line-height:1.25;color:#ffffff;%s">%s</h1></td></tr>
<tr><td style="padding:16px 32px 24px">
%s
</td></tr>
<tr><td style="padding:16px 32px;background:#f5f7f9"><p style="margin:0;font-size:13px;line-height:1.5;color:#5b6873;%s">%s</p></td></tr>
</table></td></tr></table>
</body></html>
""" % (lang, escape(head["subject"]), escape(head["preview"]), FONT, escape(head["title"]), "\n".join(rows), FONT, inline(head["footer"]))


def plain(head, blocks):
    out = [head["title"], "=" * 40]
    for kind, what in blocks:
        if kind == "head":
            out += ["", bare(what), "-" * 40]
        elif kind == "text":
            out += [""] + textwrap.wrap(bare(what), 72, break_long_words=False, break_on_hyphens=False)
        elif kind == "list":
            out += ["* " + bare(i) for i in what]
        elif what[0]:
            out += ["", "[%s]" % what[0]]
    return "\n".join(out + ["", "-- ", bare(head["footer"])]) + "\n"


def look(head, blocks):
    """Notes what a reader would miss."""
    for what in ("subject", "preview", "footer"):
        if not head[what]:
            warnings.append("there is no line '%s: ...'" % what.capitalize())
    if len(head["subject"]) > 60:
        warnings.append("the subject has %d characters, more than 60" % len(head["subject"]))
    items = [what for kind, what in blocks if kind == "head"]
    if not 1 <= len(items) <= 12:
        warnings.append("there are %d items; 4 to 8 are read" % len(items))
    for (kind, what), following in zip(blocks, blocks[1:] + [("head", "")]):
        if kind == "head" and following[0] == "head":
            warnings.append("the item %r has no text" % what)
        if kind == "text" and len(what) > 900:
            warnings.append("a text of %d characters is long for a mail: %s..." % (len(what), what[:40]))


def make(args):
    try:
        with open(args.file, encoding="utf-8-sig") as f:
            lines = f.read().splitlines()
    except (OSError, UnicodeDecodeError) as e:
        fail("cannot read %s: %s" % (args.file, e))
    head, blocks = parse(lines)
    if not head["title"]:
        fail("%s does not begin with '# TITLE'" % args.file)
    look(head, blocks)
    held = pictures(blocks, os.path.dirname(os.path.abspath(args.file)))
    text = plain(head, blocks)
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = head["subject"] or head["title"]
    if args.sender:
        try:
            mail["From"] = args.sender
        except ValueError as e:
            fail("--from %r is no address: %s" % (args.sender, e))
    mail.set_content(text)
    ids = {name: "picture%d@letter" % n for n, name in enumerate(held, 1)}
    mail.add_alternative(page(head, blocks, {n: "cid:" + i for n, i in ids.items()}), subtype="html")
    for name, (form, raw) in held.items():
        mail.get_payload()[1].add_related(raw, "image", form, cid="<%s>" % ids[name], filename=os.path.basename(name))
    found = list(dict.fromkeys(warnings))
    inside = {n: "data:image/%s;base64,%s" % (form, base64.b64encode(raw).decode("ascii")) for n, (form, raw) in held.items()}
    for ending, raw in ((".html", page(head, blocks, inside).encode()), (".txt", text.encode()), (".eml", mail.as_bytes())):
        with open(args.out + ending, "wb") as f:
            f.write(raw)
    for text in found:
        print("warning: " + text)
    print("wrote %s.html, .txt and .eml: %d items, %d pictures" % (args.out, sum(k == "head" for k, _ in blocks), len(held)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    c = parser.add_subparsers(dest="do", required=True).add_parser("make")
    c.add_argument("file")
    c.add_argument("-o", "--out", required=True)
    c.add_argument("--from", dest="sender")
    make(parser.parse_args())


if __name__ == "__main__":
    main()
