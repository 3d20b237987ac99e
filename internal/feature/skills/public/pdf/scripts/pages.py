"""Makes PDF files from Markdown, and reads, merges, cuts, fills and shows them."""

import argparse
import os
import re
import sys
from xml.sax.saxutils import escape

try:
    import pypdf
    import pypdfium2
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import cm
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import Image, PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle
except ImportError:
    pypdf = None


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def missing(package):
    fail(package + " is not installed. The person can install it with: pudu toolbox install")



def opened(path):
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            fail("%s asks for a password" % path)
        len(reader.pages)
        return reader
    except Exception as e:
        fail("cannot read %s: %s" % (path, e))


def chosen(text, count):
    """The numbers, from 0, of pages such as 2,5-7; without a text all."""
    if not text:
        return list(range(count))
    pages = []
    for part in text.split(","):
        m = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        first, last = (int(m.group(1)), int(m.group(2) or m.group(1))) if m else (0, 0)
        if not m or first < 1 or last > count or first > last:
            fail("--pages %s: there are the pages 1 to %d; write such as 2,5-7" % (text, count))
        pages += range(first - 1, last)
    return pages


def font():
    """The name of a font that has Chinese where there is one."""
    path = os.path.join(os.environ.get("PUDU_FONTS", ""), "wqy-microhei.ttc")
    if not os.path.exists(path):
        print("warning: there is no font with Chinese characters; they will be missing")
        return "Helvetica"
    pdfmetrics.registerFont(TTFont("Text", path, subfontIndex=0))
    return "Text"


def inline(text):
    text = escape(text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"\*([^*\s][^*]*)\*", r"<i>\1</i>", text)
    return re.sub(r"`([^`]+)`", r'<font color="#444444">\1</font>', text)


def story(lines, base, name):
    def style(size, before, **more):
        return ParagraphStyle("s%d" % size, fontName=name, fontSize=size, leading=size * 1.5, spaceBefore=before, spaceAfter=4, wordWrap="CJK", **more)

    text, heads = style(11, 2), [style(22, 0), style(16, 14), style(13, 10)]
    point = style(11, 0, leftIndent=16, bulletIndent=4)
    if name != "Helvetica":
        pdfmetrics.registerFontFamily(name, normal=name, bold=name, italic=name, boldItalic=name)
    out, i = [], 0
    while i < len(lines):
        line = lines[i].strip()
        i += 1
        heading = re.match(r"(#{1,6})\s+(.*)", line)
        picture = re.fullmatch(r"!\[(.*?)\]\((.+?)\)", line)
        item = re.match(r"([-*]|\d+[.)])\s+(.*)", line)
        if heading:
            out.append(Paragraph(inline(heading.group(2)), heads[min(len(heading.group(1)), 3) - 1]))
        elif re.fullmatch(r"-{3,}", line):
            out.append(PageBreak())
        elif picture:
            path = os.path.join(base, picture.group(2))
            try:
                image = Image(path)
                scale = min(16 * cm / image.drawWidth, 20 * cm / image.drawHeight, 1)
                image.drawWidth, image.drawHeight = image.drawWidth * scale, image.drawHeight * scale
                out += [image, Paragraph(inline(picture.group(1)), style(9, 2))]
            except Exception as e:
                print("warning: picture %s: %s" % (path, e))
        elif line.startswith("|"):
            rows = [line]
            while i < len(lines) and lines[i].strip().startswith("|"):
                rows.append(lines[i].strip())
                i += 1
            cells = [[Paragraph(inline(c.strip()), style(10, 0)) for c in r.strip("|").split("|")] for r in rows if not re.fullmatch(r"[\s|:-]+", r)]
            width = max(len(r) for r in cells)
            grid = Table([r + [""] * (width - len(r)) for r in cells], repeatRows=1, hAlign="LEFT", colWidths=[16.5 * cm / width] * width)
            grid.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.grey), ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#DDE8F3")), ("VALIGN", (0, 0), (-1, -1), "TOP")]))
            out += [Spacer(1, 6), grid, Spacer(1, 6)]
        elif item:
            out.append(Paragraph(inline(item.group(2)), point, bulletText="•" if item.group(1) in "-*" else item.group(1)))
        elif line.startswith(">"):
            out.append(Paragraph(inline(line.lstrip("> ")), style(10, 4, leftIndent=16, textColor=colors.HexColor("#555555"))))
        elif line:
            out.append(Paragraph(inline(line), text))
    return out


