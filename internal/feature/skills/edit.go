package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// The actions of the history.
const (
	HumanEdit   = "human_edit"
	HumanDelete = "human_delete"
	RolledBack  = "rollback"
)

// Entry is a change of a skill. The content is that of the whole file; nil says that there was none, or is none any
// more.
type Entry struct {
	At       string  `json:"ts"`
	Action   string  `json:"action"`
	Author   string  `json:"author"` // human or agent
	Thread   *string `json:"thread_id"`
	File     string  `json:"file_path"`
	Previous *string `json:"prev_content"`
	New      *string `json:"new_content"`
	From     string  `json:"rollback_from_ts,omitempty"` // the entry that was rolled back
	Scan     Verdict `json:"scanner"`
}

// By says who changes a skill, and how that is called.
type By struct {
	Action string
	Author string
	Thread string // of the agent
}

// Human is a person who changes a skill.
func Human(action string) By { return By{Action: action, Author: "human"} }

// Errors of changes.
var (
	// ErrChanged: somebody else has changed it meanwhile.
	ErrChanged = errors.New("the skill was changed meanwhile; look at it and try again")
	// ErrNoHistory, ErrRange, ErrNothing: what there is to go back to.
	ErrNoHistory = errors.New("there is no history")
	ErrRange     = errors.New("history_index is out of range")
	ErrNothing   = errors.New("Selected history entry has no previous content to roll back to") //nolint:staticcheck // DeerFlow's words
)

// Text is the SKILL.md of one of the user's own skills.
func (m *Mine) Text(ctx context.Context, name string) (Skill, string, error) {
	s, err := m.own(ctx, name)
	if err != nil {
		return s, "", err
	}
	list, err := m.files(ctx, s)
	return s, textOf(list), err
}

func textOf(list []file) string {
	if i := slices.IndexFunc(list, func(f file) bool { return f.name == FileName }); i >= 0 {
		return string(list[i].content)
	}
	return ""
}

// Edit replaces the SKILL.md of one of the user's own skills.
func (m *Mine) Edit(ctx context.Context, name, text string, by By) (Skill, error) {
	s, err := m.own(ctx, name)
	if err != nil {
		return s, err
	}
	return m.rewrite(ctx, &s, name, FileName, &text, Entry{Action: by.Action, Author: by.Author, Thread: threadOf(by)})
}

func threadOf(by By) *string {
	if by.Thread == "" {
		return nil
	}
	return &by.Thread
}

// rewrite writes a file of a skill, or removes it where there is no content; s is nil if the skill is to be made of its
// SKILL.md.
func (m *Mine) rewrite(ctx context.Context, s *Skill, name, path string, content *string, e Entry) (Skill, error) {
	var list []file
	var err error
	if s != nil {
		if list, err = m.files(ctx, *s); err != nil {
			return *s, err
		}
	}
	mode := fs.FileMode(0o644)
	i := slices.IndexFunc(list, func(f file) bool { return f.name == path })
	if i >= 0 {
		e.Previous = new(string(list[i].content))
		mode = list[i].mode
		list = slices.Delete(list, i, i+1)
	}
	if content != nil {
		list = append(list, file{path, mode, []byte(*content)})
	}
	head, err := ParseHead(textOf(list))
	if err == nil && head.Name != name {
		err = invalidf("Frontmatter name '%s' must match requested skill name '%s'.", head.Name, name)
	}
	if err == nil && e.Author == agentAuthor && (len(head.Secrets) > 0 || s != nil && len(s.Secrets) > 0) {
		err = wrongf("Skill '%s' declares secrets: only a person may write it, so that nobody else decides what is "+
			"done with them.", name)
	}
	if err != nil {
		return Skill{}, err
	}
	p, err := repack(head, list, func(name string) bool { return name == path })
	if err == nil && m.all.cfg.Settings().Scan {
		err = refusal(name, p.found)
	}
	if err != nil {
		return Skill{}, err
	}
	e.File, e.New = path, content
	if e.Scan, err = m.review(ctx, p, "the edit"); err != nil {
		return Skill{}, err
	}
	if err := m.write(ctx, s, p, e); err != nil {
		return Skill{}, err
	}
	if err := m.Project(ctx); err != nil {
		return Skill{}, err
	}
	return m.Get(ctx, name)
}

