package sqlstore

import (
	"database/sql"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	jobs "github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
)

// tell has every end followed by a job of the run's status.
func tell(r store.Run) []store.NewJob {
	return []store.NewJob{{Kind: "told", Key: r.ID + " " + r.Status}}
}

// told lists the keys of the jobs.
func told(t *testing.T, s *Store) (keys []string) {
	t.Helper()
	list, err := jobs.NewQueue(s).List(t.Context(), jobs.Filter{})
	must(t, err)
	for _, j := range list {
		keys = append(keys, j.Key)
	}
	slices.Sort(keys)
	return keys
}

// TestEachEndIsFollowed by one job, however the run came to it; what is no end is not, and what is refused leaves none.
func TestEachEndIsFollowed(t *testing.T) {
	for name, cfg := range map[string]Config{"sqlite": {Dir: t.TempDir()}, "postgres": postgresAt(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			cfg.After = []store.After{tell}
			s := openWith(t, cfg)
			defer s.Close()
			now := time.UnixMicro(1_000_000)
			admit := func(id, thread string, strategy store.Strategy) {
				t.Helper()
				now = now.Add(time.Second)
				must(t, second(s.For(ann()).Admit(t.Context(), store.Admission{
					Thread: store.Thread{ID: thread}, Strategy: strategy,
					Run: store.Run{ID: id, ThreadID: thread, CreatedAt: now}})))
			}
			end := func(id, status string) {
				t.Helper()
				f, err := s.ClaimRun(t.Context(), id, "me", 0, now)
				must(t, err)
				change := store.Step{Now: now, Run: &store.RunChange{Status: status}}
				must(t, second(s.Commit(t.Context(), f, change)))
				if _, err := s.Commit(t.Context(), f, change); err == nil && status != event.StatusRunning {
					t.Error("it came to its end twice")
				}
			}
			for _, status := range []string{event.StatusSuccess, event.StatusError, event.StatusInterrupted,
				event.StatusPending} {
				admit(status, status, store.Reject)
				end(status, status)
			}
			must(t, second(s.For(ann()).StopRun(t.Context(), event.StatusPending, store.StopInterrupt, now)))
			for _, strategy := range []store.Strategy{store.Interrupt, store.Rollback} {
				of := string(strategy)
				admit("1 "+of, of, store.Reject)
				admit("2 "+of, of, strategy)
				admit("3 "+of, of, store.Enqueue)
				must(t, second(s.For(ann()).StopRun(t.Context(), "3 "+of, of, now)))
				must(t, second(s.For(ann()).StopRun(t.Context(), "3 "+of, of, now)))
			}
			want := []string{
				"1 interrupt interrupted", "1 rollback error", "3 interrupt interrupted", "3 rollback error",
				"error error", "interrupted interrupted", "pending interrupted", "success success",
			}
			if d := cmp.Diff(want, told(t, s)); d != "" {
				t.Errorf("jobs (-want +got):\n%s", d)
			}
		})
	}
}

// TestEndsHaveOneWay: what sets the status of a run goes through endOne or endSome, but for claims, and for steers,
// which are no runs.
func TestEndsHaveOneWay(t *testing.T) {
	found := statusSetters(t, "")
	want := []string{"ClaimRun", "changeRun", "claimBelow", "keepBack", "stopRuns"}
	if d := cmp.Diff(want, found); d != "" {
		t.Errorf("who sets the status of runs (-want +got); a new way to an end goes through endOne or endSome:\n%s", d)
	}
	if got := statusSetters(t,
		"package x\n\nfunc f() { x(\"UPDATE runs SET status = 'error'\") }\n"); !slices.Equal(got, []string{"f"}) {
		t.Errorf("a breach is not found: %v", got)
	}
}

var setsStatus = regexp.MustCompile(`status = \$|status = '(running|error|success|interrupted)', updated|set\(|SET status`)

