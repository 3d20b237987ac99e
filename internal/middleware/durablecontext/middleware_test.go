package durablecontext

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// script is a model that plays answers in order and records its requests.
type script struct {
	answers []message.Chunk
	asked   []*model.Request
}

func (*script) Name() string { return "fake/script" }

func (s *script) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		c := message.Chunk{Text: "done"}
		if n := len(s.asked); n < len(s.answers) {
			c = s.answers[n]
		}
		s.asked = append(s.asked, req)
		c.FinishReason = "stop"
		yield(c, nil)
	}
}

// calls makes an answer with calls: triples of id, name and arguments.
func calls(triples ...string) message.Chunk {
	var c message.Chunk
	for i := 0; i < len(triples); i += 3 {
		c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i / 3, ID: triples[i], Name: triples[i+1],
			Args: triples[i+2]})
	}
	return c
}

type in struct {
	Description string `json:"description,omitempty"`
	Type        string `json:"subagent_type,omitempty"`
	Path        string `json:"path,omitempty"`
	Start       int    `json:"start_line,omitempty"`
}

// bed is a thread with a task tool and a read_file tool.
type bed struct {
	t     *testing.T
	m     *script
	agent *agent.Agent
	state state.State
	runs  int
}

func newBed(t *testing.T, task func(ctx context.Context) *tool.Result, files map[string]string,
	answers ...message.Chunk) *bed {
	t.Helper()
	m := &script{answers: answers}
	spec := func(name string) tool.Spec { return tool.Spec{Name: name, Description: name, Effect: tool.ReadOnly} }
	tools := []tool.Tool{
		tool.MustNew(spec("task"), func(ctx context.Context, _ *tool.Call, _ in) (*tool.Result,
			error) {
			return task(ctx), nil
		}),
		tool.MustNew(spec("read_file"), func(_ context.Context, _ *tool.Call, a in) (*tool.Result, error) {
			text, ok := files[a.Path]
			if !ok {
				return tool.Error("Error: File not found"), nil
			}
			if a.Start > 1 {
				_, text, _ = strings.Cut(text, "---\n\n")
			}
			return tool.Text(text), nil
		}),
	}
	a, err := agent.New(agent.Config{Model: m, Tools: tools, Channels: threadstate.Channels()}, New(Config{}))
	if err != nil {
		t.Fatal(err)
	}
	return &bed{t: t, m: m, agent: a}
}

func (b *bed) run(ctx context.Context) error {
	b.runs++
	m := message.New(message.Human, "go")
	m.ID = fmt.Sprintf("u%d", b.runs)
	n := 0
	rt := &agent.Runtime{
		RunID: fmt.Sprintf("r%d", b.runs), Input: agent.Messages.Append(m),
		Now:   func() time.Time { return time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC) },
		NewID: func() string { n++; return fmt.Sprintf("r%dm%d", b.runs, n) },
	}
	s, err := b.agent.Run(ctx, rt, b.state)
	b.state = s
	return err
}

