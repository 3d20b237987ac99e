package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
)

// patience is how long an answer may take to become what the recording has.
const patience = 20 * time.Second

// TestReplay replays every recording against our server.
func TestReplay(t *testing.T) {
	s := server.Start(t, server.Options{Config: "testdata/config.yaml", Model: "fake"})
	u := newUsed()
	t.Run("recordings", func(t *testing.T) {
		all := recordings(t)
		skill := func(rec Recording) bool { return strings.Contains(rec.Name, "-skills") }
		t.Run("skills", func(t *testing.T) {
			t.Parallel()
			replaySkills(t, slices.DeleteFunc(slices.Clone(all), func(rec Recording) bool { return !skill(rec) }), u)
		})
		for _, rec := range slices.DeleteFunc(slices.Clone(all), skill) {
			if !slices.ContainsFunc(rec.Exchanges, func(e Exchange) bool { return !IsLeftOut(rec.Name, &e) }) {
				continue
			}
			t.Run(rec.Name, func(t *testing.T) {
				t.Parallel()
				r := &replayer{base: s.URL, rec: &rec, used: u, patience: patience, past: true, vars: Vars{}}
				if strings.HasSuffix(rec.Name, "-artifacts") {
					putFiles(t, s.Data, r)
				}
				if strings.HasSuffix(rec.Name, "-agents") {
					r.before = func(e *Exchange) {
						if strings.HasSuffix(e.Path, "/agents/old") { // the first that asks for what lies there
							putAgents(t, s.Data)
						}
					}
				}
				replayParts(t, r)
			})
		}
	})
	for _, line := range append(u.rules.idle(changed()), u.finds.idle(excused())...) {
		t.Errorf("the table is for nothing: %s", line)
	}
}

// moves are the configurations of the servers on which recordings go on, by exchange.
func moves() map[string]string {
	return map[string]string{
		// These ask for the newest thread of a status: no other recording may make one meanwhile.
		"gateway/36a-model-errors, exchange 1": "config.yaml",
		"gateway/44-cancel, exchange 1":        "config.yaml",
		"gateway/46-multitask, exchange 1":     "config.yaml",

		"gateway/72-agents-disabled-user-profile, exchange 11": "noagents.yaml",
		"gateway/79-memory, exchange 38":                       "tenfacts.yaml",
		"gateway/79-memory, exchange 40":                       "nomemory.yaml",
	}
}

// replayParts replays a recording, each part of it on its server.
func replayParts(t *testing.T, r *replayer) {
	t.Helper()
	rec := *r.rec
	for from := 0; from < len(rec.Exchanges); {
		to := from + 1
		for to < len(rec.Exchanges) && moves()[place(&rec, to)] == "" {
			to++
		}
		if config := moves()[place(&rec, from)]; config != "" {
			s := server.Start(t, server.Options{Config: "testdata/" + config, Model: "fake"})
			r.base = s.URL
			if config == "noagents.yaml" {
				putAgents(t, s.Data)
			}
		}
		part := rec
		part.Exchanges = rec.Exchanges[from:to]
		r.rec, r.found = &part, nil
		report(t, r)
		from = to
	}
}

// place names an exchange.
func place(rec *Recording, i int) string {
	return fmt.Sprintf("%s, exchange %d", rec.Name, rec.Exchanges[i].N)
}

// report replays a recording and tells what does not fit.
func report(t *testing.T, r *replayer) {
	t.Helper()
	for _, f := range r.replay(t.Context()) {
		t.Error(f)
	}
}

// putAgents lays the folders that somebody made by hand.
func putAgents(t *testing.T, data string) {
	t.Helper()
	const own = "users/default/agents/"
	for name, content := range map[string]string{
		"agents/old/config.yaml": "description: shared one\n", "agents/old/SOUL.md": "Old soul.\n",
		own + "memo/memory.json": "{}", own + "broken/config.yaml": "name: [",
		own + "writer-1/config.yaml": "name: writer-1\n",
	} {
		if strings.Contains(name, "writer") != strings.Contains(t.Name(), "disabled") {
			continue
		}
		file := filepath.Join(data, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// putFiles lays the files that an agent wrote before a recording began.
func putFiles(t *testing.T, data string, r *replayer) {
	t.Helper()
	r.invent(&r.rec.Exchanges[0])
	dir := filepath.Join(data, "users", "default", "threads", fill("${n1}", r.vars), "user-data", "outputs")
	files := map[string]string{
		"a.txt": "hello\nworld\n", "page.html": "<html>hi</html>\n", "pic.svg": "<svg/>\n", "noext": "text\n",
		"blob": "\x00\x01\x02\x03", "s.js": "1\n", "t.csv": "a,b\n", "d.json": "{}\n", "x.xhtml": "<html/>\n",
		"f.pdf": "%PDF-1.4\n", "v.mp4": "\x00\x00\x00", "résumé 1.md": "# r\n", "empty.txt": "",
		"sub/deep.txt": "deep\n", "out.txt": "x\n",
		"img.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00",
	}
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.txt", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
}
