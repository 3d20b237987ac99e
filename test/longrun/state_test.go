//go:build linux

package longrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/test/server"
)

// state is a thread's state as the API shows it.
type state struct {
	Values values   `json:"values"`
	Next   []string `json:"next"`
	Tasks  []struct {
		Interrupts []struct {
			Value json.RawMessage `json:"value"`
		} `json:"interrupts"`
	} `json:"tasks"`
}

type values struct {
	Title     string    `json:"title"`
	Summary   string    `json:"summary_text"`
	Artifacts []string  `json:"artifacts"`
	Messages  []message `json:"messages"`
	Todos     []todo    `json:"todos"`
}

type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

type message struct {
	ID       string     `json:"id"`
	Type     string     `json:"type"`
	Name     string     `json:"name"`
	Status   string     `json:"status"`
	Content  string     `json:"content"`
	Calls    []madeCall `json:"tool_calls"`
	CallID   string     `json:"tool_call_id"`
	Artifact struct {
		HumanInput struct {
			RequestID string `json:"request_id"`
			InputMode string `json:"input_mode"`
			Options   []struct {
				ID    string `json:"id"`
				Value string `json:"value"`
			} `json:"options"`
		} `json:"human_input"`
	} `json:"artifact"`
	Kwargs struct {
		Hidden  bool `json:"hide_from_ui"`
		Unknown bool `json:"outcome_unknown"`
	} `json:"additional_kwargs"`
	Usage struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage_metadata"`
}

type madeCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// state is that of a thread now.
func (c *client) state(thread string) (s state) {
	c.t.Helper()
	c.get("/api/langgraph/threads/"+thread+"/state", &s)
	return s
}

// checkTurns compares the messages with the script: each answer is there once with its calls, and behind it the results
// of these, whatever was killed and compacted. It returns the names of the program's notes, each with its number, and
// what the user said.
func checkTurns(c *client, steps []step, msgs []message) (notes map[string]int, said []message) {
	t := c.t
	t.Helper()
	notes, seen, n := make(map[string]int), make(map[string]bool), 0
	var open []call
	for i, m := range msgs {
		if m.ID == "" || seen[m.ID] {
			t.Errorf("message %d: the id %q is there already", i, m.ID)
		}
		seen[m.ID] = true
		if m.Type != "tool" && len(open) > 0 {
			t.Errorf("message %d: %d results are missing before it", i, len(open))
			open = nil
		}
		switch {
		case m.Type == "ai" && n == len(steps):
			t.Errorf("message %d: an answer more: %q", i, m.Content)
		case m.Type == "ai":
			checkAnswer(c, steps[n], n, m)
			open, n = steps[n].calls, n+1
		case m.Type == "tool" && len(open) == 0:
			t.Errorf("message %d: a result more, of %s", i, m.CallID)
		case m.Type == "tool":
			at := len(steps[n-1].calls) - len(open)
			checkResult(c, steps[n-1], open[0], id(n-1, at), m)
			open = open[1:]
		case m.Kwargs.Hidden && m.Name != "user-input":
			notes[m.Type+" "+m.Name]++
		default:
			said = append(said, m)
		}
	}
	if n != len(steps) || len(open) > 0 {
		t.Errorf("the conversation ends after %d of %d answers, with %d open calls", n, len(steps), len(open))
	}
	return notes, said
}

func checkAnswer(c *client, s step, n int, m message) {
	c.t.Helper()
	var want []madeCall
	for i, call := range s.calls {
		args, err := json.Marshal(call.args)
		server.Must(c.t, err)
		want = append(want, madeCall{id(n, i), call.tool, args})
	}
	for i := range m.Calls {
		var b bytes.Buffer
		server.Must(c.t, json.Compact(&b, m.Calls[i].Args))
		m.Calls[i].Args = b.Bytes()
	}
	if diff := cmp.Diff(want, m.Calls); diff != "" && len(want)+len(m.Calls) > 0 || m.Content != s.say {
		c.t.Errorf("step %d: it says %q\n%s", n, m.Content, diff)
	}
}

func checkResult(c *client, s step, of call, id string, m message) {
	c.t.Helper()
	unknown, status := s.killed == working, "success"
	if unknown || of.refused {
		status = "error"
	}
	if m.CallID != id || m.Name != of.tool || !strings.Contains(m.Content, of.want) || m.Kwargs.Unknown != unknown ||
		m.Status != status {
		c.t.Errorf("%s %s: %s, %s, outcome unknown: %v, %q without %q", id, of.tool, m.CallID, m.Status,
			m.Kwargs.Unknown, m.Content, of.want)
	}
}

var storedIn = regexp.MustCompile(`/mnt/user-data/outputs/\.tool-results/[\w.-]+`)

// checkStored looks at the long results: the model has seen a part of each, and the file that it was told of has all of
// it.
func checkStored(c *client, thread string, msgs []message) {
	c.t.Helper()
	n := 0
	for _, m := range msgs {
		if m.Name != "bash" || !strings.Contains(m.Content, "checked line 1 of part") {
			continue
		}
		n++
		var want strings.Builder
		for i := 1; i <= protocol; i++ {
			fmt.Fprintf(&want, "checked line %d of part %d against the notes\n", i, n)
		}
		path := storedIn.FindString(m.Content)
		if got := c.artifact(thread, path); len(m.Content) > shown ||
			strings.TrimSpace(got) != strings.TrimSpace(want.String()) {
			c.t.Errorf("result of %d characters; %q has %d bytes, not %d", len(m.Content), path, len(got), want.Len())
		}
	}
	if n != parts {
		c.t.Errorf("there are %d long results", n)
	}
}
