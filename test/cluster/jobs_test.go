//go:build linux

package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/testkit/natstest"
	"github.com/pudu-ai/pudu/test/server"
)

// buildNewer builds what plays the next version: a program with a kind of jobs, and a migration, which this version
// does not know.
func buildNewer(path string) error {
	schema, err := filepath.Abs("newer/schema.sql")
	if err != nil {
		return err
	}
	place, err := filepath.Abs("../../internal/job/migrations/postgres/90000_newer.sql")
	if err != nil {
		return err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{place: schema}})
	if err != nil {
		return err
	}
	if err = os.WriteFile(path+".json", list, 0o600); err != nil {
		return err
	}
	return server.BuildOther(path, "github.com/pudu-ai/pudu/test/cluster/newer", "-overlay", path+".json")
}

// TestRollingJobs: while servers of two versions work on one database, each does the jobs that the other has stored,
// and each job once. A kind that the older version does not know waits for the newer one.
func TestRollingJobs(t *testing.T) {
	t.Parallel()
	c := &cluster{model: newModel(t), bus: natstest.Start(t)}
	c.place = newPlace(t, c.model.URL)
	c.set(t, "memory: {backend_config: {debounce_seconds: 0}}")
	c.database, c.nats, c.env = pg.Database(t), c.bus.URL(), []string{"PUDU_WEBHOOK_NETWORKS=127.0.0.0/8"}
	c.a, c.b = c.start(t, options{}), c.start(t, options{})
	hooks := newReceiver(t)
	close(hooks.ready)
	newer := c.start(t, options{version: "newer"})

	t.Log("both versions are at work")
	var both []worked
	for i := range 4 {
		both = append(both, c.work([]*node{c.a, newer}[i%2], fmt.Sprint("both-", i), hooks))
	}
	for _, w := range both {
		w.isDone(c.b)
	}

	t.Log("the newer one stores jobs and is killed")
	release := holdJobs(t, c.database)
	w := c.work(newer, "left-by-newer", hooks)
	unknown := newer.submit("unknown", plan{Plan: "unknown", Tell: hooks.URL, Words: 1}, nil)
	newer.succeeds(unknown)
	newer.Kill()
	release()
	w.isDone(c.b)
	waits := func() job.Entry {
		list := c.a.jobs("newer")
		if len(list) != 1 {
			t.Fatalf("jobs of the kind that the older version does not know: %+v", list)
		}
		return list[0]
	}
	if j := waits(); j.Key != unknown.ID || j.Tries != 0 || j.Error != "" || j.Begun || !j.Dead.IsZero() {
		t.Errorf("a job of a kind that the older version does not know: %+v", j)
	}

	t.Log("the older ones store jobs and are stopped")
	release = holdJobs(t, c.database)
	w = c.work(c.a, "left-by-older", hooks)
	c.a.Term()
	c.b.Term()
	release()
	newer = c.start(t, options{version: "newer"})
	w.isDone(newer)
	hooks.calledOnce(run{ID: "newer " + unknown.ID})
	server.Eventually(t, "no job is left", func() bool {
		for _, j := range newer.jobs("") {
			if j.User != "" {
				return false
			}
		}
		return true
	})
	for _, w := range append(both, w) { // also now that all has come to rest
		w.isDone(newer)
	}
	if text := c.launch(t, options{}).Refused(); !strings.Contains(text, "schema version 90000") {
		t.Errorf("the older version says of the tables of the newer one: %s", text)
	}
}

// worked are two runs that have ended, of which jobs follow.
type worked struct {
	*cluster
	hooks      *receiver
	kept, gone run
}

// work has a node carry out a run that is remembered and found by its thread's name, and one that takes its thread with
// it. A webhook is told of each.
func (c *cluster) work(n *node, name string, hooks *receiver) worked {
	n.t.Helper()
	kept := n.submit(name, plan{Plan: name, Fact: "I work on " + name + ".", Words: 1},
		map[string]any{"webhook": hooks.URL})
	gone := n.submit(name+"-gone", plan{Plan: "gone", Words: 1},
		map[string]any{"webhook": hooks.URL, "on_completion": "delete"})
	n.succeeds(kept)
	n.succeeds(gone)
	return worked{c, hooks, kept, gone}
}

// isDone waits until the jobs that follow were done, by what a node shows of them.
func (w worked) isDone(n *node) {
	t, name := n.t, w.kept.Thread
	t.Helper()
	w.hooks.calledOnce(w.kept)
	w.hooks.calledOnce(w.gone)
	server.Eventually(t, "the thread "+w.gone.Thread+" is removed", func() bool {
		status, _ := request(t, http.MethodGet, n.URL+"/threads/"+w.gone.Thread, "")
		return status == http.StatusNotFound
	})
	server.Eventually(t, "the thread "+name+" is found", func() bool {
		var found []struct {
			Thread string `json:"thread_id"`
		}
		n.api(http.MethodGet, "/search?q="+name, "", &found)
		return len(found) > 0 && found[0].Thread == name
	})
	w.isRemembered(n)
}

// isRemembered waits until what was worked on is remembered.
func (w worked) isRemembered(n *node) {
	t, name := n.t, w.kept.Thread
	t.Helper()
	facts := func() int {
		return strings.Count(string(n.remember("/memory")), `"Works on `+name+`"`)
	}
	server.Eventually(t, "what is worked on is remembered of "+name, func() bool { return facts() > 0 })
	if asked := w.model.asked(memoryOf(name)); facts() != 1 || asked != 1 {
		t.Errorf("the memory has %d facts of %s, and the model was asked for them %d times", facts(), name, asked)
	}
}

// jobs are those of a kind, or all.
func (n *node) jobs(kind string) (list []job.Entry) {
	n.t.Helper()
	n.api(http.MethodGet, "/jobs?kind="+kind, "", &list)
	return list
}

// holdJobs has nobody begin the jobs of users that are stored from now on, until release is called.
func holdJobs(t *testing.T, database string) (release func()) {
	t.Helper()
	do := func(text string) {
		conn, err := pgx.Connect(t.Context(), database)
		server.Must(t, err)
		_, err = conn.PgConn().Exec(t.Context(), text).ReadAll()
		server.Must(t, err)
		server.Must(t, conn.Close(t.Context()))
	}
	do(`CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.user_id <> '' THEN NEW.not_before := 4102444800000000; NEW.latest := NEW.not_before; END IF; RETURN NEW; END $$;
		CREATE TRIGGER held BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION held()`)
	return func() {
		do(`DROP TRIGGER held ON jobs; DROP FUNCTION held; UPDATE jobs SET not_before = created_at, latest = created_at WHERE user_id <> ''`)
	}
}
