package skills

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// What [Mine.Look] shows, in bytes: of one file, and of all.
const (
	maxShown    = 128 << 10
	maxAllShown = 1 << 20
)

// Looked is a file of a skill as people see it.
type Looked struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Content is its text; nil where it is no text, or too long to be shown.
	Content *string `json:"content"`
}

// Look lists the files of a skill that the user has, SKILL.md first, with the texts of those that are not too long.
func (m *Mine) Look(ctx context.Context, name string) (Skill, []Looked, error) {
	s, err := m.Get(ctx, name)
	if err != nil {
		return s, nil, err
	}
	list, err := m.all.filesOf(ctx, m, s)
	if err != nil {
		return s, nil, err
	}
	out, shown := make([]Looked, 0, len(list)), 0
	for _, f := range list {
		l := Looked{Path: f.name, Size: int64(len(f.content))}
		if n := len(f.content); n <= maxShown && shown+n <= maxAllShown && isText(f.content) {
			text := string(f.content)
			l.Content, shown = &text, shown+n
		}
		if f.name == FileName {
			out = append([]Looked{l}, out...)
		} else {
			out = append(out, l)
		}
	}
	return s, out, nil
}

func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }
