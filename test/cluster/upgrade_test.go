//go:build linux

package cluster

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/pudu-ai/pudu/test/server"
)

// oldProgram makes the data of an earlier version anew, with that version's program:
//
//	go test ./test/cluster -run TestUpgrade -old /path/of/pudu
var oldProgram = flag.String("old", "", "program of an earlier version, with which testdata/old-*.tar.gz are made")

// The threads of the data: one that is done, and one that was cut off by kill -9 during a command, with a run that
// waits.
const (
	doneThread = "done"
	cutThread  = "cut"
)

// remembered are the routes whose answers an upgrade does not change.
func remembered() []string {
	return []string{
		"/threads/done/state", "/threads/done/history?limit=100", "/threads/done/runs", "/threads/done",
		"/store/items?namespace=notes&key=one", "/threads/done/artifacts/mnt/user-data/outputs/note.txt",
	}
}

// TestUpgrade opens data of an earlier version, finds in it what that version showed, and goes on with its runs.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{
		"sqlite":   func(testing.TB) string { return "" },
		"postgres": func(t testing.TB) string { return pg.Database(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := alone(t)
			p.database = database(t)
			file := filepath.Join("testdata", "old-"+name+".tar.gz")
			if *oldProgram != "" {
				makeOld(t, p, file)
				return
			}
			unpack(t, file, filepath.Dir(p.dir))
			restoreDump(t, p)
			var was map[string]json.RawMessage
			raw, err := os.ReadFile(filepath.Join(filepath.Dir(p.dir), "answers.json"))
			server.Must(t, err)
			server.Must(t, json.Unmarshal(raw, &was))

			n := p.start(t, options{})
			for path, want := range was {
				if d := cmp.Diff(known(t, want), known(t, n.remember(path))); d != "" {
					t.Errorf("%s (-was +is):\n%s", path, d)
				}
			}
			var runs []run
			n.api(http.MethodGet, "/threads/"+cutThread+"/runs", "", &runs)
			if len(runs) != 2 {
				t.Fatalf("%+v", runs)
			}
			for _, r := range runs {
				n.succeeds(r)
			}
			n.succeeds(n.submit(doneThread, plan{Plan: "after", Words: 2}, nil))
			n.Term()
			again := p.start(t, options{}) // what it has written is data of this version
			again.succeeds(again.submit(doneThread, plan{Plan: "again", Words: 2}, nil))
		})
	}
}

// remember is what a route answers.
func (n *node) remember(path string) json.RawMessage {
	n.t.Helper()
	status, raw := request(n.t, http.MethodGet, n.URL+path, "")
	if status != http.StatusOK {
		n.t.Fatalf("%s: HTTP %d %s", path, status, raw)
	}
	if !json.Valid(raw) { // a file
		raw, _ = json.Marshal(string(raw))
	}
	return raw
}

// known decodes an answer without the members that may come and go between versions: what people asked for and what
// came of it stays.
func known(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var v any
	server.Must(t, json.Unmarshal(raw, &v))
	return lasting(v)
}

func lasting(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = lasting(v[i])
		}
	case map[string]any:
		kept := make(map[string]any)
		for _, name := range []string{
			"values", "messages", "content", "type", "tool_calls", "args", "name", "tool_call_id", "title", "next",
			"checkpoint_id", "id", "run_id", "thread_id", "status", "value", "key", "namespace", "created_at",
		} {
			if member, ok := v[name]; ok {
				kept[name] = lasting(member)
			}
		}
		return kept
	}
	return v
}

// makeOld makes the data with the program of an earlier version.
func makeOld(t *testing.T, p place, file string) {
	t.Helper()
	args := []string{"--addr", "127.0.0.1:0", "--data", p.dir, "--config", p.config}
	if p.database != "" {
		args = append(args, "--database", p.database)
	}
	n := &node{server.Launch(t, *oldProgram, args, nil), t}
	n.Ready()
	n.api(http.MethodPut, "/store/items", `{"namespace":["notes"],"key":"one","value":{"text":"kept"}}`, nil)
	n.succeeds(n.submit(doneThread, plan{Plan: "first", Tools: 2, Bash: "echo kept > /mnt/user-data/outputs/note.txt",
		Words: 5}, nil))
	n.succeeds(n.submit(doneThread, plan{Plan: "second", Words: 3}, nil))
	n.submit(cutThread, plan{Plan: "cut", Tools: 1, Bash: "echo begun > /mnt/user-data/outputs/begun.txt; sleep 600",
		Words: 2}, nil)
	server.Eventually(t, "the command has begun", func() bool {
		status, _ := request(t, http.MethodGet, n.URL+"/threads/cut/artifacts/mnt/user-data/outputs/begun.txt", "")
		return status == http.StatusOK
	})
	n.submit(cutThread, plan{Plan: "behind", Words: 2}, map[string]any{"multitask_strategy": "enqueue"})
	answers := make(map[string]json.RawMessage)
	for _, path := range remembered() {
		answers[path] = n.remember(path)
	}
	raw, err := json.MarshalIndent(answers, "", " ")
	server.Must(t, err)
	base := filepath.Dir(p.dir)
	server.Must(t, os.WriteFile(filepath.Join(base, "answers.json"), raw, 0o600))
	n.Kill()
	if p.database != "" {
		dump(t, p.database, filepath.Join(base, "dump.sql"))
	}
	pack(t, base, file)
}

// restoreDump fills the place's PostgreSQL from the dump beside the data folder. It is one text, without what is meant
// for psql alone.
func restoreDump(t *testing.T, p place) {
	t.Helper()
	if p.database == "" {
		return
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(p.dir), "dump.sql"))
	server.Must(t, err)
	conn, err := pgx.Connect(t.Context(), p.database)
	server.Must(t, err)
	_, err = conn.PgConn().Exec(t.Context(), string(raw)).ReadAll()
	server.Must(t, err)
	server.Must(t, conn.Close(t.Context()))
}

// unpack unpacks an archive, with the owners of its files, which sandboxes have.
func unpack(t *testing.T, file, dir string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	server.Must(t, err)
	z, err := gzip.NewReader(bytes.NewReader(raw))
	server.Must(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		server.Must(t, err)
		path := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(filepath.Clean("/"+h.Name), "/")))
		if h.Typeflag == tar.TypeDir {
			server.Must(t, os.MkdirAll(path, 0o700))
		} else {
			content, err := io.ReadAll(r)
			server.Must(t, err)
			server.Must(t, os.WriteFile(path, content, 0o600))
		}
		_ = os.Lchown(path, h.Uid, h.Gid) // root alone can, and its sandboxes alone are other users
		server.Must(t, os.Chmod(path, h.FileInfo().Mode().Perm()))
	}
}
