"""Makes workbooks from CSV files, shows them, and writes their sheets as CSV."""

import argparse
import csv
import datetime
import os
import re
import sys

try:
    import openpyxl
    from openpyxl.chart import BarChart, LineChart, Reference
    from openpyxl.styles import Font, PatternFill
    from openpyxl.utils import get_column_letter
except ImportError:
    openpyxl = None


def fail(text):
    print("error: " + text, file=sys.stderr)
    sys.exit(1)


def missing(package):
    fail(package + " is not installed. The person can install it with: pudu toolbox install")



def rows_of(path):
    try:
        with open(path, "rb") as f:
            raw = f.read()
    except OSError as e:
        fail("cannot read %s: %s" % (path, e.strerror))
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            text = raw.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        fail("%s is neither UTF-8 nor GB18030" % path)
    delimiter = "\t" if path.endswith(".tsv") else ","
    rows = [r for r in csv.reader(text.splitlines(), delimiter=delimiter) if r]
    if not rows:
        fail("%s has no rows" % path)
    return rows


def value(text, formulas):
    """What a cell of a CSV is: a number, a date, a formula if those are wanted, or text. Numbers with leading zeros stay text."""
    t = text.strip()
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})", t):
        return int(t), None
    if re.fullmatch(r"-?(0|[1-9]\d*)\.\d+", t):
        return float(t), "#,##0.00"
    if re.fullmatch(r"-?\d+(\.\d+)?%", t):
        return float(t[:-1]) / 100, "0.0%"
    if re.fullmatch(r"\d{4}-\d\d-\d\d", t):
        try:
            return datetime.date.fromisoformat(t), "yyyy-mm-dd"
        except ValueError:
            return text, None
    if t.startswith("=") and formulas:
        return t, None
    return text, None


def fill(sheet, rows, formulas):
    for r, row in enumerate(rows, 1):
        for c, text in enumerate(row, 1):
            cell = sheet.cell(r, c)
            cell.value, form = (text, None) if r == 1 else value(text, formulas)
            if isinstance(cell.value, str) and cell.value.startswith("=") and not (formulas and r > 1):
                cell.data_type = "s"
            if form:
                cell.number_format = form
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="DDE8F3")
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    for c, column in enumerate(zip(*[r + [""] * (len(rows[0]) - len(r)) for r in rows]), 1):
        wide = max(sum(2 if ord(ch) > 0x2E7F else 1 for ch in text) for text in column[:500])
        sheet.column_dimensions[get_column_letter(c)].width = min(max(wide + 3, 9), 60)


def numeric(sheet, c, last):
    values = [sheet.cell(r, c).value for r in range(2, last + 1)]
    values = [v for v in values if v not in (None, "")]
    return bool(values) and all(isinstance(v, (int, float)) for v in values)


def make(args):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for path in args.csv:
        name = re.sub(r"[\[\]:*?/\\]", " ", os.path.splitext(os.path.basename(path))[0])[:31] or "Sheet"
        if name in book.sheetnames:
            fail("two sheets are named %s" % name)
        sheet, rows = book.create_sheet(name), rows_of(path)
        fill(sheet, rows, args.formulas)
        last, wide = len(rows), len(rows[0])
        figures = [c for c in range(1, wide + 1) if numeric(sheet, c, last)]
        if args.chart and figures and last > 1:
            chart = BarChart() if args.chart == "bar" else LineChart()
            chart.title, chart.height, chart.width = name, 9, 18
            for c in figures[:4]:
                chart.add_data(Reference(sheet, min_col=c, min_row=1, max_row=last), titles_from_data=True)
            label = next((c for c in range(1, wide + 1) if c not in figures), None)
            if label:
                chart.set_categories(Reference(sheet, min_col=label, min_row=2, max_row=last))
            for axis in (chart.x_axis, chart.y_axis):
                axis.delete = False
            sheet.add_chart(chart, get_column_letter(wide + 2) + "2")
        if args.total and figures:
            for c in (c for c in figures if "%" not in sheet.cell(last, c).number_format):
                letter = get_column_letter(c)
                cell = sheet.cell(last + 1, c, "=SUM(%s2:%s%d)" % (letter, letter, last))
                cell.font = Font(bold=True)
                cell.number_format = sheet.cell(last, c).number_format
        print("sheet %s: %d rows, %d columns, %d of numbers" % (name, last - 1, wide, len(figures)))
    book.save(args.out)
    print("made " + args.out)


def opened(path, formulas=False):
    try:
        return openpyxl.load_workbook(path, data_only=not formulas)
    except Exception as e:
        fail("cannot read %s: %s" % (path, e))


def show(args):
    for sheet in opened(args.file, args.formulas).worksheets:
        print("## %s: %d rows, %d columns" % (sheet.title, sheet.max_row, sheet.max_column))
        for row in sheet.iter_rows(max_row=min(args.rows, sheet.max_row), values_only=True):
            print("| " + " | ".join("" if v is None else str(v) for v in row) + " |")


def to_csv(args):
    book = opened(args.file)
    if args.sheet and args.sheet not in book.sheetnames:
        fail("there is no sheet %s; there are: %s" % (args.sheet, ", ".join(book.sheetnames)))
    sheet = book[args.sheet] if args.sheet else book.worksheets[0]
    with open(args.out, "w", newline="", encoding="utf-8") as f:
        rows = csv.writer(f)
        for row in sheet.iter_rows(values_only=True):
            rows.writerow(["" if v is None else v for v in row])
    print("wrote %s: sheet %s, %d rows" % (args.out, sheet.title, sheet.max_row))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sub = parser.add_subparsers(dest="what", required=True)
    maker = sub.add_parser("make")
    maker.add_argument("csv", nargs="+")
    maker.add_argument("-o", "--out", required=True)
    maker.add_argument("--total", action="store_true")
    maker.add_argument("--formulas", action="store_true")
    maker.add_argument("--chart", choices=["bar", "line"])
    shower = sub.add_parser("show")
    shower.add_argument("file")
    shower.add_argument("--rows", type=int, default=20)
    shower.add_argument("--formulas", action="store_true")
    writer = sub.add_parser("csv")
    writer.add_argument("file")
    writer.add_argument("--sheet")
    writer.add_argument("-o", "--out", required=True)
    args = parser.parse_args()
    if openpyxl is None:
        missing("openpyxl")
    {"make": make, "show": show, "csv": to_csv}[args.what](args)


if __name__ == "__main__":
    main()
