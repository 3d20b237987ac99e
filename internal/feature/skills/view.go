package skills

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// views are the copies of skills that threads see, as this process has made them.
type views struct {
	mu sync.Mutex
	of map[access.User]*view
}

// view is what one user's threads see: copies of the skills that are switched on, each in a folder CATEGORY/NAME.
type view struct {
	mu    sync.Mutex
	known map[string]copied
}

// copied is a skill's copy: what it was made of, and the files as they were right after.
type copied struct {
	key   string
	files map[string]stat
}

type stat struct {
	size int64
	at   time.Time
	mode fs.FileMode
}

func (v *views) get(u access.User) *view {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == nil {
		v.of = map[access.User]*view{}
	}
	if v.of[u] == nil {
		v.of[u] = &view{known: map[string]copied{}}
	}
	return v.of[u]
}

func (v *views) users() (list []access.User) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for u := range v.of {
		list = append(list, u)
	}
	return list
}

// rounds is how often a view is made that others change at the same time.
const rounds = 5

// Project makes what the user's threads see of skills equal to what is switched on: copies, of which those that somebody has changed
// are made anew. If that fails nothing is shown. Another process may do the same at once: who is last looks again at what is
// switched on.
func (m *Mine) Project(ctx context.Context) error {
	if m.all.cfg.View == nil {
		return nil
	}
	root, err := m.all.cfg.View(m.user)
	if err != nil {
		return err
	}
	defer root.Close()
	v := m.all.views.get(m.user)
	v.mu.Lock()
	defer v.mu.Unlock()
	list, err := m.shown(ctx)
	for i := 0; err == nil && i < rounds; i++ {
		if err = v.show(ctx, m, root, list); err != nil {
			break
		}
		var now []Skill
		now, err = m.shown(ctx)
		if slices.EqualFunc(list, now, func(a, b Skill) bool { return a.Path() == b.Path() && m.key(a) == m.key(b) }) {
			break
		}
		list = now
	}
	if err != nil {
		return errors.Join(fmt.Errorf("show the skills to threads: %w", err), v.show(context.WithoutCancel(ctx), m, root, nil))
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

// show removes what is not to be shown and makes what is missing.
func (v *view) show(ctx context.Context, m *Mine, root *os.Root, list []Skill) error {
	want := map[string]Skill{}
	for _, s := range list {
		want[s.Category+"/"+s.Name] = s
	}
	if err := v.clear(root, func(name string) bool {
		s, ok := want[name]
		return ok && v.known[name].key == m.key(s) && v.intact(root, name)
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

// tries bounds how often a copy is made anew that another process on the same folder has replaced or taken away meanwhile.
const tries = 20

// make shows the files of a skill.
func (v *view) make(root *os.Root, name, key string, files []file) error {
	to := path.Join(userdata.Shown, name)
	var err error
	for range tries {
		var now map[string]stat
		if err = place(root, to, files); err == nil {
			now, err = stats(root, to)
		}
		switch {
		case err == nil:
			v.known[name] = copied{key, now}
			return nil
		case errors.Is(err, fs.ErrExist):
			if err := remove(root, to); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return err
}

// place writes the files of a skill out of sight, and shows them in one step. That there is another copy is [fs.ErrExist].
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
	was := v.known[name].files
	if err != nil || len(now) != len(was) {
		return false
	}
	for file, s := range now {
		if w, ok := was[file]; !ok || w.size != s.size || w.mode != s.mode || !w.at.Equal(s.at) {
			return false
		}
	}
	return true
}

func stats(root *os.Root, dir string) (map[string]stat, error) {
	out := map[string]stat{}
	err := fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			out[strings.TrimPrefix(name, dir)] = stat{info.Size(), info.ModTime(), info.Mode()}
		}
		return err
	})
	return out, err
}

// key tells what a copy is made of: the content of the user's own ones, the files of the others.
func (m *Mine) key(s Skill) string {
	if s.Digest != "" {
		return s.Digest
	}
	var b strings.Builder
	for _, f := range s.list(false) {
		fmt.Fprintf(&b, "%s %d %d\n", f.name, f.size, f.at.UnixNano())
	}
	return b.String()
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