// write stores a changed skill, or a new one, with the entry of its history.
func (m *Mine) write(ctx context.Context, s *Skill, p *packed, e Entry) error {
	b := body{Head: p.head, Scan: e.Scan}
	if s != nil {
		b.Source = s.Source
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	now := m.all.cfg.Now()
	return m.db.Write(ctx, int(p.size), func(tx database.Tx) error {
		var n int64
		var err error
		if s == nil {
			n, err = tx.Exec("add", p.head.Name, p.digest, database.Micros(now), string(raw))
		} else {
			n, err = tx.Exec("change", p.head.Name, s.Digest, p.digest, database.Micros(now), string(raw))
		}
		if err == nil && n == 0 {
			err = ErrChanged
		}
		if err == nil {
			err = m.putParts(tx, p)
		}
		if err == nil {
			_, err = tx.Exec("sweep")
		}
		if err == nil {
			err = note(tx, p.head.Name, now, e)
		}
		return err
	})
}

// note adds an entry to a skill's history.
func note(tx database.Tx, name string, now time.Time, e Entry) error {
	e.At = now.UTC().Format("2006-01-02T15:04:05.000000-07:00")
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var last int64
	if err := tx.Scan("last", []any{&last}, name); err != nil {
		return err
	}
	if _, err := tx.Exec("note", name, last+1, database.Micros(now), string(raw)); err != nil {
		return err
	}
	_, err = tx.Exec("trim", name, last+1-maxHistory)
	return err
}

// Remove removes one of the user's own skills. Its history stays.
func (m *Mine) Remove(ctx context.Context, name string, by By) error {
	s, text, err := m.Text(ctx, name)
	if err != nil {
		return err
	}
	e := Entry{Action: by.Action, Author: by.Author, Thread: threadOf(by), File: FileName, Previous: &text,
		Scan: Verdict{Decision: Allow, Reason: "Deletion requested.", Findings: []Finding{}}}
	now := m.all.cfg.Now()
	err = m.db.Write(ctx, len(text), func(tx database.Tx) error {
		n, err := tx.Exec("remove", s.Name)
		if err == nil && n == 0 {
			err = store.ErrNotFound
		}
		if err == nil {
			_, err = tx.Exec("sweep")
		}
		if err == nil {
			err = note(tx, s.Name, now, e)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove skill %s: %w", name, err)
	}
	return m.Project(ctx)
}

// History lists what became of a skill, the oldest change first; also of one that was removed.
func (m *Mine) History(ctx context.Context, name string) (list []Entry, err error) {
	list = []Entry{}
	err = m.db.Read(ctx, "entries", func(r database.Row) (bool, error) {
		var seq, at int64
		var raw string
		if err := r.Scan(&seq, &at, &raw); err != nil {
			return false, err
		}
		var e Entry
		err := json.Unmarshal([]byte(raw), &e)
		list = append(list, e)
		return true, err
	}, name)
	if err != nil {
		return nil, fmt.Errorf("read the history of skill %.80q: %w", name, err)
	}
	return list, nil
}

// Rollback undoes an entry of the history: the file is again what it was before. A negative index counts from the
// newest, which is -1. The SKILL.md of a skill that was removed brings the skill back, without its other files.
func (m *Mine) Rollback(ctx context.Context, name string, index int) (Skill, error) {
	list, err := m.History(ctx, name)
	if err != nil {
		return Skill{}, err
	}
	if index < 0 {
		index += len(list)
	}
	switch {
	case len(list) == 0:
		return Skill{}, ErrNoHistory
	case index < 0 || index >= len(list):
		return Skill{}, ErrRange
	case list[index].Previous == nil:
		return Skill{}, ErrNothing
	}
	var had *Skill
	s, err := m.own(ctx, name)
	switch {
	case err == nil:
		had = &s
	case !errors.Is(err, store.ErrNotFound) && !errors.Is(err, ErrBuiltIn):
		return Skill{}, err
	}
	e := list[index]
	return m.rewrite(ctx, had, name, e.File, e.Previous, Entry{Action: RolledBack, Author: "human", From: e.At})
}
