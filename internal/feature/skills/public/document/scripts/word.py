"""Makes a Word document from Markdown, and reads one."""

import argparse
import os
import re
import sys

try:
    import docx
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import Cm, Pt
except ImportError:
    docx = None


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def missing(package):
    fail(package + " is not installed. The person can install it with: pudu toolbox install")



INLINE = re.compile(r"(\*\*.+?\*\*|\*[^*\s][^*]*\*|`[^`]+`)")


def words(paragraph, text):
    """Adds text with bold, italics and code to a paragraph."""
    for part in INLINE.split(text):
        if part.startswith("**") and len(part) > 4:
            paragraph.add_run(part[2:-2]).bold = True
        elif part.startswith("`") and len(part) > 2:
            run = paragraph.add_run(part[1:-1])
            run.font.name = "Courier New"
        elif part.startswith("*") and len(part) > 2:
            paragraph.add_run(part[1:-1]).italic = True
        elif part:
            paragraph.add_run(part)


def fonts(document):
    """One font for Latin letters and one for Chinese, in every style that has text."""
    for style in document.styles:
        if getattr(style, "font", None) is None:
            continue
        properties = style.element.get_or_add_rPr()
        names = properties.find(qn("w:rFonts"))
        if names is None:
            names = OxmlElement("w:rFonts")
            properties.append(names)
        names.set(qn("w:eastAsia"), "Microsoft YaHei")
    document.styles["Normal"].font.size = Pt(11)


def page_number(document):
    paragraph = document.sections[0].footer.paragraphs[0]
    paragraph.alignment = 1
    for kind, text in (("begin", None), (None, "PAGE"), ("end", None)):
        run = paragraph.add_run()
        if kind:
            mark = OxmlElement("w:fldChar")
            mark.set(qn("w:fldCharType"), kind)
        else:
            mark = OxmlElement("w:instrText")
            mark.text = text
        run._r.append(mark)


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def table(document, lines):
    rows = [cells(line) for line in lines if not re.fullmatch(r"[\s|:-]+", line)]
    width = max(len(r) for r in rows)
    made = document.add_table(rows=0, cols=width, style="Light Grid Accent 1")
    for n, row in enumerate(rows):
        for cell, text in zip(made.add_row().cells, row + [""] * (width - len(row))):
            words(cell.paragraphs[0], text)
            if n == 0:
                for run in cell.paragraphs[0].runs:
                    run.bold = True


def make(source, out):
    try:
        with open(source, encoding="utf-8-sig") as f:
            lines = f.read().splitlines()
    except (OSError, UnicodeDecodeError) as e:
        fail("cannot read %s: %s" % (source, e))
    document = docx.Document()
    fonts(document)
    page_number(document)
    counts = {"headings": 0, "tables": 0, "pictures": 0}
    i = 0
    while i < len(lines):
        line = lines[i].rstrip()
        heading = re.match(r"(#{1,6})\s+(.*)", line)
        picture = re.fullmatch(r"!\[(.*?)\]\((.+?)\)", line.strip())
        item = re.match(r"\s*([-*]|\d+[.)])\s+(.*)", line)
        if line.lstrip().startswith("|"):
            end = i
            while end < len(lines) and lines[end].lstrip().startswith("|"):
                end += 1
            table(document, lines[i:end])
            counts["tables"] += 1
            i = end
            continue
        if heading:
            level = len(heading.group(1))
            document.add_heading(heading.group(2), 0 if level == 1 and counts["headings"] == 0 else level)
            counts["headings"] += 1
        elif picture:
            path = os.path.join(os.path.dirname(os.path.abspath(source)), picture.group(2))
            try:
                document.add_picture(path, width=Cm(15))
                document.add_paragraph(picture.group(1), style="Caption")
                counts["pictures"] += 1
            except Exception as e:
                print("warning: picture %s: %s" % (path, e))
        elif re.fullmatch(r"-{3,}", line):
            document.add_page_break()
        elif line.startswith(">"):
            words(document.add_paragraph(style="Intense Quote"), line.lstrip("> "))
        elif item:
            style = "List Bullet" if item.group(1) in "-*" else "List Number"
            words(document.add_paragraph(style=style), item.group(2))
        elif line.strip():
            words(document.add_paragraph(), line)
        i += 1
    if counts["headings"] == 0:
        print("warning: there is no heading")
    document.save(out)
    print("made %s: %s" % (out, ", ".join("%d %s" % (n, what) for what, n in counts.items())))


def read(path):
    try:
        document = docx.Document(path)
    except Exception as e:
        fail("cannot read %s: %s" % (path, e))
    for block in document.element.body.iterchildren():
        if block.tag == qn("w:p"):
            p = docx.text.paragraph.Paragraph(block, document)
            name = p.style.name or ""
            level = re.search(r"Heading (\d)", name)
            mark = "# " if name == "Title" else "#" * int(level.group(1)) + " " if level else "- " if name.startswith("List") else ""
            if p.text.strip():
                print(mark + p.text)
        elif block.tag == qn("w:tbl"):
            rows = docx.table.Table(block, document).rows
            for n, row in enumerate(rows):
                print("| " + " | ".join(c.text.replace("\n", " ") for c in row.cells) + " |")
                if n == 0:
                    print("|" + "---|" * len(row.cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="what", required=True)
    maker = sub.add_parser("make")
    maker.add_argument("source")
    maker.add_argument("-o", "--out", required=True)
    sub.add_parser("read").add_argument("file")
    args = parser.parse_args()
    if docx is None:
        missing("docx")
    if args.what == "make":
        make(args.source, args.out)
    else:
        read(args.file)


if __name__ == "__main__":
    main()
