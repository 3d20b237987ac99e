package agents

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// fields are what a client says of an agent. What is not said stays as it is, null clears.
type fields struct {
	Description text     `body:"description" types:"string"`
	Model       maybe    `body:"model" types:"string,null"`
	ToolGroups  names    `body:"tool_groups" types:"array,null"`
	Skills      names    `body:"skills" types:"array,null"`
	Settings    settings `body:"model_settings" types:"object,null"`
	Thinking    truth    `body:"thinking_enabled" types:"boolean,null"`
	Effort      effort   `body:"reasoning_effort" types:"string,null"`
	Memory      truth    `body:"memory_enabled" types:"boolean,null"`
	Soul        maybe    `body:"soul" types:"string,null"`
}

// change is what the fields say.
func (f *fields) change() agents.Change {
	set := map[string]any{}
	for key, m := range map[string]member{
		"description": f.Description.member, "model": f.Model.member, "tool_groups": f.ToolGroups.member,
		"skills": f.Skills.member, "model_settings": f.Settings.member, "thinking_enabled": f.Thinking.member,
		"reasoning_effort": f.Effort.member, "memory_enabled": f.Memory.member,
	} {
		if m.there {
			set[key] = m.any
		}
	}
	c := agents.Change{Set: &set}
	if f.Soul.any != nil {
		c.Soul = &f.Soul.value
	}
	return c
}

// member is a member of a body: whether it is there, and its value, which is nil for null.
type member struct {
	there bool
	any   any
}

// see notes whether a member is there, and reports whether it is something.
func (m *member) see(in *route.Input, name string) bool {
	m.there = in.Has(name)
	return in.Raw(name) != nil
}

// maybe is a text or null.
type maybe struct {
	member

	value string
}

// ReadFrom implements [route.Reader].
func (t *maybe) ReadFrom(in *route.Input, name string) {
	t.read(in, name, agents.MaxSoul)
}

func (t *maybe) read(in *route.Input, name string, most int) {
	if t.see(in, name) {
		t.value = in.Text(name, most)
		t.any = t.value
	}
}

// text is a text that is never null, and no longer than a profile.
type text struct{ maybe }

// ReadFrom implements [route.Reader].
func (t *text) ReadFrom(in *route.Input, name string) {
	t.read(in, name, agents.MaxProfile)
	if t.there && t.any == nil {
		in.Add("string_type", "Input should be a valid string", json.RawMessage("null"), in.Loc(name)...)
	}
}

// names is a list of names, or null.
type names struct{ member }

// ReadFrom implements [route.Reader].
func (n *names) ReadFrom(in *route.Input, name string) {
	if !n.see(in, name) {
		return
	}
	if raw := in.Raw(name); raw[0] != '[' {
		in.Add("list_type", "Input should be a valid list", route.Quoted(raw), in.Loc(name)...)
		return
	}
	list := in.Names(name, maxNames)
	if list == nil {
		list = []string{}
	}
	n.any = list
}

// maxNames bounds a list of names; agents have no longer ones.
const maxNames = 500

// truth is true, false or null.
type truth struct{ member }

// ReadFrom implements [route.Reader].
func (t *truth) ReadFrom(in *route.Input, name string) {
	if t.see(in, name) {
		t.any = in.Boolean(name, false)
	}
}

// effort is a reasoning effort, or null.
type effort struct{ member }

// ReadFrom implements [route.Reader].
func (e *effort) ReadFrom(in *route.Input, name string) {
	if e.see(in, name) {
		e.any = in.OneOf(name, "low", "medium", "high")
	}
}

// settings tune a model; null clears all of them, and null of one that one.
type settings struct{ member }

// ReadFrom implements [route.Reader].
func (s *settings) ReadFrom(in *route.Input, name string) {
	if !s.see(in, name) {
		return
	}
	sub, set := in.Object(name), map[string]any{}
	number(sub, set, "temperature", 0, 2)
	number(sub, set, "max_tokens", 1, 200_000)
	for key, raw := range sub.Members {
		if key != "temperature" && key != "max_tokens" {
			sub.Add("extra_forbidden", "Extra inputs are not permitted", route.Quoted(raw), sub.Loc(key)...)
		}
	}
	in.Take(sub)
	s.any = set
}

// number reads a number between two others into the settings; whole ones if the least is not 0.
func number(in *route.Input, set map[string]any, name string, least, most int) {
	raw := in.Raw(name)
	if raw == nil {
		if in.Has(name) {
			set[name] = nil
		}
		return
	}
	bad := func(typ, msg string) *route.Fault { return in.Add(typ, msg, route.Quoted(raw), in.Loc(name)...) }
	switch v, err := route.Decimal(string(raw)); {
	case err != nil:
		bad("float_type", "Input should be a valid number")
	case least > 0 && v != math.Trunc(v):
		bad("int_from_float", "Input should be a valid integer, got a number with a fractional part")
	case v < float64(least):
		bad("greater_than_equal", fmt.Sprint("Input should be greater than or equal to ",
			least)).Ctx = map[string]any{"ge": least}
	case v > float64(most):
		bad("less_than_equal", fmt.Sprint("Input should be less than or equal to ",
			most)).Ctx = map[string]any{"le": most}
	case least > 0:
		set[name] = int(v)
	default:
		set[name] = v
	}
}

// asked is a text of the query, which may be empty but must be there.
type asked string

// ReadFrom implements [route.Reader].
func (a *asked) ReadFrom(in *route.Input, name string) {
	q := in.Request().URL.Query()
	if !q.Has(name) {
		in.Demand(name)
	}
	*a = asked(q.Get(name))
}
