"""Makes a presentation from Markdown, and reads one."""

import argparse
import os
import re
import sys

try:
    import pptx
    from pptx.dml.color import RGBColor
    from pptx.oxml.ns import qn
    from pptx.util import Inches, Pt
except ImportError:
    pptx = None


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def missing(package):
    fail(package + " is not installed. The person can install it with: pudu toolbox install")



MOST_BULLETS = 7


def parse(source):
    """Reads Markdown into a title, a subtitle and slides."""
    try:
        with open(source, encoding="utf-8-sig") as f:
            lines = f.read().splitlines()
    except (OSError, UnicodeDecodeError) as e:
        fail("cannot read %s: %s" % (source, e))
    title, subtitle, slides = "", "", []
    for line in lines:
        text = line.strip()
        if line.startswith("## "):
            slides.append({"title": line[3:].strip(), "bullets": [], "table": [], "picture": None, "note": []})
        elif line.startswith("# ") and not title:
            title = line[2:].strip()
        elif not text:
            continue
        elif not slides:
            subtitle = (subtitle + " " + text).strip()
        elif text.startswith("|"):
            if not re.fullmatch(r"[\s|:-]+", text):
                slides[-1]["table"].append([c.strip() for c in text.strip("|").split("|")])
        elif re.fullmatch(r"!\[(.*?)\]\((.+?)\)", text):
            slides[-1]["picture"] = re.fullmatch(r"!\[(.*?)\]\((.+?)\)", text).group(2)
        elif text.startswith("Note:"):
            slides[-1]["note"].append(text[5:].strip())
        else:
            depth = 1 if len(line) - len(line.lstrip()) >= 2 else 0
            slides[-1]["bullets"].append((depth, re.sub(r"^[-*]\s+", "", text).replace("**", "")))
    if not title:
        fail("%s does not begin with '# TITLE'" % source)
    return title, subtitle, slides


def font(paragraph, size, bold=False):
    """Sets the size, and a font that has Chinese."""
    for run in paragraph.runs:
        run.font.size, run.font.bold = Pt(size), bold
        properties = run._r.get_or_add_rPr()
        for old in properties.findall(qn("a:ea")):
            properties.remove(old)
        properties.append(properties.makeelement(qn("a:ea"), {"typeface": "Microsoft YaHei"}))


def put(slide, what, source):
    """Fills a slide, and returns what is to be warned of."""
    slide.shapes.title.text = what["title"]
    font(slide.shapes.title.text_frame.paragraphs[0], 32, True)
    warnings = []
    body, top = slide.placeholders[1], Inches(1.6)
    if what["bullets"]:
        frame = body.text_frame
        size = 24 if sum(len(t) for _, t in what["bullets"]) < 320 else 18
        for n, (depth, text) in enumerate(what["bullets"]):
            paragraph = frame.paragraphs[0] if n == 0 else frame.add_paragraph()
            paragraph.text, paragraph.level = text, depth
            font(paragraph, size - 4 * depth)
        if len(what["bullets"]) > MOST_BULLETS:
            warnings.append("%d bullets are more than %d" % (len(what["bullets"]), MOST_BULLETS))
    else:
        body._element.getparent().remove(body._element)
    wide = Inches(12.1)
    left = Inches(0.6)
    if what["bullets"] and (what["table"] or what["picture"]):
        body.left, body.top, body.width, body.height = left, top, Inches(5.6), Inches(5.2)
        left, wide = Inches(6.5), Inches(6.2)
    if what["table"]:
        rows = what["table"]
        width = max(len(r) for r in rows)
        grid = slide.shapes.add_table(len(rows), width, left, top, wide, Inches(0.45) * len(rows)).table
        for r, row in enumerate(rows):
            for c in range(width):
                cell = grid.cell(r, c)
                cell.text = row[c] if c < len(row) else ""
                font(cell.text_frame.paragraphs[0], 16 if len(rows) < 9 else 12, r == 0)
        if len(rows) > 12:
            warnings.append("a table of %d rows" % len(rows))
    if what["picture"]:
        path = os.path.join(os.path.dirname(os.path.abspath(source)), what["picture"])
        try:
            shape = slide.shapes.add_picture(path, left, top)
            scale = min(wide / shape.width, Inches(5.4) / shape.height)
            shape.width, shape.height = int(shape.width * scale), int(shape.height * scale)
            shape.left = int(left + (wide - shape.width) / 2)
        except Exception as e:
            warnings.append("picture %s: %s" % (path, e))
    if what["note"]:
        slide.notes_slide.notes_text_frame.text = "\n".join(what["note"])
    return warnings


def make(source, out):
    title, subtitle, slides = parse(source)
    deck = pptx.Presentation()
    deck.slide_width, deck.slide_height = Inches(13.333), Inches(7.5)
    first = deck.slides.add_slide(deck.slide_layouts[0])
    for shape, text, size, at in ((first.shapes.title, title, 44, 2.2), (first.placeholders[1], subtitle, 24, 4.2)):
        shape.left, shape.top, shape.width, shape.height = Inches(0.8), Inches(at), Inches(11.7), Inches(1.6)
        shape.text = text
        font(shape.text_frame.paragraphs[0], size, size > 30)
    first.background.fill.solid()
    first.background.fill.fore_color.rgb = RGBColor(0xEA, 0xF1, 0xF7)
    for n, what in enumerate(slides, 2):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        for shape, top, height in ((slide.shapes.title, 0.4, 1.0), (slide.placeholders[1], 1.6, 5.2)):
            shape.left, shape.top, shape.width, shape.height = Inches(0.6), Inches(top), Inches(12.1), Inches(height)
        for warning in put(slide, what, source):
            print("warning: slide %d: %s" % (n, warning))
    deck.save(out)
    print("made %s: %d slides" % (out, len(slides) + 1))


def read(path):
    try:
        deck = pptx.Presentation(path)
    except Exception as e:
        fail("cannot read %s: %s" % (path, e))
    for n, slide in enumerate(deck.slides, 1):
        print("## Slide %d" % n)
        for shape in slide.shapes:
            if shape.has_text_frame:
                for p in shape.text_frame.paragraphs:
                    if p.text.strip():
                        print("  " * p.level + "- " + p.text)
            if getattr(shape, "has_table", False) and shape.has_table:
                for row in shape.table.rows:
                    print("| " + " | ".join(c.text for c in row.cells) + " |")
            if shape.shape_type == 13:
                print("- (a picture)")
        if slide.has_notes_slide:
            print("Note: " + slide.notes_slide.notes_text_frame.text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="what", required=True)
    maker = sub.add_parser("make")
    maker.add_argument("source")
    maker.add_argument("-o", "--out", required=True)
    sub.add_parser("read").add_argument("file")
    args = parser.parse_args()
    if pptx is None:
        missing("pptx")
    if args.what == "make":
        make(args.source, args.out)
    else:
        read(args.file)


if __name__ == "__main__":
    main()
