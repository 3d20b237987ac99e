package skills

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/lib/flock"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// maxViews bounds of how many users a process remembers that it shows them skills.
const maxViews = 1000

// views are the users to whom this process shows skills, the last ones last. A public skill that is switched brings
// theirs up to date.
type views struct {
	mu sync.Mutex
	of []access.User
}

// seen puts a user last.
func (v *views) seen(u access.User) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := slices.Index(v.of, u); i >= 0 {
		v.of = slices.Delete(v.of, i, i+1)
	}
	v.of = append(v.of, u)
	v.of = v.of[max(0, len(v.of)-maxViews):]
}

func (v *views) users() []access.User {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.of)
}

// view is what one user's threads see: copies of the skills that are switched on, each in a folder CATEGORY/NAME. It
// exists while the folder is locked.
type view struct {
	known map[string]copied
	// kept is what is on the disk of it; nil if nothing is.
	kept map[string]copied
	// seen is when each copy was looked at last.
	seen time.Time
}

// copied is a skill's copy: a sum of what it was made of, and one of the sizes, times and modes of its files right
// after.
type copied struct {
	Key   string `json:"key"`
	Files string `json:"files"`
}

// The files beside the copies, which no thread sees: the lock, and what the copies were made of. The latter's time is
// when each copy was looked at last.
const (
	lockFile  = ".lock"
	knownFile = ".made"
	maxKnown  = 4 << 20
)

// lock keeps other processes, and others of this one, from changing the folder until the function that it returns is
// called.
func lock(ctx context.Context, root *os.Root) (v *view, unlock func(), err error) {
	f, err := root.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := flock.Wait(ctx, f); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	v = &view{}
	if info, err := root.Stat(knownFile); err == nil && info.Size() <= maxKnown {
		v.seen = info.ModTime()
		if raw, err := root.ReadFile(knownFile); err != nil || json.Unmarshal(raw, &v.kept) != nil {
			v.kept = nil // then all is made anew
		}
	}
	if v.known = maps.Clone(v.kept); v.known == nil {
		v.known = map[string]copied{}
	}
	return v, func() { f.Close() }, nil
}

