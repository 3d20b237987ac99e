package filehistory

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/sandbox"
)

// Bounds of what a list of changes shows.
const (
	MaxFiles     = 200
	MaxScanned   = 2000
	MaxFileDiff  = 256 << 10
	MaxTotalDiff = 1 << 20
)

// Why a change has no diff.
const (
	Binary    = "binary"
	Large     = "large"
	Sensitive = "sensitive"
	Truncated = "truncated"
	Symlink   = "symlink"
	NotKept   = "not_kept"
)

// FileChange is what a run did to a file, taken together.
type FileChange struct {
	Change

	// Status is "created", "modified", "deleted" or "symlink_created".
	Status            string
	Binary, Sensitive bool
	Diff              string
	// Without says why there is no diff; empty if there is one, or nothing to be shown.
	Without              string
	Additions, Deletions int
}

// Changes are what a run has changed in the workspace and the outputs.
type Changes struct {
	Files []FileChange
	// Created to Symlinks count all of the changes, also those that are not listed.
	Created, Modified, Deleted, Symlinks int
	Additions, Deletions                 int
	Truncated                            bool
}

// Changes tells what a run has changed, with a diff of each text. Without changes it is empty.
func (t *Thread) Changes(ctx context.Context, run string) (out Changes, err error) {
	if !id.IsName(run, maxRunID) {
		return out, nil
	}
	err = t.read(ctx, func(s *session) error {
		list, lost, err := s.net(run)
		if err != nil {
			return err
		}
		out.Truncated = lost
		return s.list(list, &out)
	})
	return out, err
}

// Outputs are the files that a run has made or changed in the outputs and left there, by the paths that the agent
// knows. Those in hidden folders, which hold what was too long for the model, are none.
func (t *Thread) Outputs(ctx context.Context, run string) (made []string, err error) {
	if !id.IsName(run, maxRunID) {
		return nil, nil
	}
	err = t.read(ctx, func(s *session) error {
		list, _, err := s.net(run)
		made = outputs(list)
		return err
	})
	return made, err
}

func outputs(list []Change) (made []string) {
	for _, c := range list {
		if c.Root() == "outputs" && shown(c) && c.After.Kind == File && !hidden(c.Path()) {
			made = append(made, c.Virtual())
		}
	}
	return made
}

// net is what a run has changed from its first call to its last, by path.
func (s *session) net(run string) (list []Change, lost bool, err error) {
	batches, err := s.batches(run)
	list, lost = fold(batches)
	return list, lost, err
}

// fold is what came of batches together, by path.
func fold(batches []Batch) (list []Change, lost bool) {
	all := make(map[string]Change)
	for _, b := range batches {
		lost = lost || b.Lost
		for _, c := range b.Changes {
			first, ok := all[c.Path()]
			if !ok {
				first = c
			}
			all[c.Path()] = Change{first.Before, c.After}
		}
	}
	for _, c := range all {
		if !same(c.Before, c.After) {
			list = append(list, c)
		}
	}
	sortChanges(list)
	return list, lost
}

// list describes changes for people.
func (s *session) list(all []Change, out *Changes) error {
	room := MaxTotalDiff
	for _, c := range all {
		if !shown(c) {
			continue
		}
		f := FileChange{Change: c, Status: statusOf(c), Sensitive: sensitive(path.Base(c.Path()))}
		out.count(f.Status)
		if len(out.Files) == MaxFiles {
			out.Truncated = true
			continue
		}
		if err := s.describe(&f, room); err != nil {
			return err
		}
		room -= len(f.Diff)
		out.Additions += f.Additions
		out.Deletions += f.Deletions
		out.Files = append(out.Files, f)
	}
	return nil
}

func (c *Changes) count(status string) {
	switch status {
	case "created":
		c.Created++
	case "modified":
		c.Modified++
	case "deleted":
		c.Deleted++
	default:
		c.Symlinks++
	}
}

