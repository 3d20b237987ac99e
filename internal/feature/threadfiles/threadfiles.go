// Package threadfiles shows the files of a thread to people: as a tree, as a ZIP of some of them, and by links that
// show pages in a browser. What it opens comes from [sandbox.Files], so that nothing leads out of the thread's folders.
//
//	sandbox.Files -> Tree -> entries            GET /threads/ID/files, pudu threads files
//	              -> Choose -> Archive.Write    GET /threads/ID/files.zip, pudu threads download
//	secrets -> Links.Make, Links.Open           GET /threads/ID/preview, GET /preview/LINK/PATH
package threadfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/sandbox"
)

// Kind is what an entry is.
type Kind string

// The kinds.
const (
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link"
	Other  Kind = "other" // a FIFO, a socket, a device
)

// Entry is something in the folders of a thread.
type Entry struct {
	// Path is that inside the sandbox.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
	// Size is that of a file, in bytes.
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified_at"`
	// MadeBy is null where it is not known.
	MadeBy *Maker `json:"made_by"`
}

// Maker is who made a file, or changed it last.
type Maker struct {
	// Kind is "upload", "tool", "command" or "run", as exactly as is known.
	Kind string `json:"kind"`
	// RunID is the run that it happened in; empty if it was in none.
	RunID string `json:"run_id,omitempty"`
}

// Makers knows who made which files of a thread, by their paths. What it does not know it leaves out.
type Makers func(ctx context.Context, u access.User, thread string, paths []string) (map[string]Maker, error)

const (
	// MaxEntries bounds what [Tree] returns.
	MaxEntries = 10_000
	// MaxOffset bounds what it leaves out: it goes through all of that.
	MaxOffset = 100_000
)

// Within is the path inside the sandbox that a client names: absolute, or below the thread's folders, as outputs/a.txt;
// an empty one is all of them. One that leads out is [sandbox.ErrOutside].
func Within(named string) (string, error) { return Below(sandbox.UserData, named) }

// Below is Within for another folder than that of the thread's files, such as [sandbox.Folder].
func Below(root, named string) (string, error) {
	if !strings.HasPrefix(named, "/") {
		named = root + "/" + named
	}
	clean, err := sandbox.CleanPath(named)
	if err == nil && clean != root && !strings.HasPrefix(clean, root+"/") {
		err = fmt.Errorf("%.200q: %w", named, sandbox.ErrOutside)
	}
	return clean, err
}

// Tree lists what is below a path in the root, which is [sandbox.UserData] for the files of a thread, each folder
// before what is in it. limit is at most [MaxEntries], offset [MaxOffset]; more says that something comes behind it.
func Tree(ctx context.Context, files *sandbox.Files, root, named string, limit,
	offset int) (list []Entry, more bool, err error) {
	under, err := Below(root, named)
	if err != nil {
		return nil, false, err
	}
	list = []Entry{}
	n := 0
	err = files.Walk(ctx, under, MaxOffset+MaxEntries, func(p string, e fs.DirEntry) error {
		n++
		switch {
		case n <= offset:
			return nil
		case len(list) == limit:
			more = true
			return fs.SkipAll
		}
		info, err := e.Info()
		if err == nil && info.ModTime().IsZero() { // the top of a mount, as its parent lists it
			info, err = files.Lstat(p)
		}
		if err == nil { // else it is gone
			list = append(list, entry(p, info))
		}
		return nil
	})
	if errors.Is(err, sandbox.ErrTooMany) {
		more, err = true, nil
	}
	return list, more, err
}

func entry(p string, info fs.FileInfo) Entry {
	e := Entry{Path: p, Kind: Other, Modified: info.ModTime().UTC()}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Kind, e.Size = File, info.Size()
	case mode.IsDir():
		e.Kind = Folder
	case mode&fs.ModeSymlink != 0:
		e.Kind = Link
	}
	if e.Kind == File && path.Dir(p) == sandbox.Uploads {
		e.MadeBy = &Maker{Kind: "upload"}
	}
	return e
}

// Fill says who made the entries, as far as makers knows better than the paths; nil knows nothing.
func Fill(ctx context.Context, makers Makers, u access.User, thread string, list []Entry) error {
	if makers == nil || len(list) == 0 {
		return nil
	}
	paths := make([]string, len(list))
	for i := range list {
		paths[i] = list[i].Path
	}
	known, err := makers(ctx, u, thread, paths)
	for i := range list {
		if m, ok := known[list[i].Path]; ok {
			list[i].MadeBy = &m
		}
	}
	return err
}
