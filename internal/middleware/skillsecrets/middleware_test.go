package skillsecrets_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/skillsecrets"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// newSkills are ann's: one that declares A and wants B, one that wants to be named, and one without secrets.
func newSkills(t *testing.T) *skills.Mine {
	t.Helper()
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: databases.Dir(t, feature.All()),
		Features: feature.All()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	mine := skills.New(skills.Config{Store: st, Settings: func() config.SkillSettings {
		return config.SkillSettings{Scan: true, Skills: config.Skills{Path: t.TempDir()}}
	}}).For(access.FromRow("ann"))
	for name, head := range map[string]string{
		"calls": "required-secrets: [A, {name: B, optional: true}, C]",
		"shy":   "required-secrets: [D]\nsecrets-autonomous: false", "plain": "version: '1'",
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("SKILL.md")
		if err == nil {
			_, err = io.WriteString(w, "---\nname: "+name+"\ndescription: d\n"+head+"\n---\ntext")
		}
		if err == nil {
			err = z.Close()
		}
		if err == nil {
			_, err = mine.Install(t.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()), "x.skill")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return mine
}

var values = secrets.Values{"A": "value-of-a-1", "B": "value-of-b-2", "D": "value-of-d-4", "E": "value-of-e-5"}

// at is a state in which a user has said something, with the notes of skills that he has named, and skills that were
// read.
func at(t *testing.T, named, read []string) state.State {
	t.Helper()
	msgs := []message.Message{message.New(message.Human, "hi")}
	for _, name := range named {
		note := conversation.Note("n"+name, skills.TextNote, "text")
		note.Kwargs[skills.KeyActive], _ = json.Marshal(skills.Active{Name: name, Digest: "x"})
		msgs = append(msgs, note)
	}
	var entries []threadstate.SkillEntry
	for _, name := range read {
		entries = append(entries, threadstate.SkillEntry{Name: name, Path: "/mnt/skills/" + name + "/SKILL.md"})
	}
	for i := range msgs {
		msgs[i].ID = "m" + string(rune('a'+i))
	}
	return apply(t, state.State{}, agent.Messages.Append(msgs...).With(threadstate.SkillContext.Put(entries)))
}

func apply(t *testing.T, s state.State, u state.Update) state.State {
	t.Helper()
	s, _, err := s.Apply(u)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEnvironment: a command has what the active skills declare and the request has brought, and nothing else.
func TestEnvironment(t *testing.T) {
	mine := newSkills(t)
	for name, c := range map[string]struct {
		named, read, above []string
		below              bool
		allow              []string
		want               string
	}{
		"nothing is active":           {},
		"a skill without secrets":     {read: []string{"custom/plain"}},
		"read":                        {read: []string{"custom/calls"}, want: "A=value-of-a-1 B=value-of-b-2"},
		"read, of another category":   {read: []string{"public/calls"}},
		"named":                       {named: []string{"calls"}, want: "A=value-of-a-1 B=value-of-b-2"},
		"wants to be named, and read": {read: []string{"custom/shy"}},
		"wants to be named, and is":   {named: []string{"shy"}, want: "D=value-of-d-4"},
		"two": {named: []string{"shy"}, read: []string{"custom/calls"},
			want: "A=value-of-a-1 B=value-of-b-2 D=value-of-d-4"},
		"not the agent's":         {read: []string{"custom/calls"}, allow: []string{"shy"}},
		"below: by its own words": {below: true, named: []string{"shy"}},
		"below: by a person's, above": {below: true, named: []string{"shy"}, above: []string{"shy"},
			want: "D=value-of-d-4"},
		"below: not active": {below: true, above: []string{"shy", "calls"}},
	} {
		m := skillsecrets.New(skillsecrets.Config{Skills: mine.Run(c.allow), Values: values, Below: c.below,
			Named: c.above})
		got, err := m.Environment(t.Context(), &tool.Call{State: at(t, c.named, c.read)})
		if text := strings.Join(got, " "); err != nil || text != c.want {
			t.Errorf("%s: %q, %v, want %q", name, text, err, c.want)
		}
	}
	if _, err := mine.Enable(t.Context(), "calls", false); err != nil {
		t.Fatal(err)
	}
	m := skillsecrets.New(skillsecrets.Config{Skills: mine.Run(nil), Values: values})
	if got, err := m.Environment(t.Context(), &tool.Call{State: at(t, nil, []string{"custom/calls"})}); err != nil ||
		len(got) > 0 {
		t.Errorf("switched off: %v, %v", got, err)
	}
}

// TestItIsToldOnce: what there is and what is missing, by names, to the model and to people; again when it changes.
func TestItIsToldOnce(t *testing.T) {
	run := newSkills(t).Run(nil)
	s := at(t, nil, []string{"custom/calls", "custom/shy"})
	tell := func(v secrets.Values) (text, events string) {
		t.Helper()
		rt := &agent.Runtime{RunID: "r",
			NewID: func() string { return "new" + string(rune('a'+len(agent.Messages.Get(s)))) },
			Emit:  func(_ string, d event.Data) { events += string(d.(event.Custom).Value) + "\n" }}
		cmd, err := skillsecrets.New(skillsecrets.Config{Skills: run, Values: v}).BeforeModel(t.Context(), rt, s)
		if err != nil {
			t.Fatal(err)
		}
		before := len(agent.Messages.Get(s))
		s = apply(t, s, cmd.Update)
		for _, msg := range agent.Messages.Get(s)[before:] {
			raw, _ := json.Marshal(msg)
			text += string(raw)
		}
		return text, events
	}
	text, events := tell(values)
	for _, want := range []string{"A, B are set", "It needs C, which this request did not bring", "--secret C,",
		"Skill shy: it gets its secrets (D) only when"} {
		if !strings.Contains(text, want) {
			t.Errorf("the model is not told %q: %s", want, text)
		}
	}
	for _, want := range []string{`"given":["A","B"],"missing":["C"]`, `skill calls needs C, which`,
		`skill shy gets D only when you name it: /shy`} {
		if !strings.Contains(events, want) {
			t.Errorf("people are not told %q: %s", want, events)
		}
	}
	if strings.Contains(text+events, "value-of") {
		t.Errorf("a value is told: %s %s", text, events)
	}
	if text, events := tell(values); text+events != "" {
		t.Errorf("told again: %s %s", text, events)
	}
	if text, events = tell(secrets.Values{"C": "value-of-c-3"}); !strings.Contains(text, "C is set") ||
		!strings.Contains(text, "A, which this request") ||
		!strings.Contains(events, `"missing":["A"]`) {
		t.Errorf("after a change: %s %s", text, events)
	}
	if text, _ := tell(values); !strings.Contains(text, "A, B are set") {
		t.Errorf("and back: %s", text)
	}
}

// TestACommandDoesNotRunWithoutWhatItWasMeantToHave: the model was told that a secret is there, and the run goes on
// without. What was missing then already, or is needed by no active skill any more, keeps no command from running.
func TestACommandDoesNotRunWithoutWhatItWasMeantToHave(t *testing.T) {
	mine := newSkills(t)
	s := at(t, nil, []string{"custom/calls"})
	rt := &agent.Runtime{RunID: "r", NewID: func() string { return "note" }, Emit: func(string, event.Data) {}}
	cmd, err := skillsecrets.New(skillsecrets.Config{Skills: mine.Run(nil), Values: values}).
		BeforeModel(t.Context(), rt, s)
	if err != nil {
		t.Fatal(err)
	}
	s = apply(t, s, cmd.Update)
	use := func(name string, v secrets.Values) string {
		t.Helper()
		m := skillsecrets.New(skillsecrets.Config{Skills: mine.Run(nil), Values: v})
		req := &agent.ToolRequest{Call: tool.Call{Name: name, State: s}}
		res, err := m.WrapToolCall(t.Context(), req,
			func(context.Context, *agent.ToolRequest) (*tool.Result, error) {
				return tool.Text("ran"), nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return res.Text()
	}
	if got := use("bash", nil); !strings.Contains(got, "was not run. Skill calls needs A:") ||
		!strings.Contains(got, "pudu run --secret A,") {
		t.Errorf("without all: %q", got) // B is optional, and C was not there before
	}
	for name, v := range map[string]secrets.Values{"ls": nil, "bash": {"A": "value-of-a-1"}} {
		if got := use(name, v); got != "ran" {
			t.Errorf("%s with %v: %q", name, v.Names(), got)
		}
	}
	if _, err := mine.Enable(t.Context(), "calls", false); err != nil {
		t.Fatal(err)
	}
	if got := use("bash", nil); got != "ran" {
		t.Errorf("switched off: %q", got)
	}
}

// TestWhatAnAnswerIsToBring: what active skills declare, be it there or not; nothing for one that nobody has named.
// What a call hands on from below names it too, beside what is needed there.
func TestWhatAnAnswerIsToBring(t *testing.T) {
	mine := newSkills(t)
	m := skillsecrets.New(skillsecrets.Config{Skills: mine.Run(nil), Values: values})
	call := tool.Call{Name: "task", State: at(t, nil, []string{"custom/calls", "custom/shy"})}
	want := []approval.Secret{{Name: "A"}, {Name: "B", Optional: true}, {Name: "C"}}
	if diff := cmp.Diff(want, m.Wanted(t.Context(), &call)); diff != "" {
		t.Error(diff)
	}
	call.State = at(t, []string{"shy"}, nil)
	if diff := cmp.Diff([]approval.Secret{{Name: "D"}}, m.Wanted(t.Context(), &call)); diff != "" {
		t.Error(diff)
	}
	if got := m.Wanted(t.Context(), &tool.Call{State: at(t, nil, nil)}); got != nil {
		t.Errorf("nothing is active: %v", got)
	}
	asked := &tool.InterruptError{Questions: []tool.Question{{ID: "q",
		Value: json.RawMessage(`{"action_requests":[],"secrets":[{"name":"X"}]}`)}}}
	_, err := m.WrapToolCall(t.Context(), &agent.ToolRequest{Call: call},
		func(context.Context, *agent.ToolRequest) (*tool.Result, error) { return nil, asked })
	var ask *tool.InterruptError
	if !errors.As(err, &ask) || ask.Questions[0].ID != "q" ||
		!strings.Contains(string(ask.Questions[0].Value), `"secrets":[{"name":"X"},{"name":"D"}]`) {
		t.Errorf("from below: %v", err)
	}
}

// TestNothingThatAToolBringsHasAValue: neither of the secrets in use nor of the others.
func TestNothingThatAToolBringsHasAValue(t *testing.T) {
	m := skillsecrets.New(skillsecrets.Config{Skills: newSkills(t).Run(nil), Values: values})
	req := &agent.ToolRequest{}
	res, err := m.WrapToolCall(t.Context(), req, func(context.Context, *agent.ToolRequest) (*tool.Result, error) {
		return &tool.Result{
			Content: []message.Part{message.Text("a value-of-a-1"), message.Text("value-of-e-5 e")},
			Summary: "value-of-a-1", Artifact: json.RawMessage(`{"x":"value-of-b-2"}`),
			Kwargs: message.Fields{"k": json.RawMessage(`"value-of-d-4"`)},
		}, nil
	})
	raw, _ := json.Marshal(res)
	if err != nil || strings.Contains(string(raw), "value-of") || strings.Count(string(raw), "[redacted]") != 5 {
		t.Errorf("%s, %v", raw, err)
	}
	kind := errors.New("with value-of-a-1")
	if _, err := m.WrapToolCall(t.Context(), req,
		func(context.Context, *agent.ToolRequest) (*tool.Result, error) {
			return nil, kind
		}); !errors.Is(err, kind) ||
		strings.Contains(err.Error(), "value-of") {
		t.Error(err)
	}
}
