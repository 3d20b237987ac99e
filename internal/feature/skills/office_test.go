package skills_test

import (
	"archive/zip"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
	"github.com/pudu-ai/pudu/internal/testkit/toolboxes"
)

// office runs the scripts of the skills that need the toolbox, in a folder of its own.
type office struct {
	t        *testing.T
	dir, box string
}

func newOffice(t *testing.T) *office {
	t.Helper()
	return &office{t, t.TempDir(), toolboxes.Get(t, "../../../.cache/toolbox").Host}
}

func (o *office) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// run runs a script and returns what it has printed.
func (o *office) run(script string, args ...string) string {
	o.t.Helper()
	at, err := filepath.Abs(filepath.Join("public", script))
	if err != nil {
		o.t.Fatal(err)
	}
	c := exec.Command("/usr/bin/python3", append([]string{"-B", at}, args...)...)
	c.Dir, c.Env = o.dir, []string{"PATH=/usr/bin:/bin", "LC_CTYPE=C.UTF-8", "PYTHONPATH=" + o.box + "/python",
		"PUDU_FONTS=" + o.box + "/fonts"}
	out, err := c.CombinedOutput()
	if err != nil || strings.Contains(strings.ToLower(string(out)), "warning") {
		o.t.Errorf("%s %q: %v\n%s", script, args, err, out)
	}
	return string(out)
}

// part is a file inside of a document of an office program.
func (o *office) part(file, name string) string {
	o.t.Helper()
	z, err := zip.OpenReader(filepath.Join(o.dir, file))
	if err != nil {
		o.t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open(name)
	if err != nil {
		o.t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		o.t.Fatal(err)
	}
	return string(text)
}

func (o *office) has(text string, words ...string) {
	o.t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			o.t.Errorf("%q is missing in %.2000s", w, text)
		}
	}
}

const text = "# 季度报告 Report\nThe **销售额** grew *12%*.\n## 结果\n- 北京\n\n1. first\n\n| 地区 | 额 |\n|---|---|\n| 上海 | 900 |\n> 引用\n"

func TestDocument(t *testing.T) {
	o := newOffice(t)
	o.write("text.md", text)
	o.run("document/scripts/word.py", "make", "text.md", "-o", "out.docx")
	o.has(o.part("out.docx", "word/document.xml"), "季度报告 Report", "<w:b/>", "<w:tbl>", "上海", "引用", `w:val="ListBullet"`,
		`w:val="Heading2"`)
	o.has(o.part("out.docx", "word/footer1.xml"), "PAGE")
	o.has(o.run("document/scripts/word.py", "read", "out.docx"), "# 季度报告 Report", "- 北京", "| 上海 | 900 |")
}

func TestSlides(t *testing.T) {
	o := newOffice(t)
	o.write("deck.md",
		"# 销售 Sales\n2026\n## 概况\n- 北京\n  - 新客户\nNote: 先说结论\n## 表格\n| 地区 | 额 |\n|---|---|\n| 上海 | 900 |\n")
	o.run("slides/scripts/deck.py", "make", "deck.md", "-o", "out.pptx")
	o.has(o.part("out.pptx", "ppt/slides/slide1.xml"), "销售 Sales", "2026")
	o.has(o.part("out.pptx", "ppt/slides/slide2.xml"), "新客户", `lvl="1"`)
	o.has(o.part("out.pptx", "ppt/slides/slide3.xml"), "<a:tbl>", "上海")
	o.has(o.part("out.pptx", "ppt/notesSlides/notesSlide1.xml"), "先说结论")
	o.has(o.run("slides/scripts/deck.py", "read", "out.pptx"), "  - 新客户", "| 上海 | 900 |", "Note: 先说结论")
}

func TestSpreadsheet(t *testing.T) {
	o := newOffice(t)
	o.write("销售.csv", "地区,额,增长,日期\n北京,1200,12%,2026-01-02\n=1+1,900.5,-3%,2026-01-03\n")
	o.run("spreadsheet/scripts/book.py", "make", "销售.csv", "-o", "out.xlsx", "--total", "--chart", "bar")
	sheet := o.part("out.xlsx", "xl/worksheets/sheet1.xml")
	o.has(sheet, "<v>1200</v>", "<f>SUM(B2:B3)</f>", "<v>-0.03</v>", "autoFilter")
	if strings.Contains(sheet, "<f>1+1</f>") {
		t.Error("a text of the CSV became a formula")
	}
	o.has(o.part("out.xlsx", "xl/charts/chart1.xml"), "barChart")
	o.has(o.part("out.xlsx", "xl/workbook.xml"), "销售")
	o.run("spreadsheet/scripts/book.py", "csv", "out.xlsx", "-o", "back.csv")
	back, err := os.ReadFile(filepath.Join(o.dir, "back.csv"))
	if err != nil {
		t.Fatal(err)
	}
	o.has(string(back), "地区,额", "北京,1200,0.12")
}

