package skills

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/config"
)

//go:embed all:public
var public embed.FS

// starters are the skills that the program brings along.
var starters = sync.OnceValue(func() fs.FS {
	below, err := fs.Sub(public, "public")
	if err != nil {
		return public // which has no skill at its top
	}
	return below
})

// startersSum tells the skills of this program from those of another version: their files have no times.
var startersSum = sync.OnceValue(func() string {
	sum := sha256.New()
	_ = fs.WalkDir(public, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			raw, _ := fs.ReadFile(public, name) // it is in the program
			fmt.Fprintf(sum, "%q %d\n", name, len(raw))
			sum.Write(raw)
		}
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))
})

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
