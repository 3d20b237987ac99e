package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
)

// furnish writes threads of every sort and returns them.
func furnish(t *testing.T, s *Store) (all []*talk) {
	t.Helper()
	for i := range 3 {
		tk := newTalk(t, s, uint64(i))
		tk.agentRun()
		for range 10 {
			tk.turn(2 << 10)
		}
		all = append(all, tk)
	}
	open := all[2]
	open.begin("unfinished")
	open.human("a line\nand another, <b>&amp; \x01 \u2028 é")
	for range 10 {
		open.rewrite()
	}
	odd := store.Thread{ID: "odd", UserID: "ann", Title: "\"quoted\"\nline \\", Metadata: []byte("{\n \"a\": 1}"),
		CreatedAt: time.UnixMicro(0), UpdatedAt: time.Date(12026, 1, 1, 0, 0, 0, 7000, time.UTC)}
	if err := s.For(ann()).CreateThread(t.Context(), odd); err != nil {
		t.Fatal(err)
	}
	_, err := s.For(ann()).Admit(t.Context(),
		store.Admission{MustExist: true, Run: store.Run{ID: "r", ThreadID: "odd", UserID: odd.UserID,
			Usage: []byte(`7`), Request: []byte(" [1]\t"), Key: "a key", NotBefore: time.UnixMicro(7)}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func dumpOf(t *testing.T, s *Store, thread string) string {
	t.Helper()
	var b bytes.Buffer
	dump := s.Dump
	if thread != "" {
		dump = func(ctx context.Context, w io.Writer) (store.Holding, error) {
			return s.For(ann()).DumpThread(ctx, thread, w)
		}
	}
	if _, err := dump(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// diff is what cmp.Diff says, which looks at each byte of a value by itself, if there is a difference at all.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// A dump that was loaded is dumped as the same bytes, and what was read from one store is read from the other.
func TestDumpLoadDump(t *testing.T) {
	from, to := open(t, t.TempDir()), open(t, t.TempDir())
	defer from.Close()
	defer to.Close()
	talks := furnish(t, from)
	first := dumpOf(t, from, "")
	n, err := to.Load(t.Context(), strings.NewReader(first), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n.Threads != 4 || n.Runs != 3*11+2 || n.Snapshots == 0 || n.Steps < 100 {
		t.Errorf("loaded %+v", n)
	}
	if second := dumpOf(t, to, ""); first != second {
		t.Error("the second dump differs from the first")
	}
	for _, tk := range talks {
		for _, s := range []*Store{from, to} {
			c, err := s.For(ann()).Checkpoint(t.Context(), schema, tk.thread, "")
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(chats.Get(tk.state), chats.Get(c.State)); d != "" {
				t.Errorf("(-want +got):\n%.500s", d)
			}
		}
		a, errA := from.For(ann()).Events(t.Context(), tk.fence.RunID, event.ID{}, 1000)
		b, errB := to.For(ann()).Events(t.Context(), tk.fence.RunID, event.ID{}, 1000)
		if d := diff(a, b); d != "" || errA != nil || errB != nil || len(a) == 0 {
			t.Errorf("%v %v events (-want +got):\n%.500s", errA, errB, d)
		}
	}
	// The unfinished run is claimed and goes on; so does a thread that was at rest.
	last := talks[2]
	last.s = to
	last.fence, err = to.ClaimRun(t.Context(), last.fence.RunID, "other", last.fence.Attempt, last.now)
	last.must(err)
	last.n = 0
	st := last.step("model", "end", chats.Append(chat{ID: "new", Type: "ai", Content: "here I am"}))
	st.Events[0].ID.Attempt = last.fence.Attempt
	last.commit(st)
	talks[0].s = to
	talks[0].turn(1000)
}

// Every column of every table is in the dump, also one that a later migration adds.
func TestDumpHoldsEveryColumn(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	var got, want []string
	for _, table := range s.tables {
		for _, c := range table.Columns {
			got = append(got, table.Name+"."+c.Name)
		}
		err := s.read(t.Context(), "SELECT name FROM pragma_table_info($1)", []any{table.Name},
			func(r *sql.Rows) (bool, error) {
				var name string
				err := r.Scan(&name)
				if table.Name+"."+name != "log.seq" { // the order of the records says it
					want = append(want, table.Name+"."+name)
				}
				return true, err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("columns (-database +dump):\n%s", d)
	}
}

func TestDumpOfOneThread(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	talks := furnish(t, s)
	one := dumpOf(t, s, talks[1].thread)
	for line := range strings.Lines(one) {
		if strings.Contains(line, talks[0].thread) {
			t.Fatalf("another thread's record: %.200s", line)
		}
	}
	to := open(t, t.TempDir())
	defer to.Close()
	n, err := to.Load(t.Context(), strings.NewReader(one), nil)
	if err != nil || n.Threads != 1 || n.Runs != 11 {
		t.Errorf("%+v, %v", n, err)
	}
	if two := dumpOf(t, to, ""); one != two {
		t.Error("the dump of the loaded thread differs")
	}
	if _, err := s.For(ann()).DumpThread(t.Context(), "nobody", &bytes.Buffer{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("dump of a thread that is not there: %v", err)
	}
}

// A dump shows one moment, whatever is written while it is made.
func TestDumpOfOneMoment(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	talks := furnish(t, s)
	before := dumpOf(t, s, "")
	var during bytes.Buffer
	w := writerFunc(func(p []byte) (int, error) {
		if during.Len() > 0 && during.Len() < 20_000 { // after the first records
			talks[0].turn(500)
		}
		return during.Write(p)
	})
	if _, err := s.Dump(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if d := during.String(); !strings.HasPrefix(d, before[:100]) ||
		strings.Count(d, "\n") > strings.Count(before, "\n") {
		t.Errorf("the dump has %d records, before it were %d", strings.Count(d, "\n"), strings.Count(before, "\n"))
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A dump that is not whole is refused, and nothing of it stays.
func TestLoadRefuses(t *testing.T) {
	from := open(t, t.TempDir())
	defer from.Close()
	tk := newTalk(t, from, 1)
	tk.agentRun()
	good := dumpOf(t, from, "")
	records := strings.SplitAfter(good, "\n")
	tests := []struct{ name, dump, want string }{
		{"empty", "", "cut off"},
		{"no dump", "hello\n", "no dump of Pudu"},
		{"newer", fmt.Sprintf(`{"kind":"pudu","version":%d}`+"\n", from.schema+1), "newer Pudu"},
		{"cut at a record", strings.Join(records[:5], ""), "cut off after record 5"},
		{"cut in a record", good[:len(good)/2], "JSON"},
		{"a record is missing", strings.Join(append(append([]string{}, records[:6]...), records[7:]...), ""),
			"records are missing"},
		{"more behind the end", good + records[1], "after the last record"},
		{"twice the thread", records[0] + records[1] + strings.Join(records[1:], ""), "conflict"},
		{"unknown kind", records[0] + `{"kind":"wish"}` + "\n", "unknown"},
		{"a member is missing", records[0] + `{"kind":"thread","id":"x"}` + "\n", "members"},
		{"a member is another's", strings.Replace(good, `"title":`, `"totle":`, 1), "no title"},
		{"a number for a text", strings.Replace(good, `"title":"A talk"`, `"title":7`, 1), "must be a string"},
		{"a text for a number", strings.Replace(good, `"attempt":1`, `"attempt":"1"`, 1), "whole number"},
		{"no time", strings.Replace(good, `"created_at":"2026`, `"created_at":"20X6`, 1), "created_at"},
		{"no base64", strings.Replace(good, `"metadata":{}`, `"metadata":"?"`, 1), "base64"},
		{"unknown status", strings.Replace(good, `"status":"success"`, `"status":"asleep"`, 1), "CHECK"},
		{"run of no thread", records[0] + strings.Join(records[2:], ""), "not found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			to := open(t, t.TempDir())
			defer to.Close()
			_, err := to.Load(t.Context(), strings.NewReader(tt.dump),
				func() error { t.Error("last was called"); return nil })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
			if n := strings.Count(dumpOf(t, to, ""), "\n"); n != 2 {
				t.Errorf("%d records stayed", n-2)
			}
		})
	}
}

func TestLoadOnlyIntoEmpty(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	newTalk(t, s, 1)
	if _, err := s.Load(t.Context(), strings.NewReader(dumpOf(t, s, "")), nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("error = %v", err)
	}
}

func TestLoadIsUndoneByLast(t *testing.T) {
	from, to := open(t, t.TempDir()), open(t, t.TempDir())
	defer from.Close()
	defer to.Close()
	newTalk(t, from, 1).agentRun()
	no := errors.New("no room for the files")
	if _, err := to.Load(t.Context(), strings.NewReader(dumpOf(t, from, "")),
		func() error { return no }); !errors.Is(err, no) {
		t.Errorf("error = %v", err)
	}
	if n := strings.Count(dumpOf(t, to, ""), "\n"); n != 2 {
		t.Errorf("%d records stayed", n-2)
	}
}

// Any bytes in a column of bytes come back as they were.
func FuzzExact(f *testing.F) {
	for _, seed := range []string{"", "{}", "[1, 2]", "{\n}", "{", "[}", "\x00\xff", `"text"`, "{\"a\":\"\xff\"}",
		" {}", "{} "} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		line := appendExact(nil, raw)
		if bytes.IndexByte(line, '\n') >= 0 {
			t.Fatalf("%q has more than one line", line)
		}
		back, err := parseExact(line)
		if err != nil || !bytes.Equal(back, raw) {
			t.Errorf("%q became %s and then %q, %v", raw, line, back, err)
		}
	})
}

// FuzzLoad feeds damaged dumps: an error or a store that can be dumped again, never a panic.
func FuzzLoad(f *testing.F) {
	f.Add("", "")
	f.Add(`{"kind":"thread","id":"a","user_id":"","title":"","head":"","created_at":0,"updated_at":"2026-01-01T00:00:00Z","metadata":{}}`, `{"kind":"end","threads":1,"runs":0,"log":0,"snapshots":0}`)
	f.Add(`{"kind":"snapshot","thread_id":"a","checkpoint_id":"b","bytes":1,"state":"AAAA"}`, `{"kind":"log"}`)
	f.Add(`{"kind":null}`, `[]`)
	s, err := Open(f.Context(), Config{Features: feature.All(), Dir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	undo := errors.New("undo")
	f.Fuzz(func(t *testing.T, a, b string) {
		in := fmt.Sprintf("{\"kind\":\"pudu\",\"version\":1}\n%s\n%s\n", a, b)
		if _, err := s.Load(t.Context(), strings.NewReader(in), func() error { return undo }); err == nil {
			t.Error("Load succeeded")
		}
	})
}

// TestDumpLeavesWebhooksOut: the URL of a webhook is in no dump, and what is loaded says that there was one; so does
// the dump of a program that had left it in.
func TestDumpLeavesWebhooksOut(t *testing.T) {
	const url = "https://hook.example/T0KEN"
	from := open(t, t.TempDir())
	defer from.Close()
	a := admission("run", "thread")
	a.Run.Request = []byte(`{"thread_id":"thread","input":[{"text":"<b>"}],"webhook":"` + url + `","model":"m"}`)
	must(t, second(from.For(ann()).Admit(t.Context(), a)))
	const want = `{"input":[{"text":"<b>"}],"model":"m","thread_id":"thread","webhook_dropped":true}`
	now := dumpOf(t, from, "")
	older := strings.Replace(now, `"request":`+want, `"request":`+string(a.Run.Request), 1)
	if strings.Contains(now, "T0KEN") || !strings.Contains(older, "T0KEN") {
		t.Errorf("the dump is %s", now)
	}
	for name, dump := range map[string]string{"of this program": now, "of an older one": older} {
		to := open(t, t.TempDir())
		defer to.Close()
		must(t, second(to.Load(t.Context(), strings.NewReader(dump), nil)))
		if run, err := to.Run(t.Context(), "run"); err != nil || string(run.Request) != want {
			t.Errorf("%s: %s, %v", name, run.Request, err)
		}
	}
	if run, err := from.Run(t.Context(), "run"); err != nil || string(run.Request) != string(a.Run.Request) {
		t.Errorf("the run that was dumped: %s, %v", run.Request, err)
	}
}
