package prompts

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/skills"
)

// writeFiles writes the user's files.
func writeFiles(dir string) error {
	chart, err := draw(64, 48)
	if err != nil {
		return err
	}
	photo, err := draw(80, 60)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"uploads/draft.md":    []byte(weeks("draft", 90)),
		"uploads/numbers.csv": []byte(numbers(40)),
		"uploads/archive.md":  []byte(weeks("archive", 330)),
		"uploads/chart.png":   chart,
		"uploads/photo.png":   photo,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// letters is a skill of the user's own.
const letters = "---\nname: letters\ndescription: How to write to the harbour's partners.\n---\n# Letters\n\n" +
	"- Begin with what the reader has to decide.\n- One figure per paragraph, with its source.\n- One page, unless " +
	"another length was asked for.\n"

// packed is the skill as an archive.
func packed(skill string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(skills.FileName)
	if err == nil {
		_, err = io.WriteString(w, skill)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// weeks is a text with a line for each week, and a heading for each ten.
func weeks(title string, n int) string {
	var b strings.Builder
	for i := range n {
		if i%10 == 0 {
			fmt.Fprintf(&b, "\n# The %s, part %d\n\n", title, i/10+1)
		}
		fmt.Fprintf(&b, "In week %d the harbour saw %d ships at quay %d, and %d of them were late for reasons of "+
			"weather.\n", i%52+1, 90+i*37%80, i%7+1, i*13%9)
	}
	return b.String()
}

func numbers(n int) string {
	var b strings.Builder
	b.WriteString("week,ships,delay_minutes\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%d,%d\n", i+1, 90+i*37%80, i*13%90)
	}
	return b.String()
}

// draw makes a small picture: what images weigh in bytes says nothing of what they cost.
func draw(w, h int) ([]byte, error) {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for x := range w {
		img.SetGray(x, h-1-x*h/w, color.Gray{Y: 255})
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}
