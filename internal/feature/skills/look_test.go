package skills_test

import (
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

// looks shows the files of a skill of one's own and of a public one, the texts of those that are texts and not too
// long, and nothing of another user's.
func looks(f *databases.Fixture) {
	all := newSkills(f, nil)
	m := all.For(f.Ann())
	f.Must(install(f, m, entry{name: "assets/a.dat", content: "a\x00b"},
		entry{name: "SKILL.md", content: md("tidy", "Tidies.", "Do it.")},
		entry{name: "long.txt", content: strings.Repeat("long\n", 30<<10)},
		entry{name: "scripts/a.py", content: "print(1)\n"}))
	_, list, err := m.Look(f.Context(), "tidy")
	f.Must(err)
	var got []string
	for _, l := range list {
		got = append(got, fmt.Sprintf("%s %d %t", l.Path, l.Size, l.Content != nil))
	}
	f.Equal("files", strings.Join(got, ", "),
		"SKILL.md 48 true, assets/a.dat 3 false, long.txt 153600 false, scripts/a.py 9 true")
	f.Equal("text", *list[3].Content, "print(1)\n")
	_, list, err = m.Look(f.Context(), "csv-tidy")
	f.Must(err)
	f.Equal("a public one", list[0].Path, "SKILL.md")
	_, _, err = all.For(f.Bob()).Look(f.Context(), "tidy")
	f.Want(err, store.ErrNotFound, "")
}
