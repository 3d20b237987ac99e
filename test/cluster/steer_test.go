//go:build linux

package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/test/server"
)

// steered is the answer to what is said to a run at work.
type steered struct {
	run

	Steer string `json:"steer_id"`
}

// says says something to the run at work on a thread.
func (n *node) says(thread string, p plan) (s steered) {
	n.t.Helper()
	n.api(http.MethodPost, "/threads/"+thread+"/runs", order(p, map[string]any{"multitask_strategy": "steer"}), &s)
	if s.Steer == "" {
		n.t.Errorf("it was not said to a run: %+v", s)
	}
	return s
}

// talk is the conversation of a thread, a line for each message that is shown: its type, and the plan's name or the
// words.
func (n *node) talk(thread string) (lines []string) {
	n.t.Helper()
	var state struct {
		Values struct {
			Messages []struct {
				Type    string          `json:"type"`
				Content json.RawMessage `json:"content"`
				Kwargs  struct {
					Hidden bool `json:"hide_from_ui"`
				} `json:"additional_kwargs"`
			} `json:"messages"`
		} `json:"values"`
	}
	n.api(http.MethodGet, "/threads/"+thread+"/state", "", &state)
	for _, m := range state.Values.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			text = string(m.Content)
		}
		var p plan
		if json.Unmarshal([]byte(text), &p) == nil && p.Plan != "" {
			text = p.Plan
		}
		if m.Type == "tool" {
			text = ""
		}
		if !m.Kwargs.Hidden {
			lines = append(lines, m.Type+" "+text)
		}
	}
	return lines
}

// TestSaidThroughTheOtherNode: what one node takes in, the run at the other reads behind the results of its tools,
// once, and whoever follows at either sees it at its place; on a temporary thread as on any other.
func TestSaidThroughTheOtherNode(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for i, nodes := range [][2]*node{{c.a, c.b}, {c.b, c.a}} {
		for _, temporary := range []bool{false, true} {
			t.Run(fmt.Sprintf("node %d, temporary %t", i, temporary), func(t *testing.T) {
				t.Parallel()
				thread := fmt.Sprintf("said-%d-%t", i, temporary)
				at1, at2 := nodes[0], nodes[1]
				at1.api(http.MethodPost, "/threads", fmt.Sprintf(`{"thread_id": %q, "temporary": %t}`, thread,
					temporary), nil)
				r := at1.submit(thread, plan{Plan: "work " + thread, Tools: 1, Call: thread}, nil)
				v, w := follow(t, at(at1), r), follow(t, at(at2), r)
				server.Eventually(t, "the model is asked", func() bool { return c.model.asked("work "+thread) == 1 })
				first, back := at2.says(thread, plan{Plan: "first"}), at2.says(thread, plan{Plan: "never"})
				second := at1.says(thread, plan{Plan: "second " + thread, Words: 2})
				if first.ID != r.ID || second.ID != r.ID {
					t.Errorf("said to %s and %s, not %s", first.ID, second.ID, r.ID)
				}
				// at the node that has not taken it in
				at1.api(http.MethodDelete, "/threads/"+thread+"/steers/"+back.Steer, "", nil)
				c.model.open(thread)
				at2.succeeds(r)
				v.End()
				w.End()
				v.check(at2)
				w.check(at1)
				want := []string{"human work " + thread, "ai ", "tool ", "human first", "human second " + thread,
					"ai w1 w2 ."}
				for _, n := range nodes {
					if d := cmp.Diff(want, n.talk(thread)); d != "" {
						t.Error(d)
					}
				}
				if status, raw := request(t, http.MethodDelete, at2.URL+"/threads/"+thread+"/steers/"+first.Steer,
					""); status != http.StatusConflict {
					t.Errorf("taken back when it was read: HTTP %d %s", status, raw)
				}
				var marks struct {
					Temporary bool `json:"temporary"`
				}
				at2.api(http.MethodGet, "/threads/"+thread, "", &marks)
				if marks.Temporary != temporary {
					t.Errorf("temporary is %t", marks.Temporary)
				}
			})
		}
	}
}

// TestKilledBeforeItWasRead: what was said to a run, through the node that then dies and through the other, is read
// once, in order, by the same run at the other node, before the call of the model that it makes again.
func TestKilledBeforeItWasRead(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	r := c.a.submit("killed", plan{Plan: "work", Tools: 1, Call: "killed"}, nil)
	server.Eventually(t, "the model is asked", func() bool { return c.model.asked("work") == 1 })
	c.b.says("killed", plan{Plan: "first"})
	c.a.says("killed", plan{Plan: "second", Words: 2})
	c.a.Kill()
	c.model.open("killed")
	c.b.succeeds(r)
	if d := cmp.Diff([]string{"human work", "human first", "human second", "ai w1 w2 ."}, c.b.talk("killed")); d != "" {
		t.Error(d)
	}
	if now := c.b.look(r); now.Attempt != 2 {
		t.Errorf("it ended in attempt %d", now.Attempt)
	}
	var left []any
	c.b.api(http.MethodGet, "/threads/killed/steers", "", &left)
	if len(left) > 0 {
		t.Errorf("%v wait", left)
	}
}
