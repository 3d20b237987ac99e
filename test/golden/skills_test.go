package golden

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/ziptest"
	"github.com/pudu-ai/pudu/test/server"
)

// replaySkills replays the recordings of skills, one after the other, as they go on with what the one before has
// installed.
func replaySkills(t *testing.T, list []Recording, u *used) {
	t.Helper()
	s := server.Start(t, server.Options{Config: "testdata/skills.yaml", Model: "fake"})
	for i := range list {
		r := &replayer{base: s.URL, rec: &list[i], used: u, patience: patience, past: true, vars: Vars{}}
		if i == 0 {
			putArchives(t, s.Data, r)
		}
		report(t, r)
	}
}

// putArchives lays the archives that are installed, or refused, into a thread's outputs.
func putArchives(t *testing.T, data string, r *replayer) {
	t.Helper()
	r.invent(&r.rec.Exchanges[13]) // which names the thread
	dir := filepath.Join(data, "users", "default", "threads", fill("${n1}", r.vars), "user-data", "outputs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, list := range archives() {
		if err := os.WriteFile(filepath.Join(dir, name+".skill"), ziptest.Archive(t, list...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"text.skill": "text", "good.zip": "text"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// archives are by name. What is in them is what the traces tell of each.
func archives() map[string][]ziptest.Member {
	md := func(lines string) string { return "---\n" + lines + "\n---\n\n# Text\n" }
	one := func(name, description string, more ...ziptest.Member) []ziptest.Member {
		return append([]ziptest.Member{{Name: name + "/SKILL.md",
			Content: md("name: " + name + "\ndescription: " + description)}}, more...)
	}
	list := map[string][]ziptest.Member{
		"good": {
			{Name: "tidy-notes/SKILL.md",
				Content: "---\nname: tidy-notes\ndescription: Sort notes by date.\nlicense: MIT\nversion: \"1.2\"\n" +
					"author: me\nallowed-tools: [read_file]\nmetadata: {a: 1}\n---\n\n# Tidy\n"},
			{Name: "tidy-notes/references/r.md", Content: "Notes.\n"},
			{Name: "tidy-notes/scripts/run.py", Content: "print(1)\n"},
		},
		"flat": {{Name: "SKILL.md", Content: md("name: flat-one\ndescription: Files at the root of the archive.")}},
		"link": one("with-link", "Has a symlink.", ziptest.Member{Name: "with-link/passwd", Content: "/etc/passwd",
			Mode: fs.ModeSymlink | 0o777}),
		"warn":   one("warned", "demo-warn text."),
		"public": one("word-count", "Same name as a public skill."),
		"trav":   one("t", "d", ziptest.Member{Name: "../evil.txt"}),
		"abs":    one("t", "d", ziptest.Member{Name: "/abs.txt"}),
		"colon":  one("t", "d", ziptest.Member{Name: "t/a:b"}),
		"bomb":   one("b", "d", ziptest.Member{Name: "b/zero.bin", Zeros: 70}),
		"elf":    one("b", "d", ziptest.Member{Name: "b/tool", Content: "\x7fELF\x02\x01\x01"}),
		"nested": one("b", "d", ziptest.Member{Name: "b/sub/SKILL.md", Content: md("name: b\ndescription: d")}),
		"empty":  {},
		"nomd":   {{Name: "b/readme.md", Content: "text\n"}},
		"nofm":   {{Name: "b/SKILL.md", Content: "# Text\n"}},
		"tok": one("tok", "d", ziptest.Member{Name: "tok/scripts/a.py",
			Content: "import os\nos.system('ls')\nkey = 'AKIA" +
				"ABCDEFGHIJKLMNOP'\n"}),
		"blk": one("blk", "demo-block"),
		"gar": one("gar", "demo-garbage"),
		"scr": one("scr", "d", ziptest.Member{Name: "scr/scripts/a.sh", Content: "echo demo-warn\n"}),
		"bin": one("bin", "d", ziptest.Member{Name: "bin/references/a.md", Content: "a\xff\xfe"}),
	}
	for range 4096 {
		list["many"] = append(list["many"], ziptest.Member{Name: fmt.Sprintf("b/%d.txt", len(list["many"]))})
	}
	list["many"] = append(list["many"], one("b", "d")...)
	for i, head := range []string{
		"name: b", "description: d", "name: Bad_Name\ndescription: d", "name: -x\ndescription: d", "name: " +
			strings.Repeat("a", 65) + "\ndescription: d", "name: b\ndescription: a <b> c", "name: b\ndescription: " +
			strings.Repeat("d", 1025), "name: b\ndescription: d\ncolor: red",
		"name: 12\ndescription: d", "name: b\ndescription: [", "- a\n- b", "name: b\ndescription: d\nallowed-tools: 5",
	} {
		list[fmt.Sprintf("fm%d", i)] = []ziptest.Member{{Name: "b/SKILL.md", Content: md(head)}}
	}
	return list
}
