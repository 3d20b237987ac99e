"""Makes one HTML file of a Markdown file, with the standard library alone."""

import argparse
import base64
import os
import re
import sys
from html import escape

KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".svg": "image/svg+xml"}
STYLE = """
body{font:16px/1.6 system-ui,"Noto Sans","Noto Sans CJK SC",sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1d2329}
h1{line-height:1.2}h2{margin-top:2.2rem;border-bottom:1px solid #d5dbe1;padding-bottom:.2rem}
table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{border:1px solid #d5dbe1;padding:.35rem .6rem;text-align:left}th{background:#f2f5f7}
pre{background:#f2f5f7;padding:.8rem;overflow:auto}code{font-family:ui-monospace,monospace}blockquote{border-left:3px solid #9ab;margin-left:0;padding-left:1rem;color:#455}
nav{background:#f8fafb;padding:.6rem 1.2rem;border:1px solid #e3e8ec}img{max-width:100%}@media print{nav{display:none}body{margin:0;max-width:none}h2{break-after:avoid}table,pre{break-inside:avoid}}
"""
warnings = []


def warn(text):
    warnings.append(text)


def inline(text, folder):
    """Marks within a line."""
    kept = []

    def keep(html):
        kept.append(html)
        return "\0%d\0" % (len(kept) - 1)

    def picture(m):
        path = os.path.normpath(os.path.join(folder, m.group(2)))
        kind = KINDS.get(os.path.splitext(path)[1].lower())
        if kind is None or not os.path.isfile(path):
            warn("the picture %s is not there, or is no picture" % m.group(2))
            return escape(m.group(1))
        with open(path, "rb") as f:
            raw = base64.b64encode(f.read()).decode("ascii")
        return keep('<img alt="%s" src="data:%s;base64,%s">' % (escape(m.group(1)), kind, raw))

    def link(m):
        to = m.group(2)
        if not re.match(r"(?i)(https?|mailto):|#", to):
            warn("the link %s leads nowhere outside of this folder" % to)
            return m.group(1)
        return keep('<a href="%s">' % escape(to)) + m.group(1) + keep("</a>")

    text = text.replace("\0", "")
    text = re.sub(r"`([^`]+)`", lambda m: keep("<code>%s</code>" % escape(m.group(1))), text)
    text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", picture, text)
    text = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", link, text)
    text = escape(text, quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<![\w*])\*(?!\s)(.+?)(?<!\s)\*(?![\w*])", r"<em>\1</em>", text)
    return re.sub("\0(\\d+)\0", lambda m: kept[int(m.group(1))], text)


def cells(line):
    return [c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def blocks(lines, folder):
    """The HTML of the lines, the title, and the headings with their anchors."""
    out, heads, title, i = [], [], None, 0
    while i < len(lines):
        line = lines[i]
        if not line.strip():
            i += 1
        elif line.startswith("```"):
            end = next((k for k in range(i + 1, len(lines)) if lines[k].startswith("```")), len(lines))
            out.append("<pre><code>%s</code></pre>" % escape("\n".join(lines[i + 1 : end])))
            i = end + 1
        elif re.match(r"#{1,4}\s", line):
            marks, text = line.split(None, 1)
            if len(marks) == 1 and title is None:
                title = text.strip()
                out.append("<h1>%s</h1>" % inline(title, folder))
            else:
                level = max(2, len(marks))
                anchor = "h%d" % (len(heads) + 1)
                heads.append((level, anchor, text.strip()))
                out.append('<h%d id="%s">%s</h%d>' % (level, anchor, inline(text.strip(), folder), level))
            i += 1
        elif "|" in line and i + 1 < len(lines) and re.match(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$", lines[i + 1]):
            names = cells(line)
            out.append("<table><thead><tr>%s</tr></thead><tbody>" % "".join("<th>%s</th>" % inline(c, folder) for c in names))
            i += 2
            while i < len(lines) and "|" in lines[i]:
                row = (cells(lines[i]) + [""] * len(names))[: len(names)]
                out.append("<tr>%s</tr>" % "".join("<td>%s</td>" % inline(c.replace("\\|", "|"), folder) for c in row))
                i += 1
            out.append("</tbody></table>")
        elif re.match(r"\s*([-*+]|\d+[.)])\s", line):
            numbered = re.match(r"\s*\d", line) is not None
            out.append("<ol>" if numbered else "<ul>")
            while i < len(lines) and re.match(r"\s*([-*+]|\d+[.)])\s", lines[i]):
                item = re.sub(r"^\s*([-*+]|\d+[.)])\s+", "", lines[i])
                i += 1
                while i < len(lines) and lines[i].startswith("  ") and not re.match(r"\s*([-*+]|\d+[.)])\s", lines[i]):
                    item += " " + lines[i].strip()
                    i += 1
                out.append("<li>%s</li>" % inline(item, folder))
            out.append("</ol>" if numbered else "</ul>")
        elif line.startswith(">"):
            quote = []
            while i < len(lines) and lines[i].startswith(">"):
                quote.append(lines[i].lstrip("> "))
                i += 1
            out.append("<blockquote><p>%s</p></blockquote>" % inline(" ".join(quote), folder))
        else:
            text = []
            while i < len(lines) and lines[i].strip() and not re.match(r"(#{1,4}\s|```|>|\s*([-*+]|\d+[.)])\s)", lines[i]):
                text.append(lines[i].strip())
                i += 1
            out.append("<p>%s</p>" % inline(" ".join(text), folder))
    return out, title, heads


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    try:
        with open(args.file, encoding="utf-8") as f:
            lines = f.read().replace("\r\n", "\n").split("\n")
    except (OSError, UnicodeDecodeError) as e:
        print("error: cannot read %s: %s" % (args.file, e), file=sys.stderr)
        return 1
    body, title, heads = blocks(lines, os.path.dirname(os.path.abspath(args.file)))
    if title is None:
        warn("there is no title: begin the file with '# TITLE'")
    if len(heads) > 2:
        entries = "".join('<li style="margin-left:%dem"><a href="#%s">%s</a></li>' % (level - 2, anchor, escape(text)) for level, anchor, text in heads)
        body.insert(1 if title is not None else 0, "<nav><ul>%s</ul></nav>" % entries)
    page = '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%s</title><style>%s</style></head>\n<body>\n%s\n</body></html>\n'
    with open(args.output, "w", encoding="utf-8") as f:
        f.write(page % (escape(title or "Report"), STYLE, "\n".join(body)))
    for text in warnings:
        print("warning: " + text)
    print("wrote %s: %d headings, %d blocks" % (args.output, len(heads), len(body)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