def make(args):
    try:
        with open(args.file, encoding="utf-8-sig") as f:
            lines = f.read().splitlines()
    except (OSError, UnicodeDecodeError) as e:
        fail("cannot read %s: %s" % (args.file, e))
    name = font()

    def number(canvas, document):
        canvas.setFont(name, 9)
        canvas.drawCentredString(A4[0] / 2, 1.2 * cm, str(document.page))

    title = next((line.lstrip("# ") for line in lines if line.startswith("#")), os.path.basename(args.file))
    document = SimpleDocTemplate(args.out, pagesize=A4, leftMargin=2.2 * cm, rightMargin=2.2 * cm, topMargin=2 * cm, bottomMargin=2 * cm, title=title)
    document.build(story(lines, os.path.dirname(os.path.abspath(args.file)), name), onFirstPage=number, onLaterPages=number)
    print("made %s: %d pages" % (args.out, len(opened(args.out).pages)))


def info(args):
    reader = opened(args.file)
    print("%d pages" % len(reader.pages))
    for name, field in (reader.get_fields() or {}).items():
        print("field %s (%s) = %s" % (name, field.get("/FT", "?"), field.get("/V", "")))


def text(args):
    reader = opened(args.file)
    for n in chosen(args.pages, len(reader.pages)):
        print("## Page %d" % (n + 1))
        print(reader.pages[n].extract_text().strip() or "(no text: it is a picture)")


def merge(args):
    writer = pypdf.PdfWriter()
    for path in args.files:
        for page in opened(path).pages:
            writer.add_page(page)
    save(writer, args.out)


def take(args):
    reader, writer = opened(args.file), pypdf.PdfWriter()
    for n in chosen(args.pages, len(reader.pages)):
        page = writer.add_page(reader.pages[n])
        if args.rotate:
            page.rotate(args.rotate)
    save(writer, args.out)


def fill(args):
    reader, values = opened(args.file), dict(s.partition("=")[::2] for s in args.set)
    known = reader.get_fields() or {}
    for name in values:
        if name not in known:
            fail("there is no field %s; there are: %s" % (name, ", ".join(known) or "none"))
    writer = pypdf.PdfWriter()
    writer.append(reader)
    for page in writer.pages:
        writer.update_page_form_field_values(page, values, auto_regenerate=False)
    writer.set_need_appearances_writer(True)
    save(writer, args.out)


def save(writer, out):
    with open(out, "wb") as f:
        writer.write(f)
    print("made %s: %d pages" % (out, len(writer.pages)))


def picture(args):
    document = pypdfium2.PdfDocument(args.file)
    pages = chosen(args.pages, len(document))
    for n in pages:
        out = args.out if len(pages) == 1 else "%s-%d.png" % (os.path.splitext(args.out)[0], n + 1)
        document[n].render(scale=1.6).to_pil().save(out)
        print("made " + out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="what", required=True)
    for name, pages, out in (("info", False, False), ("text", True, False), ("make", False, True), ("take", True, True), ("fill", False, True), ("picture", True, True)):
        one = sub.add_parser(name)
        one.add_argument("file")
        if pages:
            one.add_argument("--pages")
        if out:
            one.add_argument("-o", "--out", required=True)
        if name == "take":
            one.add_argument("--rotate", type=int, choices=[90, 180, 270])
        if name == "fill":
            one.add_argument("--set", action="append", required=True)
    merger = sub.add_parser("merge")
    merger.add_argument("files", nargs="+")
    merger.add_argument("-o", "--out", required=True)
    args = parser.parse_args()
    if pypdf is None:
        missing("reportlab, pypdf or pypdfium2")
    {"info": info, "text": text, "make": make, "merge": merge, "take": take, "fill": fill, "picture": picture}[args.what](args)


if __name__ == "__main__":
    main()
