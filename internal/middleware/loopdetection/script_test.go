package loopdetection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// ask is one call of a script: the tool, its arguments, and what it answers. An answer that begins with "!" is a
// failure.
type ask struct{ tool, args, answer string }

// script is what the model asks for, message by message; then it sums up.
type script [][]ask

// always repeats the asks n times.
func always(n int, asks ...ask) script { return slices.Repeat(script{asks}, n) }

// each makes n messages of one call each.
func each(n int, f func(i int) ask) script {
	var s script
	for i := range n {
		s = append(s, []ask{f(i)})
	}
	return s
}

func (s script) answers() (out [][]message.Chunk) {
	for n, asks := range s {
		var pairs []string
		for _, a := range asks {
			pairs = append(pairs, a.tool, a.args)
		}
		out = append(out, agenttest.CallsOf(n, pairs...))
	}
	return out
}

// tools are those of the script but "nosuch".
func (s script) tools() (out []tool.Tool) {
	known := map[string]bool{"nosuch": true}
	for _, asks := range s {
		for _, a := range asks {
			if !known[a.tool] {
				known[a.tool] = true
				out = append(out, &agenttest.Tool{Name: a.tool, Do: s.answer})
			}
		}
	}
	return out
}

func (s script) answer(c *tool.Call) (*tool.Result, error) {
	n, i, err := agenttest.Place(c.ID)
	if err != nil {
		return nil, err
	}
	answer := s[n][i].answer
	if text, failed := strings.CutPrefix(answer, "!"); failed {
		return tool.Error(text), nil
	}
	return tool.Text(answer), nil
}

// ran is a thread with what became of its run.
type ran struct{ *agenttest.Thread }

func thread(t agenttest.TB, cfg Config, s script) ran {
	t.Helper()
	th := agenttest.New(t, agent.Config{Tools: s.tools()}, []agent.Middleware{New(cfg)}, s.answers()...)
	th.Model.Last = agenttest.Say("summed up")
	return ran{th}
}

// play runs the script with the middleware, from the start or from a step that an earlier run committed.
func play(t agenttest.TB, cfg Config, s script, from *agent.Step) ran {
	t.Helper()
	r := thread(t, cfg, s)
	r.Play(t, from)
	return r
}

// made counts the calls that were made.
func (r ran) made() (n int) {
	for _, m := range agent.Messages.Get(r.State) {
		if m.Role == message.Tool {
			n++
		}
	}
	return n
}

// notes are the warnings, each with the number of calls that were made before it.
func (r ran) notes() (out []string) {
	calls := 0
	for _, m := range agent.Messages.Get(r.State) {
		if m.Role == message.Tool {
			calls++
		}
		if conversation.IsNote(m, NoteName) {
			out = append(out, fmt.Sprintf("%d: %s", calls, m.Text()))
		}
	}
	return out
}