// shown reports whether a change is one of a file or a link in the workspace or the outputs, and not in a folder that
// programs fill: such ones are kept and undone all the same.
func shown(c Change) bool {
	of := func(e Entry) bool { return e.Kind == File || e.Kind == Link }
	if !of(c.Before) && !of(c.After) {
		return false
	}
	names := strings.Split(c.Path(), "/")
	for _, n := range names[1 : len(names)-1] {
		switch n {
		case ".git", ".hg", ".svn", "build", "dist":
			return false
		}
	}
	return names[0] != "uploads"
}

func statusOf(c Change) string {
	switch {
	case c.After.Kind == Link && c.Before.Kind != Link:
		return "symlink_created"
	case c.After.Kind != File && c.After.Kind != Link:
		return "deleted"
	case c.Before.Kind != File && c.Before.Kind != Link:
		return "created"
	}
	return "modified"
}

// sensitive reports whether a file of this name may hold what is nobody's business. Nothing of its content is told.
func sensitive(name string) bool {
	name = strings.ToLower(name)
	for _, pattern := range []string{
		".env*", "*token*", "*secret*", "*password*", "*credential*", "*.key", "*.pem", "*.p12", "*.pfx", "id_rsa*",
		"id_ed25519*", ".netrc", ".npmrc", ".pypirc",
	} {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

// describe adds the diff, or why there is none.
func (s *session) describe(f *FileChange, room int) error {
	switch {
	case f.Before.Kind == Link || f.After.Kind == Link:
		f.Without = Symlink
		return nil
	case f.Sensitive:
		f.Without = Sensitive
		return nil
	case f.Before.Size > MaxFileDiff || f.After.Size > MaxFileDiff:
		f.Without = Large
		return nil
	}
	before, okBefore, errBefore := s.text(f.Before)
	after, okAfter, errAfter := s.text(f.After)
	switch {
	case errBefore != nil || errAfter != nil:
		f.Without = NotKept
	case !okBefore || !okAfter:
		f.Without, f.Binary = Binary, true
	default:
		f.Diff, f.Additions, f.Deletions = Unified(virtual(f.Path()), before, after)
		if f.Diff == "" && f.Before.Kind == File && f.After.Kind == File && f.Before.Mode != f.After.Mode {
			f.Diff = fmt.Sprintf("old mode %04o\nnew mode %04o", f.Before.Mode.Perm(), f.After.Mode.Perm())
		}
		if len(f.Diff) > room {
			f.Diff, f.Without = "", Truncated
		}
	}
	return nil
}

// text is the content of a file of at most [MaxFileDiff] bytes, and whether it is text. What is no file is empty.
func (s *session) text(e Entry) (string, bool, error) {
	if e.Kind != File {
		return "", true, nil
	}
	h, err := (&objects{root: s.dir}).open(e)
	if err != nil {
		return "", false, err
	}
	defer h.Close()
	raw, err := io.ReadAll(io.LimitReader(h, MaxFileDiff+1))
	return string(raw), isText(raw), err
}

func isText(raw []byte) bool {
	return utf8.Valid(raw) && !bytes.ContainsRune(raw, 0)
}

// Unified is the unified diff of two texts, with three lines around each change, and how many lines were added and
// removed. It has no line that says that a text does not end with a line's end.
func Unified(name, before, after string) (diff string, additions, deletions int) {
	edits := udiff.Lines(before, after)
	raw, err := udiff.ToUnified("a"+name, "b"+name, before, edits, udiff.DefaultContextLines)
	if err != nil || raw == "" {
		return "", 0, 0
	}
	var lines []string
	for i, line := range strings.Split(strings.TrimSuffix(raw, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, `\ `):
			continue
		case i > 1 && strings.HasPrefix(line, "+"):
			additions++
		case i > 1 && strings.HasPrefix(line, "-"):
			deletions++
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), additions, deletions
}

// Root is the folder that a change lies in: "workspace", "uploads" or "outputs".
func (c Change) Root() string { return firstOf(c.Path()) }

// Virtual is the changed path as the agent and clients know it.
func (c Change) Virtual() string {
	return sandbox.UserData + "/" + strings.ToValidUTF8(c.Path(), "\uFFFD")
}