// save keeps what the copies were made of, and when they were looked at. Without it they are made anew the next time:
// what is no longer true goes first.
func (v *view) save(root *os.Root, seen time.Time) error {
	if v.kept == nil || !maps.Equal(v.kept, v.known) {
		raw, err := json.Marshal(v.known)
		if err != nil {
			return err
		}
		if err := root.Remove(knownFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fresh := knownFile + "-new"
		if err := root.WriteFile(fresh, raw, 0o600); err != nil {
			return err
		}
		if err := root.Rename(fresh, knownFile); err != nil {
			return err
		}
	}
	return root.Chtimes(knownFile, seen, seen)
}

const (
	// rounds is how often a view is made that others change at the same time.
	rounds = 5
	// rest is how long the copies are not looked at again. All runs of a user have the same ones, so none has them for
	// itself in that time either.
	rest = time.Second
)

// Project makes what the user's threads see of skills equal to what is switched on: copies, of which those that
// somebody has changed are made anew, unless they were looked at within the last second. If that fails nothing is
// shown. Another process that does the same waits, and finds what this one has made.
func (m *Mine) Project(ctx context.Context) error {
	if m.all.cfg.View == nil {
		return nil
	}
	root, err := m.all.cfg.View(m.user)
	if err != nil {
		return err
	}
	defer root.Close()
	m.all.views.seen(m.user)
	v, unlock, err := lock(ctx, root)
	if err != nil {
		return fmt.Errorf("show the skills to threads: %w", err)
	}
	defer unlock()
	list, err := m.shown(ctx)
	now := m.all.cfg.Now()
	if age := now.Sub(v.seen); err == nil && age >= 0 && age < rest && v.shows(m, list) {
		return nil
	}
	for i := 0; err == nil && i < rounds; i++ {
		if err = v.arrange(ctx, m, root, list); err == nil {
			list, err = m.shown(ctx)
		}
		if v.shows(m, list) {
			break
		}
	}
	if err != nil {
		err = errors.Join(err, v.arrange(context.WithoutCancel(ctx), m, root, nil))
	}
	if err = errors.Join(err, v.save(root, now)); err != nil {
		return fmt.Errorf("show the skills to threads: %w", err)
	}
	return nil
}

// shown are the skills that are switched on.
func (m *Mine) shown(ctx context.Context) ([]Skill, error) {
	list, err := m.List(ctx)
	return slices.DeleteFunc(list, func(s Skill) bool { return !s.Enabled }), err
}

// reproject brings what threads see up to date after a change; of a public skill, for all users of this process.
func (m *Mine) reproject(ctx context.Context, everybody bool) error {
	if !everybody {
		return m.Project(ctx)
	}
	var errs []error
	for _, u := range m.all.views.users() {
		errs = append(errs, m.all.For(u).Project(ctx))
	}
	return errors.Join(errs...)
}

// shows reports whether the copies were made of these skills.
func (v *view) shows(m *Mine, list []Skill) bool {
	return len(list) == len(v.known) && !slices.ContainsFunc(list, func(s Skill) bool {
		return v.known[s.Category+"/"+s.Name].Key != m.key(s)
	})
}

// arrange removes what is not to be shown and makes what is missing.
func (v *view) arrange(ctx context.Context, m *Mine, root *os.Root, list []Skill) error {
	want := map[string]Skill{}
	for _, s := range list {
		want[s.Category+"/"+s.Name] = s
	}
	if err := v.clear(root, func(name string) bool {
		s, ok := want[name]
		return ok && v.known[name].Key == m.key(s) && v.intact(root, name)
	}); err != nil {
		return err
	}
	for name, s := range want {
		if _, ok := v.known[name]; ok {
			continue
		}
		files, err := m.all.filesOf(ctx, m, s)
		if err == nil {
			err = v.make(root, name, m.key(s), files)
		}
		if err != nil {
			return fmt.Errorf("skill %s: %w", s.Name, err)
		}
	}
	return nil
}

// clear removes what is not to stay.
func (v *view) clear(root *os.Root, stays func(name string) bool) error {
	tops, err := fs.ReadDir(root.FS(), userdata.Shown)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, top := range tops {
		entries, err := fs.ReadDir(root.FS(), path.Join(userdata.Shown, top.Name()))
		if err != nil { // no folder: nothing of ours
			if err := sandbox.RemoveAll(root, path.Join(userdata.Shown, top.Name())); err != nil {
				return err
			}
		}
		for _, e := range entries {
			name := top.Name() + "/" + e.Name()
			if there[name] = stays(name); !there[name] {
				if err := remove(root, path.Join(userdata.Shown, name)); err != nil {
					return err
				}
			}
		}
	}
	for name := range v.known {
		if !there[name] {
			delete(v.known, name)
		}
	}
	return nil
}

// remove takes a folder out of sight in one step, and then away.
func remove(root *os.Root, name string) error {
	gone := ".gone-" + rand.Text()
	if err := root.Rename(name, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return sandbox.RemoveAll(root, gone)
}

// make shows the files of a skill.
func (v *view) make(root *os.Root, name, key string, files []file) error {
	to := path.Join(userdata.Shown, name)
	if err := place(root, to, files); err != nil {
		return err
	}
	now, err := stats(root, to)
	if err == nil {
		v.known[name] = copied{key, now}
	}
	return err
}

// place writes the files of a skill out of sight, and shows them in one step.
func place(root *os.Root, to string, files []file) error {
	stage := ".new-" + rand.Text()
	for _, f := range files {
		at := path.Join(stage, f.name)
		if err := root.MkdirAll(path.Dir(at), 0o755); err != nil {
			return errors.Join(err, sandbox.RemoveAll(root, stage))
		}
		if err := root.WriteFile(at, f.content, 0o644|f.mode&0o111); err != nil {
			return errors.Join(err, sandbox.RemoveAll(root, stage))
		}
	}
	err := root.MkdirAll(path.Dir(to), 0o755)
	if err == nil {
		err = root.Rename(stage, to)
	}
	if err != nil {
		err = errors.Join(err, sandbox.RemoveAll(root, stage))
	}
	return err
}

// intact reports whether a copy is as it was made.
func (v *view) intact(root *os.Root, name string) bool {
	now, err := stats(root, path.Join(userdata.Shown, name))
	return err == nil && now == v.known[name].Files
}

// stats is a sum of the names, sizes, times and modes of the files in a folder.
func stats(root *os.Root, dir string) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintf(sum, "%q %d %d %o\n", strings.TrimPrefix(name, dir), info.Size(), info.ModTime().UnixNano(),
				info.Mode())
		}
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// key tells what a copy is made of: the content of the user's own ones and of those of this program, the files of the
// others.
func (m *Mine) key(s Skill) string {
	switch {
	case s.Digest != "":
		return s.Digest
	case s.from == starters():
		return startersSum()
	}
	sum := sha256.New()
	for _, f := range s.list(false) {
		fmt.Fprintf(sum, "%q %d %d\n", f.name, f.size, f.at.UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// filesOf are the files of a skill, be it the user's own or a public one.
func (s *Skills) filesOf(ctx context.Context, m *Mine, of Skill) ([]file, error) {
	if of.Digest != "" {
		return m.files(ctx, of)
	}
	var out []file
	for _, f := range of.list(true) {
		if f.err != nil {
			return nil, f.err
		}
		out = append(out, f.file)
	}
	return out, nil
}

// publicFile is a file of a public skill.
type publicFile struct {
	file

	size int64
	at   time.Time
	err  error
}

// list lists the files of a public skill, with their content if read says so. Links are left out, and what is too much.
func (s *Skill) list(read bool) (out []publicFile) {
	if s.from == nil {
		return nil
	}
	var total int64
	_ = fs.WalkDir(s.from, s.Dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // what cannot be read is left out
		}
		info, err := e.Info()
		short := strings.TrimPrefix(name, s.Dir+"/")
		if err != nil || !fit(short) || len(out) >= maxMembers || total+info.Size() > maxTotal {
			return nil //nolint:nilerr // what cannot be read is left out
		}
		total += info.Size()
		f := publicFile{file: file{name: short, mode: info.Mode().Perm()}, size: info.Size(), at: info.ModTime()}
		if read {
			f.content, f.err = fs.ReadFile(s.from, name)
		}
		out = append(out, f)
		return nil
	})
	return out
}