func TestPDF(t *testing.T) {
	o := newOffice(t)
	o.write("text.md", text)
	const script = "pdf/scripts/pages.py"
	o.run(script, "make", "text.md", "-o", "a.pdf")
	o.run(script, "merge", "a.pdf", "a.pdf", "-o", "b.pdf")
	o.has(o.run(script, "info", "b.pdf"), "2 pages")
	o.run(script, "take", "b.pdf", "--pages", "2", "--rotate", "90", "-o", "c.pdf")
	o.has(o.run(script, "text", "c.pdf"), "季度报告", "上海")
	o.run(script, "picture", "a.pdf", "-o", "a.png")
	if png, err := os.ReadFile(filepath.Join(o.dir, "a.png")); err != nil ||
		!strings.HasPrefix(string(png), "\x89PNG") {
		t.Errorf("the picture: %v", err)
	}
	reader, err := exec.LookPath("pdftotext")
	if err != nil {
		machinetest.Cannot(t, "pdftotext, which reads what was made")
	}
	out, err := exec.Command(reader, filepath.Join(o.dir, "a.pdf"), "-").CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	o.has(string(out), "季度报告 Report", "销售额", "上海", "900", "引用")
}

func TestCharts(t *testing.T) {
	o := newOffice(t)
	o.write("sales.csv", "月份,地区,额\n一月,北京,\"1,200\"\n二月,北京,900\n一月,上海,700\n二月,上海,n/a\n")
	o.has(o.run("charts/scripts/chart.py", "columns", "sales.csv"), "地区: 2 texts, such as 上海, 北京")
	for _, kind := range []string{"bar", "barh", "line", "area", "pie", "histogram", "box"} {
		args := []string{kind, "sales.csv", "--x", "月份", "--y", "额", "--how", "sum", "--title", "销售 Sales", "-o", kind +
			".png"}
		if kind == "bar" {
			args = append(args, "--by", "地区", "--labels", "--unit", "万元")
			args[len(args)-6] = "bar.pdf"
		}
		o.has(o.run("charts/scripts/chart.py", args...), "drew "+kind+".p", "1 were left out")
	}
	f, err := os.Open(filepath.Join(o.dir, "line.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c, err := png.DecodeConfig(f); err != nil || c.Width != 1350 || c.Height != 780 {
		t.Errorf("a picture of %d x %d, %v", c.Width, c.Height, err)
	}
	reader, err := exec.LookPath("pdftotext")
	if err != nil {
		machinetest.Cannot(t, "pdftotext, which reads what was made")
	}
	out, err := exec.Command(reader, filepath.Join(o.dir, "bar.pdf"), "-").CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	o.has(string(out), "销售 Sales", "一月", "上海", "额 (万元)", "1200")
}

// TestWithoutTheToolbox: a script that lacks its package says which one, and how the person gets it.
func TestWithoutTheToolbox(t *testing.T) {
	o := &office{t: t, dir: t.TempDir()}
	o.write("in.md", "# Tea\n\n## Tea\n\ntext\n")
	o.write("in.csv", "month,amount\nMay,12\n")
	for _, c := range []struct{ script, args, needs string }{
		{"charts/scripts/chart.py", "bar in.csv --x month --y amount -o out.png", "matplotlib"},
		{"document/scripts/word.py", "make in.md -o out.docx", "docx"},
		{"slides/scripts/deck.py", "make in.md -o out.pptx", "pptx"},
		{"spreadsheet/scripts/book.py", "make in.csv -o out.xlsx", "openpyxl"},
		{"pdf/scripts/pages.py", "make in.md -o out.pdf", "reportlab"},
	} {
		at, err := filepath.Abs(filepath.Join("public", c.script))
		if err != nil {
			t.Fatal(err)
		}
		// -S: without what the machine has
		cmd := exec.Command("/usr/bin/python3", append([]string{"-S", "-B", at}, strings.Fields(c.args)...)...)
		cmd.Dir, cmd.Env = o.dir, []string{"PATH=/usr/bin:/bin", "LC_CTYPE=C.UTF-8"}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), "error: "+c.needs) ||
			!strings.Contains(string(out), "pudu toolbox install") {
			t.Errorf("%s: %v, %s", c.script, err, out)
		}
	}
	if left, err := filepath.Glob(filepath.Join(o.dir, "out.*")); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}
