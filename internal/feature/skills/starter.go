package skills

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/config"
)

//go:embed all:public
var public embed.FS

// starters are the skills that the program brings along.
func starters() fs.FS {
	below, err := fs.Sub(public, "public")
	if err != nil {
		return public // which has no skill at its top
	}
	return below
}

// Starters are the skills that the program brings along, by name; none if the installation has others in their place.
func Starters(s config.SkillSettings) []Skill {
	if s.Path != "" {
		return nil
	}
	return slices.Clone(startersRead())
}

var startersRead = sync.OnceValue(func() []Skill {
	var none Skills
	var list []Skill
	r := root{Public, "", starters()}
	r.each(".", 0, func(dir string, info fs.FileInfo) bool {
		h, err := none.public.head(r, dir, info)
		if err == nil {
			list = append(list, Skill{Head: h, Category: Public, Dir: dir, Enabled: true, from: r.files})
		}
		return true
	})
	slices.SortFunc(list, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return list
})
