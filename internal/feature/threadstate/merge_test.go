package threadstate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/state"
)

// apply puts JSON values into a channel one after the other, as clients send them, and returns what is there then.
func apply(t *testing.T, ch state.AnyChannel, values ...string) (string, error) {
	t.Helper()
	schema, err := state.NewSchema(Channels()...)
	if err != nil {
		t.Fatal(err)
	}
	var s state.State
	for _, v := range values {
		u, err := schema.DecodeUpdate(fmt.Appendf(nil, `[{"c":%q,"op":"put","v":%s}]`, ch.Name(), v))
		if err != nil {
			return "", err
		}
		if s, _, err = s.Apply(u); err != nil {
			return "", err
		}
	}
	all, err := s.Values()
	return string(all[ch.Name()]), err
}

func TestMerge(t *testing.T) {
	const (
		done    = `{"id":"a","description":"d","subagent_type":"bash","status":"completed","created_at":"1","result_brief":"ok","run_id":"r1"}`
		working = `{"id":"a","description":"d","subagent_type":"bash","status":"in_progress","created_at":"1","run_id":"r1"}`
		skillA  = `{"name":"A","path":"/a","description":"","loaded_at":1}`
		skillB  = `{"name":"B","path":"/b","description":"","loaded_at":2}`
		imageA  = `{"mime_type":"image/png","size":1,"actual_path":"/x/a"}`
		imageB  = `{"mime_type":"image/png","size":2,"actual_path":"/x/b"}`
	)
	tests := []struct {
		name   string
		ch     state.AnyChannel
		values []string
		want   string
	}{
		{"sandbox first", Sandbox, []string{`{"sandbox_id":"s"}`}, `{"sandbox_id":"s"}`},
		{"sandbox null keeps", Sandbox, []string{`{"sandbox_id":"s"}`, `null`}, `{"sandbox_id":"s"}`},
		{"sandbox again", Sandbox, []string{`{"sandbox_id":"s"}`, `{"sandbox_id":"s"}`}, `{"sandbox_id":"s"}`},
		{"sandbox after null", Sandbox, []string{`null`, `{"sandbox_id":"s"}`}, `{"sandbox_id":"s"}`},

		{"thread data", ThreadData, []string{`{"workspace_path":"w","uploads_path":"u","outputs_path":"o"}`},
			`{"workspace_path":"w","uploads_path":"u","outputs_path":"o"}`},
		{"title last", Title, []string{`"a"`, `"b"`}, `"b"`},
		{"summary last", SummaryText, []string{`"a"`, `"b"`}, `"b"`},
		{"uploads cleared", UploadedFiles, []string{`[{"filename":"a","size":1,"path":"/p","extension":".a"}]`, `[]`},
			`[]`},
		{"uploads with outline", UploadedFiles,
			[]string{`[{"filename":"a","size":1,"path":"/p","extension":".a","outline":[{"line":1}]}]`},
			`[{"filename":"a","size":1,"path":"/p","extension":".a","outline":[{"line":1}]}]`},
		{"tasks last", BackgroundTasks,
			[]string{`[]`, `[{"task_id":"1","task_name":"n","status":"s","updated_at":"u"}]`},
			`[{"task_id":"1","task_name":"n","status":"s","updated_at":"u"}]`},

		{"artifacts null at first", Artifacts, []string{`null`}, `[]`},
		{"artifacts first as given", Artifacts, []string{`["b","a","b"]`}, `["b","a","b"]`},
		{"artifacts null keeps", Artifacts, []string{`["b","b"]`, `null`}, `["b","b"]`},
		{"artifacts empty keeps", Artifacts, []string{`["b"]`, `[]`}, `["b"]`},
		{"artifacts each once in order", Artifacts, []string{`["b","a","b"]`, `["c","a","d"]`}, `["b","a","c","d"]`},

		{"todos null at first", Todos, []string{`null`}, `null`},
		{"todos null keeps", Todos, []string{`[{"content":"c","status":"pending"}]`, `null`},
			`[{"content":"c","status":"pending"}]`},
		{"todos empty clears", Todos, []string{`[{"content":"c","status":"pending"}]`, `[]`}, `[]`},
		{"todos replaced", Todos, []string{`[{"content":"c","status":"pending"}]`,
			`[{"content":"d","status":"completed"}]`}, `[{"content":"d","status":"completed"}]`},

		{"images null at first", ViewedImages, []string{`null`}, `{}`},
		{"images null keeps", ViewedImages, []string{`{"a":` + imageA + `}`, `null`}, `{"a":` + imageA + `}`},
		{"images empty clears", ViewedImages, []string{`{"a":` + imageA + `}`, `{}`}, `{}`},
		{"images merged", ViewedImages, []string{`{"a":` + imageA + `,"b":` + imageA + `}`, `{"b":` + imageB + `}`},
			`{"a":` + imageA + `,"b":` + imageB + `}`},

		{"promoted null keeps", Promoted, []string{`{"catalog_hash":"h","names":["a"]}`, `null`},
			`{"catalog_hash":"h","names":["a"]}`},
		{"promoted empty keeps", Promoted, []string{`{"catalog_hash":"h","names":["a"]}`, `{}`},
			`{"catalog_hash":"h","names":["a"]}`},
		{"promoted of another catalog", Promoted, []string{`{"catalog_hash":"h","names":["a"]}`,
			`{"catalog_hash":"i","names":["b"]}`}, `{"catalog_hash":"i","names":["b"]}`},
		{"promoted of another catalog, none", Promoted,
			[]string{`{"catalog_hash":"h","names":["a"]}`, `{"catalog_hash":"i"}`}, `{"catalog_hash":"i","names":[]}`},
		{"promoted of the same catalog", Promoted, []string{`{"catalog_hash":"h","names":["b","a"]}`,
			`{"catalog_hash":"h","names":["c","a"]}`}, `{"catalog_hash":"h","names":["b","a","c"]}`},
		{"promoted after empty", Promoted, []string{`{}`, `{"catalog_hash":"h","names":["a"]}`},
			`{"catalog_hash":"h","names":["a"]}`},

		{"delegations null at first", Delegations, []string{`null`}, `[]`},
		{"delegations null keeps", Delegations, []string{`[` + done + `]`, `null`}, `[` + done + `]`},
		{"delegations empty keeps", Delegations, []string{`[` + done + `]`, `[]`}, `[` + done + `]`},
		{"delegation ends", Delegations, []string{`[` + working + `]`,
			`[{"id":"a","status":"completed","created_at":"2","result_brief":"ok","run_id":"r2"}]`}, `[` + done + `]`},
		{"delegation gets its run", Delegations, []string{`[{"id":"a","status":"in_progress"}]`, `[` + working + `]`},
			`[` + working + `]`},
		{"ended delegation stays", Delegations,
			[]string{`[` + done + `]`, `[{"id":"a","description":"again","status":"in_progress"}]`}, `[` + done + `]`},
		{"ended delegation keeps its status", Delegations, []string{`[` + done + `]`, `[{"id":"a","status":""}]`},
			`[` + done + `]`},
		{"ended delegation ignores an unknown status", Delegations,
			[]string{`[` + done + `]`, `[{"id":"a","status":"odd"}]`}, `[` + done + `]`},
		{"ended delegation ignores no status", Delegations,
			[]string{`[` + done + `]`, `[{"id":"a","description":"again"}]`}, `[` + done + `]`},
		{"late answer after a timeout", Delegations, []string{
			`[{"id":"a","description":"d","subagent_type":"bash","status":"polling_timed_out","created_at":"1","run_id":"r1"}]`, `[` + done + `]`}, `[` + done + `]`},

		{"skills null at first", SkillContext, []string{`null`}, `[]`},
		{"skills null keeps", SkillContext, []string{`[` + skillA + `]`, `null`}, `[` + skillA + `]`},
		{"skills empty keeps", SkillContext, []string{`[` + skillA + `]`, `[]`}, `[` + skillA + `]`},
		{"skill read again", SkillContext, []string{`[` + skillA + `,` + skillB + `]`,
			`[{"name":"A","path":"/a","description":"new","loaded_at":9,"body":"legacy"}]`},
			`[` + skillB + `,{"name":"A","path":"/a","description":"new","loaded_at":9}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := apply(t, tt.ch, tt.values...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeGoal(t *testing.T) {
	const goal = `{"objective":"write two lines","status":"active","created_at":"2026-11-21T10:28:38.878514+00:00",` +
		`"updated_at":"2026-11-21T10:28:39.084926+00:00","continuation_count":1,"max_continuations":8,"no_progress_count":0,` +
		`"max_no_progress_continuations":2,"last_evaluation":{"satisfied":false,"blocker":"goal_not_met_yet","reason":"one line",` +
		`"evidence_summary":"e","run_id":"r","evaluated_at":"2026-11-21T10:28:39.084926+00:00","progress_key":"{}"}}`
	for name, values := range map[string][]string{"first": {goal}, "null keeps": {goal, `null`},
		"replaced": {`{"objective":"x"}`, goal}} {
		t.Run(name, func(t *testing.T) {
			got, err := apply(t, Goal, values...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(goal, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := Goal.Get(state.State{}); got != nil {
		t.Errorf("goal of the empty state: %+v", got)
	}
	fresh, err := json.Marshal(GoalState{})
	if err != nil || strings.Contains(string(fresh), "last_evaluation") {
		t.Errorf("goal without evaluation: %s, %v", fresh, err)
	}
}

func TestMergeRefuses(t *testing.T) {
	tests := []struct {
		name   string
		ch     state.AnyChannel
		values []string
		want   string
	}{
		{"another sandbox", Sandbox, []string{`{"sandbox_id":"s"}`, `{"sandbox_id":"t"}`},
			`isolation fault: the thread is in sandbox "s" and must not enter "t"`},
		{"delegation without id", Delegations, []string{`[{"status":"failed"}]`}, `has no id`},
		{"skill without path", SkillContext, []string{`[{"name":"a"}]`}, `has no path`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := apply(t, tt.ch, tt.values...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestChannels(t *testing.T) {
	want := []string{"sandbox", "thread_data", "title", "artifacts", "todos", "goal", "uploaded_files", "viewed_images",
		"promoted", "delegations", "skill_context", "summary_text", "background_tasks"}
	var got []string
	for _, ch := range Channels() {
		if got = append(got, ch.Name()); ch.Private() {
			t.Errorf("%s is private", ch.Name())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
	if _, err := state.NewSchema(append(Channels(), Channels()...)...); err != nil {
		t.Error(err)
	}
}

func TestBoundsAreThoseOfTheWire(t *testing.T) {
	if MaxDelegations != 50 || MaxSkills != 8 || MaxSkillDescription != 500 {
		t.Errorf("bounds are %d, %d, %d", MaxDelegations, MaxSkills, MaxSkillDescription)
	}
}

func TestTerminal(t *testing.T) {
	for status, want := range map[string]bool{
		"": false, DelegationInProgress: false, "other": false, DelegationCompleted: true, DelegationFailed: true,
		DelegationCancelled: true, DelegationTimedOut: true, DelegationPollingTimedOut: true,
	} {
		if got := (Delegation{Status: status}).Terminal(); got != want {
			t.Errorf("Terminal of %q = %v", status, got)
		}
	}
}
