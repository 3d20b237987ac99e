package skills

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// maxPublic bounds how many public skills there may be; further ones are not shown. maxNested is how deep they are
// looked for.
const (
	maxPublic = 500
	maxNested = 4
)

// publics remember the heads of the files that they have read.
type publics struct {
	mu    sync.Mutex
	heads map[string]readHead
}

type readHead struct {
	size int64
	at   time.Time
	head Head
	err  error
}

// root is a folder with skills that are not of one user.
type root struct {
	category string
	dir      string // on the host; names it among others
	files    fs.FS
}

// roots are the folders of public skills, and of those of an older installation if legacy says so.
func roots(dir string, legacy bool) (list []root) {
	for category, name := range map[string]string{Public: "public", Legacy: "custom"} {
		at := filepath.Join(dir, name)
		if category == Public || legacy {
			list = append(list, root{category, at, os.DirFS(at)})
		}
	}
	return list
}

// publicSkills are those that the user did not install. A skill that cannot be read is passed over.
func (s *Skills) publicSkills(legacy bool) (list []Skill) {
	set := s.cfg.Settings()
	if set.Path == "" {
		return Starters(set)
	}
	for _, r := range roots(set.Path, legacy) {
		r.each(".", 0, func(dir string, info fs.FileInfo) bool {
			h, err := s.public.head(r, dir, info)
			if err == nil {
				list = append(list, Skill{Head: h, Category: r.category, Dir: dir, from: r.files})
			}
			return len(list) < maxPublic
		})
	}
	return list
}

// each calls do for each folder that has a SKILL.md. What lies below such a folder is a part of the skill. Links are
// followed: who writes there runs the installation.
func (r root) each(dir string, depth int, do func(dir string, info fs.FileInfo) bool) bool {
	entries, err := fs.ReadDir(r.files, dir)
	if err != nil {
		return true
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		info, err := fs.Stat(r.files, name)
		if err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), ".") || !fit(name) {
			continue
		}
		if main, err := fs.Stat(r.files, path.Join(name, FileName)); err == nil && main.Mode().IsRegular() {
			if !do(name, main) {
				return false
			}
		} else if depth+1 < maxNested && !r.each(name, depth+1, do) {
			return false
		}
	}
	return true
}

// head reads that of a skill, unless the file is as it was.
func (p *publics) head(r root, dir string, info fs.FileInfo) (Head, error) {
	file := path.Join(dir, FileName)
	key := r.dir + "\x00" + file
	p.mu.Lock()
	defer p.mu.Unlock()
	if k, ok := p.heads[key]; ok && k.size == info.Size() && k.at.Equal(info.ModTime()) {
		return k.head, k.err
	}
	k := readHead{size: info.Size(), at: info.ModTime()}
	if info.Size() > MaxText {
		k.err = invalidf("%s is too long", FileName)
	} else if raw, err := fs.ReadFile(r.files, file); err != nil {
		return Head{}, err // perhaps not the next time
	} else {
		k.head, k.err = ParseHead(string(raw))
	}
	if p.heads == nil || len(p.heads) > 4*maxPublic {
		p.heads = map[string]readHead{}
	}
	p.heads[key] = k
	return k.head, k.err
}

// Reload forgets what was read of public skills.
func (s *Skills) Reload() {
	s.public.mu.Lock()
	defer s.public.mu.Unlock()
	s.public.heads = nil
}
