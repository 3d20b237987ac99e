package lead_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// strict says what a provider that takes nothing amiss would refuse of a request; nil if nothing.
func strict(req *model.Request) (faults []string) {
	fault := func(i int, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("message %d (%s): ", i, req.Messages[i].Role)+fmt.Sprintf(format, args...))
	}
	if strings.TrimSpace(req.System) == "" {
		faults = append(faults, "no system prompt")
	}
	if len(req.Messages) == 0 || req.Messages[0].Role != message.Human {
		return append(faults, "it does not begin with a user's message")
	}
	if end := len(req.Messages) - 1; req.Messages[end].Role == message.AI {
		fault(end, "the answer is there already")
	}
	for i := 0; i < len(req.Messages); i++ {
		m := &req.Messages[i]
		switch m.Role {
		case message.Human, message.AI:
		case message.Tool:
			fault(i, "it answers no call: %q", m.ToolCallID)
			continue
		default:
			fault(i, "no provider knows the role here")
		}
		if len(m.ToolCalls) == 0 && empty(m) {
			fault(i, "it is empty")
		}
		if m.AsksForTools() && len(m.ToolCalls) == 0 || len(m.InvalidToolCalls) > 0 || m.Kwargs["tool_calls"] != nil ||
			m.Kwargs["function_call"] != nil {
			fault(i, "it has calls that are none")
		}
		open := map[string]bool{}
		for _, c := range m.ToolCalls {
			for _, f := range callFaults(c, open) {
				fault(i, "%s", f)
			}
			open[c.ID] = true
		}
		for len(open) > 0 && i+1 < len(req.Messages) && req.Messages[i+1].Role == message.Tool &&
			open[req.Messages[i+1].ToolCallID] {
			i++
			delete(open, req.Messages[i].ToolCallID)
			if empty(&req.Messages[i]) {
				fault(i, "the result is empty")
			}
		}
		for id := range open {
			fault(i, "no result follows the call %q", id)
		}
	}
	return faults
}

var (
	toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	callID   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)
)

func callFaults(c message.ToolCall, taken map[string]bool) (faults []string) {
	if !toolName.MatchString(c.Name) {
		faults = append(faults, fmt.Sprintf("the call has the name %q", c.Name))
	}
	if !callID.MatchString(c.ID) || taken[c.ID] {
		faults = append(faults, fmt.Sprintf("the call has the id %q", c.ID))
	}
	if args := bytes.TrimSpace(c.Args); !json.Valid(args) || args[0] != '{' {
		faults = append(faults, fmt.Sprintf("the call has the arguments %q", c.Args))
	}
	return faults
}

// empty reports whether a provider would find nothing in the message.
func empty(m *message.Message) bool {
	for _, p := range m.Content {
		if p.Type == message.PartImage || p.Type == message.PartText && strings.TrimSpace(p.Text) != "" {
			return false
		}
	}
	return true
}

// allStrict checks every request from the first-th on.
func (th *thread) allStrict(first int) {
	th.t.Helper()
	for i, req := range th.bot.requests[first:] {
		for _, f := range strict(req) {
			th.t.Errorf("request %d: %s\n%s", first+i, f, strings.Join(wire(req), "\n"))
		}
	}
}

// wire is what of the messages goes to a provider, one text for each.
func wire(req *model.Request) []string {
	out := make([]string, len(req.Messages))
	for i, m := range req.Messages {
		m.ID, m.Kwargs, m.ResponseMetadata, m.Usage, m.Artifact, m.Status, m.Extra, m.List = "", nil, nil, nil, nil, "",
			nil, false
		raw, err := m.AppendJSON(nil)
		if err != nil {
			raw = []byte(err.Error())
		}
		out[i] = string(raw)
	}
	return out
}

// begins says what of the request before is not as it was; empty if the request begins with all of it.
func begins(before, now *model.Request) string {
	a, b := wire(before), wire(now)
	if before.System != now.System {
		return "the system prompt changed"
	}
	for i, m := range a {
		if i >= len(b) {
			return fmt.Sprintf("message %d is gone: %s", i, m)
		}
		if m != b[i] {
			return fmt.Sprintf("message %d was\n%s\nand is\n%s", i, m, b[i])
		}
	}
	return ""
}
