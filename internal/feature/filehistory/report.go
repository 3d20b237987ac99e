package filehistory

import (
	"fmt"
	"path"
	"strings"
)

// Report is a list of changes as clients get it, with the members that DeerFlow's has.
type Report struct {
	Available bool `json:"available"`
	Record
}

// Record is what is told of the changes themselves.
type Record struct {
	Version int        `json:"version"`
	Summary Summary    `json:"summary"`
	Files   []FileLine `json:"files"`
	Limits  Limits     `json:"limits"`
}

// String is the list in one line.
func (r Record) String() string {
	s := r.Summary
	n, noun := s.Created+s.Modified+s.Deleted+s.SymlinkCreated, "files"
	if n == 1 {
		noun = "file"
	}
	return fmt.Sprintf("%d %s changed +%d -%d", n, noun, s.Additions, s.Deletions)
}

// Summary counts changes and their lines.
type Summary struct {
	Created        int  `json:"created"`
	Modified       int  `json:"modified"`
	Deleted        int  `json:"deleted"`
	SymlinkCreated int  `json:"symlink_created"`
	Additions      int  `json:"additions"`
	Deletions      int  `json:"deletions"`
	Truncated      bool `json:"truncated"`
}

// FileLine is what became of one file.
type FileLine struct {
	Path          string  `json:"path"`
	Root          string  `json:"root"`
	Status        string  `json:"status"`
	Binary        bool    `json:"binary"`
	Sensitive     bool    `json:"sensitive"`
	SizeBefore    *int64  `json:"size_before"`
	SizeAfter     *int64  `json:"size_after"`
	SumBefore     *string `json:"sha256_before"`
	SumAfter      *string `json:"sha256_after"`
	Diff          string  `json:"diff"`
	DiffTruncated bool    `json:"diff_truncated"`
	Unavailable   *string `json:"diff_unavailable_reason"`
	Additions     int     `json:"additions"`
	Deletions     int     `json:"deletions"`
	Symlink       bool    `json:"symlink"`
	TargetBefore  *string `json:"symlink_target_before"`
	TargetAfter   *string `json:"symlink_target_after"`
}

// Limits are the bounds of a list; all of them are absent where there is none.
type Limits struct {
	MaxFiles     int `json:"max_files,omitempty"`
	MaxScanned   int `json:"max_scanned_files,omitempty"`
	MaxFileDiff  int `json:"max_file_bytes_for_diff,omitempty"`
	MaxTotalDiff int `json:"max_total_diff_bytes,omitempty"`
}

// Outputs are the files of the list that were made or changed in the outputs, as [Thread.Outputs] has them.
func (r Record) Outputs() (made []string) {
	for _, f := range r.Files {
		if f.Root == "outputs" && !f.Symlink && f.Status != "deleted" && !hidden(f.Path) {
			made = append(made, f.Path)
		}
	}
	return made
}

// hidden reports whether a path leads through a folder in which results are kept for the model.
func hidden(p string) bool { return strings.Contains(path.Dir(p)+"/", "/.") }

// Report is the list for clients, with its files, and their diffs, if they are asked for.
func (c Changes) Report(files, diffs bool) Report {
	r := Report{Record: Record{Version: 1, Files: []FileLine{}}}
	if c.Created+c.Modified+c.Deleted+c.Symlinks == 0 && !c.Truncated {
		return r
	}
	r.Available, r.Limits = true, Limits{MaxFiles, MaxScanned, MaxFileDiff, MaxTotalDiff}
	r.Summary = Summary{c.Created, c.Modified, c.Deleted, c.Symlinks, c.Additions, c.Deletions, c.Truncated}
	for _, f := range c.Files {
		if !files {
			break
		}
		line := f.Line()
		if !diffs {
			line.Diff = ""
		}
		r.Files = append(r.Files, line)
	}
	return r
}

// Line is the change as clients get it.
func (f FileChange) Line() FileLine {
	l := FileLine{
		Path: f.Virtual(), Root: f.Root(), Status: f.Status, Binary: f.Binary, Sensitive: f.Sensitive, Diff: f.Diff,
		DiffTruncated: f.Without == Truncated, Unavailable: orNil(f.Without), Additions: f.Additions,
		Deletions: f.Deletions, Symlink: f.Without == Symlink,
	}
	side := func(e Entry, size **int64, sum, target **string) {
		if e.Kind != File && e.Kind != Link {
			return
		}
		*size, *target = &e.Size, orNil(e.Target)
		if !f.Sensitive {
			*sum = orNil(e.Sum)
		}
	}
	side(f.Before, &l.SizeBefore, &l.SumBefore, &l.TargetBefore)
	side(f.After, &l.SizeAfter, &l.SumAfter, &l.TargetAfter)
	return l
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
