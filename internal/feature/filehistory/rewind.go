package filehistory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// Moment is when the files of a thread were what is wanted: before a run has changed any, or, if that is not known to
// have changed any, at a time.
type Moment struct {
	Run string
	At  time.Time
}

// RewindID names what [Thread.Rewind] has done for a run: by it that can be listed, and undone, as what a run has
// changed.
func RewindID(run string) string { return run + "-files" }

// Rewind makes the files what they were at a moment, for a run that goes on from there. It is done once for a run, and
// not any more when that has begun to change files, so that who takes the run over asks for it as well. What has no
// copy stays as it is, and is named.
func (t *Thread) Rewind(ctx context.Context, run string, to Moment) (out Undone, err error) {
	out = nothing()
	if !id.IsName(run, maxRunID) || !id.IsName(RewindID(run), maxRunID) {
		return out, errRun
	}
	err = t.read(ctx, func(s *session) error {
		begun, err := s.begun(run)
		if err == nil && !begun {
			out, err = s.undo(Undo{ID: RewindID(run), Force: true, to: &to})
		}
		return err
	})
	return out, err
}

// begun reports whether a run has changed files, or was rewound for.
func (s *session) begun(run string) (bool, error) {
	if s.state.Run == run {
		return true, nil
	}
	for _, name := range []string{run, RewindID(run)} {
		if list, err := s.batches(name); err != nil || len(list) > 0 {
			return true, err
		}
	}
	return false, nil
}

// since is what was changed since a moment, by path.
func (s *session) since(m Moment) ([]Change, error) {
	all, err := s.all()
	first := len(all)
	for i, b := range all {
		if b.Run == m.Run && m.Run != "" {
			first = i
			break
		}
		if first == len(all) && b.At > m.At.UnixMilli() {
			first = i
		}
	}
	list, _ := fold(all[first:])
	return list, err
}

// CopyTo gives a thread that has no history this one's, so that its files, which are a copy of this thread's, can be
// rewound.
func (t *Thread) CopyTo(ctx context.Context, to *Thread) error {
	return t.read(ctx, func(s *session) error {
		if err := s.look(Origin{}); err != nil {
			return err
		}
		root, err := to.place.Root(true)
		if err != nil {
			return err
		}
		defer root.Close()
		if err := root.Mkdir(userdata.History, 0o700); err != nil {
			return err
		}
		copied, err := root.OpenRoot(userdata.History)
		if err != nil {
			return err
		}
		defer copied.Close()
		return fs.WalkDir(s.dir.FS(), ".", func(p string, d fs.DirEntry, err error) error {
			return errors.Join(err, ctx.Err(), s.copyTo(copied, p, d))
		})
	})
}

// copyTo copies a file, or folder, of a history into another one.
func (s *session) copyTo(to *os.Root, name string, d fs.DirEntry) error {
	switch {
	case d == nil || name == "." || name == lockName:
		return nil
	case d.IsDir():
		return to.Mkdir(name, 0o700)
	}
	raw, err := s.dir.ReadFile(name) // at most what a history keeps of a file
	if err != nil {
		return err
	}
	return to.WriteFile(name, raw, 0o600)
}