func (b *bed) mustRun() {
	b.t.Helper()
	if err := b.run(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func ends(fields map[string]string) func(context.Context) *tool.Result {
	return func(context.Context) *tool.Result {
		r := tool.Text("Task Succeeded. Result: all fine")
		r.Kwargs = message.Fields{}
		for k, v := range fields {
			r.Kwargs[k], _ = json.Marshal(v)
		}
		return r
	}
}

const give = `{"description":"find deer","subagent_type":"general-purpose"}`

// TestDelegationsEndAsTheirResultsSay in fields; the text of the result is never read.
func TestDelegationsEndAsTheirResultsSay(t *testing.T) {
	begun := threadstate.Delegation{ID: "c1", Description: "find deer", SubagentType: "general-purpose",
		CreatedAt: "2026-11-21T08:00:00Z", RunID: "r1"}
	tests := []struct {
		name   string
		fields map[string]string
		want   func(d *threadstate.Delegation)
	}{
		{"completed", map[string]string{"subagent_status": "completed", "subagent_result_brief": "42",
			"subagent_result_sha256": "ab", "subagent_stop_reason": "turn_capped"},
			func(d *threadstate.Delegation) {
				d.Status, d.ResultBrief, d.ResultSHA256, d.StopReason = "completed", "42", "ab", "turn_capped"
			}},
		{"failed", map[string]string{"subagent_status": "failed", "subagent_result_brief": "not for me"},
			func(d *threadstate.Delegation) { d.Status = "failed" }},
		{"failed, and says why", map[string]string{"subagent_status": "failed", "subagent_error": "no"},
			func(d *threadstate.Delegation) {
				d.Status, d.ResultBrief, d.ResultSHA256 = "failed", "no",
					"9390298f3fb0c5b160498935d79cb139aef28e1c47358b4bbba61862b9c26e59"
			}},
		{"timed out", map[string]string{"subagent_status": "timed_out"},
			func(d *threadstate.Delegation) { d.Status = "timed_out" }},
		{"text alone", nil, func(d *threadstate.Delegation) { d.Status = "cancelled" }},
		{"nonsense", map[string]string{"subagent_status": "in_progress"},
			func(d *threadstate.Delegation) { d.Status = "cancelled" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, ends(tt.fields), nil, calls("c1", "task", give))
			b.mustRun()
			want := begun
			tt.want(&want)
			got := threadstate.Delegations.Get(b.state)
			if tt.fields["subagent_status"] == want.Status && len(got) == 1 {
				msgs := agent.Messages.Get(b.state)
				if got[0].ResultRef != msgs[2].ID {
					t.Errorf("the result is said to be in %q", got[0].ResultRef)
				}
				want.ResultRef = got[0].ResultRef
			}
			if diff := cmp.Diff([]threadstate.Delegation{want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDelegationIsInProgressWhileItRuns(t *testing.T) {
	var seen []threadstate.Delegation
	b := newBed(t, ends(nil), nil, calls("c1", "task", give, "c2", "task", `{}`))
	steps := 0
	rt := &agent.Runtime{RunID: "r", Input: agent.Messages.Append(message.Message{ID: "u", Role: message.Human}),
		Commit: func(_ context.Context, s agent.Step) error {
			if steps++; s.Next == agent.NodeTools && seen == nil {
				seen = threadstate.Delegations.Get(s.State)
			}
			return nil
		}}
	if _, err := b.agent.Run(t.Context(), rt, state.State{}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0].Status != "in_progress" || seen[1].Status != "in_progress" {
		t.Errorf("%+v", seen)
	}
}

// TestDelegationIsClosedAfterACancel: it does not stay in progress for ever.
func TestDelegationIsClosedAfterACancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := newBed(t, func(ctx context.Context) *tool.Result {
		cancel()
		<-ctx.Done()
		return tool.Error("stopped")
	}, nil, calls("c1", "task", give))
	if err := b.run(ctx); err == nil {
		t.Fatal("not cancelled")
	}
	b.mustRun()
	if got := threadstate.Delegations.Get(b.state); len(got) != 1 || got[0].Status != "cancelled" {
		t.Errorf("%+v", got)
	}
}

// TestDelegationWhoseCallIsGone: the conversation went on without its result.
func TestDelegationWhoseCallIsGone(t *testing.T) {
	b := newBed(t, ends(nil), nil)
	b.mustRun()
	b.state, _, _ = b.state.Apply(threadstate.Delegations.Put([]threadstate.Delegation{{ID: "lost",
		Status: "in_progress", Description: "x"}}))
	b.mustRun()
	if got := threadstate.Delegations.Get(b.state); got[0].Status != "cancelled" {
		t.Errorf("%+v", got)
	}
}

// TestCallIDsThatComeAgain: pitfall 4.
func TestCallIDsThatComeAgain(t *testing.T) {
	b := newBed(t, ends(map[string]string{"subagent_status": "completed"}), nil,
		calls("c1", "task", give), calls("c1", "task", `{"description":"second"}`))
	b.mustRun()
	got := threadstate.Delegations.Get(b.state)
	if len(got) != 2 || got[1].Description != "second" || got[1].Status != "completed" || got[0].ID == got[1].ID {
		t.Errorf("%+v", got)
	}
}

const skill = "---\nname: pdf\ndescription: >\n  Makes PDF\n  files.\n---\n\n# PDF\ntext"

func TestSkillsThatWereRead(t *testing.T) {
	const path = "/mnt/skills/public/pdf/SKILL.md"
	read := func(p string) string { return fmt.Sprintf(`{"description":"d","path":%q}`, p) }
	entry := threadstate.SkillEntry{Name: "pdf", Path: path, Description: "Makes PDF files.", LoadedAt: 2}
	tests := []struct {
		name string
		args []string
		want []threadstate.SkillEntry
	}{
		{"read", []string{read(path)}, []threadstate.SkillEntry{entry}},
		{"another spelling", []string{read("/mnt/skills/public//pdf/SKILL.md")}, []threadstate.SkillEntry{entry}},
		{"missing", []string{read("/mnt/skills/public/none/SKILL.md")}, nil},
		{"outside", []string{read("/mnt/user-data/workspace/SKILL.md")}, nil},
		{"out by dots", []string{read("/mnt/skills/../user-data/SKILL.md")}, nil},
		{"another file", []string{read("/mnt/skills/public/pdf/NOT_SKILL.md")}, nil},
		{"a part of it later", []string{read(path), `{"path":"` + path + `","start_line":5}`},
			[]threadstate.SkillEntry{{Name: "pdf", Path: path, Description: "Makes PDF files.", LoadedAt: 4}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var answers []message.Chunk
			for i, a := range tt.args {
				answers = append(answers, calls(fmt.Sprint("c", i), "read_file", a))
			}
			files := map[string]string{path: skill, "/mnt/skills/public//pdf/SKILL.md": skill,
				"/mnt/user-data/workspace/SKILL.md": skill,
				"/mnt/skills/../user-data/SKILL.md": skill, "/mnt/skills/public/pdf/NOT_SKILL.md": skill}
			b := newBed(t, ends(nil), files, answers...)
			b.mustRun()
			if diff := cmp.Diff(tt.want, threadstate.SkillContext.Get(b.state)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestProjection: what was compacted is not sent, and what is sent only grows.
func TestProjection(t *testing.T) {
	b := newBed(t, ends(nil), nil, message.Chunk{Text: "one"}, message.Chunk{Text: "two"}, calls("c1", "task", give))
	b.mustRun()
	b.mustRun()
	msgs := agent.Messages.Get(b.state)
	b.state, _, _ = b.state.Apply(compaction.Channel.Put(compaction.Compaction{Upto: msgs[1].ID, Block: "the record",
		Number: 1}))
	b.mustRun()
	var got []string
	for _, m := range b.m.asked[2].Messages {
		got = append(got, string(m.Role)+" "+m.Text())
	}
	if diff := cmp.Diff([]string{"human the record", "human go", "ai two", "human go"}, got); diff != "" {
		t.Error(diff)
	}
	next := b.m.asked[3].Messages
	if diff := cmp.Diff(b.m.asked[2].Messages, next[:4]); diff != "" || len(next) != 6 {
		t.Errorf("%d messages; %s", len(next), diff)
	}
	if n := len(agent.Messages.Get(b.state)); n != 8 {
		t.Errorf("the thread has %d messages, want all 8", n)
	}
}

func TestIdleWritesNothing(t *testing.T) {
	b := newBed(t, ends(nil), nil, calls("c1", "read_file", `{"path":"/mnt/user-data/x"}`))
	b.mustRun()
	if b.state.Has("delegations") || b.state.Has("skill_context") || b.state.Has("compaction") {
		t.Error("something was written")
	}
}

func FuzzDescribe(f *testing.F) {
	for _, s := range []string{skill, "", "---\n", "---\nname: [\n---", "---\r\nname: x\r\n---\r\n",
		"---\nname: *a\n---"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := describe("/mnt/skills/public/x/SKILL.md", text)
		if e.Name == "" || strings.ContainsAny(e.Name+e.Description, "\n\r") {
			t.Fatalf("%+v", e)
		}
	})
}