// statusSetters are the functions with an UPDATE of runs that sets the status, in the sources of this package, or in
// src.
func statusSetters(t *testing.T, src string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	must(t, err)
	if src != "" {
		files = []string{"x.go"}
	}
	for _, name := range files {
		text := []byte(src)
		if src == "" {
			text, err = os.ReadFile(name)
			must(t, err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		must(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || strings.HasSuffix(name, "_test.go") || name == "steers.go" && fn.Name.Name == "take" {
				continue
			}
			body := string(text[fn.Pos()-f.FileStart : fn.End()-f.FileStart])
			calls := strings.Contains(body, "endOne(") || strings.Contains(body, "endSome(")
			if strings.Contains(body, "UPDATE runs SET") && setsStatus.MatchString(body) {
				found = append(found, fn.Name.Name)
				if !calls && !strings.HasPrefix(strings.ToLower(fn.Name.Name), "claim") && src == "" {
					t.Errorf("%s goes past endOne and endSome", fn.Name.Name)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// TestEndsOfOlderPrograms: what a program without jobs has left to do is done.
func TestEndsOfOlderPrograms(t *testing.T) {
	dir, url := t.TempDir(), pg.Database(t)
	must(t, os.WriteFile(filepath.Join(dir, FileName), unzipped(t, "version5.db.gz"), 0o600))
	admin(t, url, string(unzipped(t, "version5.sql.gz")))
	for name, cfg := range map[string]Config{"sqlite": {Dir: dir, Logger: discard},
		"postgres": {URL: url, Logger: discard}} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, cfg)
			s.exec(t, "UPDATE runs SET notify = 1")
			s.Close()
			cfg.After = []store.After{tell}
			for range 2 {
				s = openWith(t, cfg)
				if got := told(t, s); len(got) != 2 || !strings.HasSuffix(got[0], " success") {
					t.Errorf("jobs: %v", got)
				}
				if found := faults(t, s); len(found) > 0 {
					t.Errorf("faults: %v", found)
				}
				s.Close()
			}
		})
	}
}

// TestAJobIsPutOffUntilItsLatest: who asks for it again puts it off, but not behind the latest time of the first request.
func TestAJobIsPutOffUntilItsLatest(t *testing.T) {
	s := openWith(t, Config{Dir: t.TempDir()})
	defer s.Close()
	at := time.UnixMicro(1_000_000)
	for i, tt := range []struct{ notBefore, latest, want time.Duration }{
		{time.Hour, 2 * time.Hour, time.Hour},
		{90 * time.Minute, 100 * time.Hour, 90 * time.Minute},
		{3 * time.Hour, 0, 2 * time.Hour},
	} {
		j := store.NewJob{Kind: "told", Key: "k", NotBefore: at.Add(tt.notBefore)}
		if tt.latest > 0 {
			j.Latest = at.Add(tt.latest)
		}
		must(t, s.write(t.Context(), 0, func(x *tx) error { x.follow("ann", "", at, j); return nil }))
		list, err := jobs.NewQueue(s).List(t.Context(), jobs.Filter{})
		must(t, err)
		if len(list) != 1 || !list[0].NotBefore.Equal(at.Add(tt.want)) {
			t.Errorf("request %d: %+v, want it after %v", i, list, tt.want)
		}
	}
}

// TestJobsWithoutTheirFeature fail the step, which says why.
func TestJobsWithoutTheirFeature(t *testing.T) {
	s, err := Open(t.Context(), Config{Dir: t.TempDir(), After: []store.After{tell}})
	must(t, err)
	defer s.Close()
	must(t, second(s.For(ann()).Admit(t.Context(), admission("run", "thread"))))
	_, err = s.For(ann()).StopRun(t.Context(), "run", store.StopInterrupt, time.Now())
	if err == nil || !strings.Contains(err.Error(), "without their feature") {
		t.Error(err)
	}
}

// TestJobsAreFoundByIndexes: those of a user and kind are counted without reading their rows, and the next of each kind
// is found without reading all that wait.
func TestJobsAreFoundByIndexes(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg                Config
		explain, room, due string
	}{
		"sqlite": {Config{Dir: t.TempDir()}, "EXPLAIN QUERY PLAN ",
			"SEARCH jobs USING COVERING INDEX jobs_of_user (user_id=? AND job_kind=?)",
			"jobs_waiting (job_kind=? AND attempts=?)"},
		"postgres": {postgresAt(t, t.TempDir()), "EXPLAIN ", "Index Only Scan using jobs_of_user", "Recursive Union"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.cfg.URL != "" { // where the table is small, it would be read as a whole
				tt.cfg.URL += "&enable_seqscan=off"
			}
			s := openWith(t, tt.cfg)
			defer s.Close()
			room := planOf(t, s, tt.explain+s.backlog.room, "ann", "kind", jobs.MaxWaiting)
			if !strings.Contains(room, tt.room) {
				t.Error(room)
			}
			due := planOf(t, s, tt.explain+s.features["jobs"].system["due"].text)
			if !strings.Contains(due, tt.due) || strings.Contains(due, "SCAN jobs") {
				t.Error(due)
			}
		})
	}
}

func planOf(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	var plan strings.Builder
	err := s.read(t.Context(), query, args, func(r *sql.Rows) (bool, error) {
		step := new(string)
		columns, err := r.Columns()
		to := make([]any, len(columns)) // the step is the last
		for i := range to {
			to[i] = new(any)
		}
		to[len(to)-1] = step
		if err == nil {
			err = r.Scan(to...)
		}
		plan.WriteString(*step + "\n")
		return true, err
	})
	must(t, err)
	return plan.String()
}

// TestRoomIsCountedSeldom: after a count a sixteenth of the room may fill without another one, for each queue.
func TestRoomIsCountedSeldom(t *testing.T) {
	s := openWith(t, Config{Dir: t.TempDir()})
	defer s.Close()
	now := time.UnixMicro(1_000_000)
	must(t, second(s.For(ann()).Admit(t.Context(), store.Admission{
		Thread: store.Thread{ID: "t"}, Run: store.Run{ID: "r", ThreadID: "t", CreatedAt: now}})))
	f, err := s.ClaimRun(t.Context(), "r", "me", 0, now)
	must(t, err)
	ask := func(kind string, n int) {
		t.Helper()
		step, before := store.Step{Now: now}, len(told(t, s))
		for i := range n {
			step.Jobs = append(step.Jobs, store.NewJob{Kind: kind, Key: fmt.Sprint(before + i)})
		}
		must(t, second(s.Commit(t.Context(), f, step)))
	}
	const first = jobs.MaxWaiting / 16
	ask("a", 10)
	ask("b", 1)
	want := map[queue]int{{"ann", "a"}: first - 9, {"ann", "b"}: first}
	if d := cmp.Diff(want, s.backlog.uncounted); d != "" {
		t.Errorf("not counted (-want +got):\n%s", d)
	}
	ask("a", first-9)
	ask("a", 1)
	if n := s.backlog.uncounted[queue{"ann", "a"}]; n != (jobs.MaxWaiting-first-1)/16 {
		t.Errorf("after the second count %d", n)
	}
}
