package golden

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// part of an archive.
type member struct {
	name, content string
	mode          fs.FileMode
	zeros         int // MiB of them in place of a content
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
		if err := os.WriteFile(filepath.Join(dir, name+".skill"), zipped(t, list), 0o644); err != nil {
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
func archives() map[string][]member {
	md := func(lines string) string { return "---\n" + lines + "\n---\n\n# Text\n" }
	one := func(name, description string, more ...member) []member {
		return append([]member{{name: name + "/SKILL.md",
			content: md("name: " + name + "\ndescription: " + description)}}, more...)
	}
	list := map[string][]member{
		"good": {
			{name: "tidy-notes/SKILL.md",
				content: "---\nname: tidy-notes\ndescription: Sort notes by date.\nlicense: MIT\nversion: \"1.2\"\n" +
					"author: me\nallowed-tools: [read_file]\nmetadata: {a: 1}\n---\n\n# Tidy\n"},
			{name: "tidy-notes/references/r.md", content: "Notes.\n"},
			{name: "tidy-notes/scripts/run.py", content: "print(1)\n"},
		},
		"flat": {{name: "SKILL.md", content: md("name: flat-one\ndescription: Files at the root of the archive.")}},
		"link": one("with-link", "Has a symlink.", member{name: "with-link/passwd", content: "/etc/passwd",
			mode: fs.ModeSymlink | 0o777}),
		"warn":   one("warned", "demo-warn text."),
		"public": one("word-count", "Same name as a public skill."),
		"trav":   one("t", "d", member{name: "../evil.txt"}),
		"abs":    one("t", "d", member{name: "/abs.txt"}),
		"colon":  one("t", "d", member{name: "t/a:b"}),
		"bomb":   one("b", "d", member{name: "b/zero.bin", zeros: 70}),
		"elf":    one("b", "d", member{name: "b/tool", content: "\x7fELF\x02\x01\x01"}),
		"nested": one("b", "d", member{name: "b/sub/SKILL.md", content: md("name: b\ndescription: d")}),
		"empty":  {},
		"nomd":   {{name: "b/readme.md", content: "text\n"}},
		"nofm":   {{name: "b/SKILL.md", content: "# Text\n"}},
		"tok": one("tok", "d", member{name: "tok/scripts/a.py", content: "import os\nos.system('ls')\nkey = 'AKIA" +
			"ABCDEFGHIJKLMNOP'\n"}),
		"blk": one("blk", "demo-block"),
		"gar": one("gar", "demo-garbage"),
		"scr": one("scr", "d", member{name: "scr/scripts/a.sh", content: "echo demo-warn\n"}),
		"bin": one("bin", "d", member{name: "bin/references/a.md", content: "a\xff\xfe"}),
	}
	for range 4096 {
		list["many"] = append(list["many"], member{name: fmt.Sprintf("b/%d.txt", len(list["many"]))})
	}
	list["many"] = append(list["many"], one("b", "d")...)
	for i, head := range []string{
		"name: b", "description: d", "name: Bad_Name\ndescription: d", "name: -x\ndescription: d", "name: " +
			strings.Repeat("a", 65) + "\ndescription: d", "name: b\ndescription: a <b> c", "name: b\ndescription: " +
			strings.Repeat("d", 1025), "name: b\ndescription: d\ncolor: red",
		"name: 12\ndescription: d", "name: b\ndescription: [", "- a\n- b", "name: b\ndescription: d\nallowed-tools: 5",
	} {
		list[fmt.Sprintf("fm%d", i)] = []member{{name: "b/SKILL.md", content: md(head)}}
	}
	return list
}

// zipped makes an archive. One compressor packs all its members: to make one takes far more time than to pack a small
// file.
func zipped(t *testing.T, list []member) []byte {
	t.Helper()
	packer, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		packer.Reset(w)
		return packer, nil
	})
	for _, m := range list {
		head := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.mode != 0 {
			head.SetMode(m.mode)
		}
		create, content := z.CreateHeader, []byte(m.content)
		if m.zeros > 0 {
			create, content = z.CreateRaw, zeros(t, m.zeros)
			head.CRC32 = crc32.ChecksumIEEE(make([]byte, m.zeros<<20))
			head.CompressedSize64, head.UncompressedSize64 = uint64(len(content)), uint64(m.zeros)<<20
		}
		w, err := create(head)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zeros are what so many MiB of them are when they are packed: as often what one is, and an end.
func zeros(t *testing.T, mib int) []byte {
	t.Helper()
	var one, end bytes.Buffer
	packer, err := flate.NewWriter(&one, flate.BestSpeed)
	if err == nil {
		_, err = packer.Write(make([]byte, 1<<20))
	}
	if err == nil {
		err = packer.Flush()
	}
	if err == nil {
		packer.Reset(&end)
		err = packer.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Repeat(one.Bytes(), mib), end.Bytes()...)
}
