package job_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

// folderOf names the data folder of a process that does jobs until it is killed.
const folderOf = "PUDU_TEST_JOBS_OF"

func TestMain(m *testing.M) {
	if dir := os.Getenv(folderOf); dir != "" {
		fmt.Fprintln(os.Stderr, doUntilKilled(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func openIn(ctx context.Context, dir string) (database.Store, error) {
	return sqlstore.Open(ctx, sqlstore.Config{Dir: dir, Features: feature.All()})
}

// doUntilKilled tells of each job that it is about to do, of each that is written, and when none is left.
func doUntilKilled(dir string) error {
	ctx := context.Background()
	st, err := openIn(ctx, dir)
	if err != nil {
		return err
	}
	owner := fmt.Sprint("process ", os.Getpid())
	if _, err := st.System().Renew(ctx, owner); err != nil {
		return err
	}
	kind := job.Kind{Name: "note", Slots: 2, Tries: 100, Run: func(ctx context.Context, j job.Job) (func(job.Tx) error,
		error) {
		fmt.Println("begins", j.ID(), j.Attempt)
		if j.Key == "stays" && j.Attempt == 1 { // until the process is killed
			<-ctx.Done()
		}
		time.Sleep(time.Millisecond)
		return func(tx job.Tx) error { // a second one of the job would be a second folder
			_, err := tx.Of("folders").Exec("insert", fmt.Sprint(j.Key, " by ", os.Getpid()), "of "+j.Key, "", 1, 1, "")
			return err
		}, nil
	}}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		for {
			if list, err := job.NewQueue(st).List(ctx, job.Filter{Limit: 1}); err != nil || len(list) == 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	job.New(job.Config{Store: st, Owner: owner, Kinds: []job.Kind{kind},
		Observe: func(_, outcome string) { fmt.Println(outcome) }}).Work(ctx)
	fmt.Println("none is left")
	select {}
}

// TestAJobOfAKilledProcessIsDoneAgainAndWrittenOnce kills processes with -9 while they do jobs, first one that
// certainly is within a job, then others wherever they are.
func TestAJobOfAKilledProcessIsDoneAgainAndWrittenOnce(t *testing.T) {
	const n = 60
	dir, ann := t.TempDir(), access.FromRow("ann")
	enqueue(t, dir, ann, n)
	tries := make(map[string]int)
	for kill := 1; ; kill++ {
		if doSome(t, dir, kill, tries) {
			break
		}
		if kill > n {
			t.Fatalf("there is no end to it: %v", tries)
		}
	}
	if tries["note/stays/1"] < 2 {
		t.Errorf("the job whose process was killed was begun %d times", tries["note/stays/1"])
	}
	st, err := openIn(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	left, err := job.NewQueue(st).List(t.Context(), job.Filter{})
	if err != nil || len(left) > 0 || len(tries) != n {
		t.Errorf("%d jobs were done; left are %+v, %v", len(tries), left, err)
	}
	seen := make(map[string]int)
	err = st.Feature("folders").For(ann).Read(t.Context(), "list", func(row database.Row) (bool, error) {
		var id, name, rest string
		var number int64
		err := row.Scan(&id, &name, &rest, &number, &number, &rest, &number)
		seen[name]++
		return true, err
	}, 1000, 0)
	if err != nil || len(seen) != n {
		t.Errorf("%d jobs have written, %v", len(seen), err)
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s was written %d times", name, n)
		}
	}
}

// enqueue has a run's step ask for n jobs.
func enqueue(t *testing.T, dir string, u access.User, n int) {
	t.Helper()
	st, err := openIn(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	now := time.Now()
	jobs := []store.NewJob{note("stays", "1")}
	for i := 1; i < n; i++ {
		jobs = append(jobs, note(fmt.Sprint("job", i), "1"))
	}
	if _, err = st.For(u).Admit(t.Context(), store.Admission{Thread: store.Thread{ID: "t"},
		Run: store.Run{ID: "r", ThreadID: "t", Owner: "me", CreatedAt: now}}); err == nil {
		_, err = st.System().Commit(t.Context(), store.Fence{RunID: "r", Attempt: 1}, store.Step{Jobs: jobs, Now: now})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// doSome has a process do jobs, counts them, and kills it when it has begun a number of them, or when none is left.
func doSome(t *testing.T, dir string, kill int, tries map[string]int) (all bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), folderOf+"="+dir)
	var wrong strings.Builder
	cmd.Stderr = &wrong
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	begun := 0
	for lines := bufio.NewScanner(out); lines.Scan(); { // to the end: what it began before the kill came counts as well
		all = all || lines.Text() == "none is left"
		if id, ok := strings.CutPrefix(lines.Text(), "begins "); ok {
			id, _, _ = strings.Cut(id, " ")
			tries[id]++
			begun++
		}
		if all || begun > 2*kill {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err == nil || wrong.Len() > 0 {
		t.Fatalf("%v\n%s", err, &wrong)
	}
	return all
}
