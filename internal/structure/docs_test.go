package structure

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is how long a line of prose may be. That of Go is the linter's business.
const maxColumns = 120

// TestLinesOfDocs: what is written for people fits a screen. Tables, examples and comments may be wider.
func TestLinesOfDocs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(file string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(file) == ".md" {
			files = append(files, file)
		}
		return err
	})
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files were found: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range longLines(string(text)) {
			t.Errorf("%s:%d: more than %d columns", file, n, maxColumns)
		}
	}
}

// longLines finds the lines of prose that are too long, by their numbers from 1.
func longLines(text string) (out []int) {
	fenced := false
	for i, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fenced = !fenced
		}
		apart := fenced || strings.HasPrefix(strings.TrimSpace(l), "|") || strings.HasPrefix(l, "    ") ||
			strings.HasPrefix(l, "<!--")
		if !apart && utf8.RuneCountInString(l) > maxColumns {
			out = append(out, i+1)
		}
	}
	return out
}

func TestLongLinesAreFound(t *testing.T) {
	long := strings.Repeat("ä", maxColumns+1)
	text := fmt.Sprintf("%s\n%s\n| %[2]s |\n    %[2]s\n```\n%[2]s\n```\n* %[2]s\n<!-- %[2]s -->\n", long[2:], long)
	if got := longLines(text); !slices.Equal(got, []int{2, 8}) {
		t.Errorf("got %v", got)
	}
}
