//go:build linux

package cluster

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
)

// TestCancel stops a run in each of its phases, in both ways. It must be at its end within two seconds, say so to who
// follows it, and leave a thread that can be used.
func TestCancel(t *testing.T) {
	t.Parallel()
	p, m := alone(t)
	n := p.start(t, options{})
	times := newQuickest(t, 2*time.Second)
	phases := []struct {
		name  string
		plan  plan
		ready func(t *testing.T, v *reader)
	}{
		{"at once", plan{Words: 3, Hold: "never"}, func(*testing.T, *reader) {}},
		{"before the first token", plan{Before: "never"}, func(t *testing.T, v *reader) {
			server.Eventually(t, "the model is asked", func() bool { return m.asked(v.run.Thread) == 1 })
		}},
		{"in the middle of the tokens", plan{Hold: "never"}, func(_ *testing.T, v *reader) { v.More(5) }},
		{"after a tool", plan{Tools: 1, Before: "never"}, func(t *testing.T, v *reader) {
			server.Eventually(t, "the model is asked again", func() bool { return m.asked(v.run.Thread) == 2 })
		}},
		{"in a command", plan{Bash: "sleep 600.%s & echo begun; sleep 601.%[1]s"}, func(t *testing.T, v *reader) {
			server.Eventually(t, "the command and its child run", func() bool {
				return running("600."+v.run.Thread) == 1 && running("601."+v.run.Thread) == 1
			})
		}},
	}
	for i, phase := range phases {
		for _, action := range []string{"interrupt", "rollback"} {
			t.Run(phase.name+"/"+action, func(t *testing.T) {
				t.Parallel()
				thread := fmt.Sprintf("%d%d%d", i, len(action), os.Getpid()%1000)
				what := phase.plan
				what.Plan = thread
				if what.Bash != "" {
					what.Bash = fmt.Sprintf(what.Bash, thread)
				}
				v := follow(t, at(n), n.submit(thread, what, nil))
				phase.ready(t, v)
				times.took(phase.name, n.cancelled(t, v, action))
				if running("600."+thread)+running("601."+thread) > 0 {
					t.Error("the command outlived its run")
				}
				next := n.submit(thread, plan{Plan: "after " + thread, Words: 1}, nil)
				n.succeeds(next)
			})
		}
	}
	for _, action := range []string{"interrupt", "rollback"} {
		t.Run("while it waits/"+action, func(t *testing.T) {
			t.Parallel()
			first := n.submit("w-"+action, plan{Plan: "w", Hold: "w-" + action}, nil)
			v := follow(t, at(n), n.submit("w-"+action, plan{Plan: "never begun " + action},
				map[string]any{"multitask_strategy": "enqueue"}))
			times.took("while it waits", n.cancelled(t, v, action))
			m.open("w-" + action)
			n.succeeds(first)
			if m.asked("never begun "+action) > 0 {
				t.Error("the model was asked")
			}
		})
	}
}

// cancelled stops a run and looks whether it has ended.
func (n *node) cancelled(t *testing.T, v *reader, action string) (took time.Duration) {
	t.Helper()
	start := time.Now()
	status, raw := request(t, http.MethodPost, n.URL+v.run.path()+"/cancel?wait=true&action="+action, "")
	took = time.Since(start)
	if status != http.StatusNoContent {
		t.Errorf("HTTP %d %s", status, raw)
	}
	v.End()
	want := map[string]string{"interrupt": "interrupted", "rollback": "error"}[action]
	if now := n.look(v.run); now.Status != want || now.Stop != "cancelled" {
		t.Errorf("%+v", now)
	}
	all := n.readAll(v.run)
	if len(all) == 0 || all[len(all)-1].Event != "end" {
		t.Errorf("who comes later sees %+v", all)
	}
	return took
}

// running counts the processes of which sleep is given the argument.
func running(arg string) (count int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		raw, err := os.ReadFile(file) // it may have ended
		if err == nil && string(raw) == "sleep\x00"+arg+"\x00" {
			count++
		}
	}
	return count
}

// TestDeletedWhileItStreams: a thread whose run is under way is not removed, unless the run itself asks for it at its
// end, which its clients still see.
func TestDeletedWhileItStreams(t *testing.T) {
	t.Parallel()
	p, m := alone(t)
	n := p.start(t, options{})
	v := follow(t, at(n), n.submit("busy", plan{Plan: "busy", Hold: "busy"}, nil))
	v.More(5)
	if status, raw := request(t, http.MethodDelete, n.URL+"/threads/busy", ""); status != http.StatusConflict {
		t.Errorf("HTTP %d %s", status, raw)
	}
	v.More(5)
	m.open("busy")
	v.End()
	v.check(n)
	n.api(http.MethodDelete, "/threads/busy", "", nil)

	gone := follow(t, at(n), n.submit("gone", plan{Plan: "gone", Hold: "gone"},
		map[string]any{"on_completion": "delete"}))
	gone.More(5)
	m.open("gone")
	gone.End()
	for _, r := range []run{v.run, gone.run} {
		for _, path := range []string{"/threads/" + r.Thread, "/threads/" + r.Thread + "/state", r.path(), r.path() +
			"/stream"} {
			server.Eventually(t, path+" is gone", func() bool {
				status, _ := request(t, http.MethodGet, n.URL+path, "")
				return status == http.StatusNotFound
			})
		}
	}
	server.Eventually(t, "the files are gone", func() bool {
		folders, err := filepath.Glob(filepath.Join(p.dir, "users/*/threads/*"))
		return err == nil && len(folders) == 0
	})
}
