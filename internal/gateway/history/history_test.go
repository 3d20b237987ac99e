package history_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

const (
	page = "/api/threads/t/messages/page"
	runs = "/api/threads/t/runs"
)

func TestPages(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "count")
	k.Run("t", "spend")
	k.Play([]gateways.Scenario{
		{Name: "all", Method: "GET", Path: page, Status: 200, Want: `{"has_more":false,"next_before_seq":null,"data":[
			{"thread_id":"t","user_id":"user","event_type":"llm.human.input","category":"message","feedback":null,"content":{"type":"human"},
				"metadata":{"caller":"lead_agent","content_is_json":true,"content_is_dict":true},"versions":"<absent>"},
			{"event_type":"llm.ai.response","content":{"type":"ai","additional_kwargs":{"turn_duration":"<absent>"}},
				"metadata":{"llm_call_index":1,"latency_ms":"*"}},
			{"event_type":"llm.tool.result","content":{"type":"tool"},"metadata":{"caller":"<absent>"}},
			{"event_type":"llm.ai.response","content":{"type":"ai","additional_kwargs":{"turn_duration":0}},"metadata":{"llm_call_index":2}},
			{"event_type":"llm.human.input"},
			{"event_type":"llm.ai.response","metadata":{"llm_call_index":1,"usage":{"total_tokens":"*"}}}]}`},
		{Name: "the newest", Method: "GET", Path: page + "?limit=1", Status: 200,
			Keep: map[string]string{"next_before_seq": "last"},
			Want: `{"has_more":true,"next_before_seq":"*","data":[{"event_type":"llm.ai.response","content":{"additional_kwargs":{"turn_duration":0}}}]}`},
		{Name: "before it", Method: "GET", Path: page + "?limit=1&before_seq={last}", Status: 200,
			Want: `{"has_more":true,"data":[{"event_type":"llm.human.input"}]}`},
		{Name: "forwards", Method: "GET", Path: page + "?after_seq=", Status: 422,
			Want: `{"detail":"after_seq is not supported by this backward-only endpoint"}`},
		{Name: "bad places", Method: "GET", Path: page + "?limit=201&before_seq=0", Status: 422,
			Want: `{"detail":[{"loc":["query","limit"],"ctx":{"le":200}},{"loc":["query","before_seq"],"ctx":{"ge":1}}]}`},
		{Name: "no such thread", Method: "GET", Path: "/api/threads/none/messages/page", Status: 200,
			Want: `{"data":[],"has_more":false,"next_before_seq":null}`},
		{Name: "no such checkpoint", Method: "GET", Path: page + "?checkpoint_id=x", Status: 404},
		{Name: "nobody's checkpoint", Method: "GET", Path: page + "?checkpoint_id=0191d5a0-0000-7000-8000-000000000000",
			Status: 404},
		{Name: "the oldest of all", Method: "GET", Path: "/api/threads/t/messages?after_seq=1&limit=1", Status: 200,
			Want: `[{"event_type":"llm.human.input","feedback":null}]`, Keep: map[string]string{"0.run_id": "run"}},
		{Name: "no such thread, all", Method: "GET", Path: "/api/threads/none/messages", Status: 200, Want: `[]`},
		{Name: "of a run", Method: "GET", Path: runs + "/{run}/messages?limit=3", Status: 200,
			Want: `{"has_more":true,"data":[{"event_type":"llm.ai.response","feedback":"<absent>"},{"event_type":"llm.tool.result"},
				{"content":{"additional_kwargs":{"turn_duration":0}}}]}`},
		{Name: "of a run alone", Method: "GET", Path: "/api/runs/{run}/messages?limit=1", Status: 200,
			Want: `{"has_more":true,"data":[{"content":{"additional_kwargs":{"turn_duration":"<absent>"}}}]}`},
		{Name: "of no run", Method: "GET", Path: runs + "/nope/messages", Status: 200,
			Want: `{"data":[],"has_more":false}`},
		{Name: "of no run alone", Method: "GET", Path: "/api/runs/nope/messages", Status: 404,
			Want: `{"detail":"Run nope not found"}`},
	})
}

func TestEvents(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "fail")
	k.Run("t", "count")
	k.Play([]gateways.Scenario{
		{Name: "the runs", Method: "GET", Path: runs, Status: 200, Want: `[{"status":"success"},{"status":"error"}]`,
			Keep: map[string]string{"0.run_id": "run", "1.run_id": "failed"}},
		{Name: "all", Method: "GET", Path: runs + "/{run}/events", Status: 200, Want: `[
			{"event_type":"run.start","category":"trace","content":{"chain":"unknown"},"feedback":"<absent>",
				"metadata":{"caller":"lead_agent","agent_name":"default","model_name":"fake","thread_id":"t"}},
			{"event_type":"llm.human.input"},{"event_type":"llm.ai.response"},{"event_type":"llm.tool.result"},{"event_type":"llm.ai.response"},
			{"event_type":"run.end","category":"outputs","metadata":{"status":"success"}},
			{"event_type":"run.delivery","category":"outputs","content":{"presented":0,"paths":[],"by_tool":{}}}]`,
			Keep: map[string]string{"3.seq": "tool"}},
		{Name: "some", Method: "GET", Path: runs + "/{run}/events?event_types=llm.tool.result,run.start", Status: 200,
			Want: `[{"event_type":"run.start"},{"event_type":"llm.tool.result"}]`},
		{Name: "behind one", Method: "GET", Path: runs + "/{run}/events?after_seq={tool}&limit=1", Status: 200,
			Want: `[{"event_type":"llm.ai.response"}]`},
		{Name: "of a task", Method: "GET", Path: runs + "/{run}/events?task_id=x", Status: 200, Want: `[]`},
		{Name: "none of a kind", Method: "GET", Path: runs + "/{run}/events?event_types=nope", Status: 200, Want: `[]`},
		{Name: "of a failure", Method: "GET", Path: runs + "/{failed}/events?event_types=run.error,run.end",
			Status: 200,
			Want:   `[{"event_type":"run.error","category":"error","content":"*","metadata":{"error_type":"RunError"}}]`},
		{Name: "no run", Method: "GET", Path: runs + "/nope/events", Status: 200, Want: `[]`},
		{Name: "of another thread", Method: "GET", Path: "/api/threads/other/runs/{run}/events", Status: 200,
			Want: `[]`},
		{Name: "too many", Method: "GET", Path: runs + "/{run}/events?limit=2001", Status: 422,
			Want: `{"detail":[{"ctx":{"le":2000}}]}`},
	})
}

func TestUsage(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Models = []gateway.Model{{Name: "fake", Window: 1000}} })
	k.Run("t", "spend")
	k.Play([]gateways.Scenario{
		{Name: "spent", Method: "GET", Path: "/api/threads/t/token-usage", Status: 200,
			Want: `{"thread_id":"t","total_runs":1,"total_tokens":"*",
			"by_caller":{"lead_agent":"*","subagent":0,"middleware":0},"context_usage":{"token_count":"*","max_context_tokens":1000,"percentage":"*"}}`},
		{Name: "nothing", Method: "GET", Path: "/api/threads/none/token-usage?include_active=true", Status: 200,
			Want: `{"thread_id":"none","total_runs":0,"total_tokens":0,"by_model":{},"context_usage":{"token_count":0,"percentage":0}}`},
		{Name: "maybe", Method: "GET", Path: "/api/threads/t/token-usage?include_active=maybe", Status: 422,
			Want: `{"detail":[{"type":"bool_parsing","loc":["query","include_active"]}]}`},
	})
}

// TestAnswerOnceMore: what is prepared is a run that stands beside the one before, and both answers can be read.
func TestAnswerOnceMore(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	k.Run("t", "again")
	k.Play([]gateways.Scenario{
		{Name: "page", Method: "GET", Path: page, Status: 200, Keep: map[string]string{
			"data.0.content.id": "h1", "data.1.content.id": "a1", "data.2.content.id": "h2", "data.3.content.id": "a2",
			"data.3.run_id": "r2",
		}},
		{Name: "an older answer", Method: "POST", Path: runs + "/regenerate/prepare", Body: `{"message_id":"{a1}"}`,
			Status: 409,
			Want:   `{"detail":"Only the latest assistant message can be regenerated"}`},
		{Name: "an older answer, said so", Method: "POST", Path: runs + "/regenerate/prepare",
			Body:   `{"message_id":"{a1}","any_turn":true}`,
			Status: 200, Want: `{"checkpoint":{"checkpoint_id":"0"},"input":{"messages":[{"id":"{h1}"}]}}`},
		{Name: "a question", Method: "POST", Path: runs + "/regenerate/prepare", Body: `{"message_id":"{h2}"}`,
			Status: 409,
			Want:   `{"detail":"Only visible assistant messages can be regenerated"}`},
		{Name: "nothing", Method: "POST", Path: runs + "/regenerate/prepare", Body: `{"message_id":"nope"}`,
			Status: 404,
			Want:   `{"detail":"Message nope not found"}`},
		{Name: "no thread", Method: "POST", Path: "/api/threads/none/runs/regenerate/prepare",
			Body: `{"message_id":"x"}`, Status: 404,
			Want: `{"detail":"Thread none not found"}`},
		{Name: "empty", Method: "POST", Path: runs + "/regenerate/prepare", Body: `{"message_id":""}`, Status: 422,
			Want: `{"detail":[{"type":"string_too_short","loc":["body","message_id"],"ctx":{"min_length":1}}]}`},
		{Name: "missing", Method: "POST", Path: runs + "/regenerate/prepare", Body: `{}`, Status: 422,
			Want: `{"detail":[{"type":"missing","loc":["body","message_id"]}]}`},
		{Name: "prepared", Method: "POST", Path: runs + "/regenerate/prepare", Body: `{"message_id":"{a2}"}`,
			Status: 200,
			Want: `{"target_run_id":"{r2}","metadata":{"regenerate_from_message_id":"{a2}","regenerate_from_run_id":"{r2}"},
				"checkpoint":{"checkpoint_ns":"","checkpoint_id":"*"},"replacement_human_message_id":"<absent>",
				"input":{"title":"hello","messages":[{"type":"human","id":"{h2}","name":"user-input","content":[{"type":"text","text":"again"}]}]}}`,
			Keep: map[string]string{"checkpoint.checkpoint_id": "base"}},
		{Name: "run", Method: "POST", Path: runs + "/wait", Status: 200,
			Body: `{"input":{"messages":[{"type":"human","id":"{h2}","content":"again"}]},"checkpoint":{"checkpoint_id":"{base}"}}`},
		{Name: "page with versions", Method: "GET", Path: page, Status: 200,
			Keep: map[string]string{"data.3.content.id": "a3"},
			Want: `{"data":[{},{"versions":"<absent>"},{"content":{"id":"{h2}"},"versions":"<absent>"},{"versions":{"index":2,"total":2,"message_ids":["{a2}","*"]}}]}`},
		{Name: "versions", Method: "GET", Path: "/api/threads/t/messages/{a3}/versions", Status: 200,
			Want: `{"data":[{"message_id":"{a2}","current":false,"run_id":"{r2}","checkpoint_id":"*"},{"message_id":"{a3}","current":true}]}`,
			Keep: map[string]string{"data.0.checkpoint_id": "left"}},
		{Name: "the branch that was left", Method: "GET", Path: page + "?checkpoint_id={left}", Status: 200,
			Want: `{"data":[{},{},{},{"content":{"id":"{a2}"},"versions":{"index":1}}]}`},
		{Name: "no versions", Method: "GET", Path: "/api/threads/t/messages/nope/versions", Status: 404},
		{Name: "of the run that was replaced", Method: "GET", Path: runs + "/{r2}/messages?limit=1", Status: 200,
			Want: `{"has_more":true,"data":[{"content":{"id":"{a2}"}}]}`},
	})
}

func TestOtherWords(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	k.Run("t", "again")
	edit := runs + "/edit-regenerate/prepare"
	k.Play([]gateways.Scenario{
		{Name: "page", Method: "GET", Path: page, Status: 200, Keep: map[string]string{
			"data.0.content.id": "h1", "data.2.content.id": "h2", "data.3.content.id": "a2",
		}},
		{Name: "older", Method: "POST", Path: edit, Body: `{"human_message_id":"{h1}","replacement_text":"x"}`,
			Status: 409,
			Want:   `{"detail":"Only the latest completed user turn can be edited"}`},
		{Name: "older, said so", Method: "POST", Path: edit,
			Body: `{"human_message_id":"{h1}","replacement_text":"x","any_turn":true}`, Status: 200},
		{Name: "unchanged", Method: "POST", Path: edit,
			Body: `{"human_message_id":"{h2}","replacement_text":" again "}`, Status: 409,
			Want: `{"detail":"Edited message is unchanged"}`},
		{Name: "blank", Method: "POST", Path: edit, Body: `{"human_message_id":"{h2}","replacement_text":"  "}`,
			Status: 409,
			Want:   `{"detail":"Edited message cannot be empty"}`},
		{Name: "prepared", Method: "POST", Path: edit, Body: `{"human_message_id":"{h2}","replacement_text":"fail"}`,
			Status: 200,
			Want: `{"metadata":{"replay_kind":"edit","edit_from_message_id":"{h2}","edit_version_group_id":"{h2}","regenerate_from_message_id":"{a2}"},
				"source_message_ids":["{h2}","{a2}"],"input":{"messages":[{"content":[{"type":"text","text":"fail"}],"additional_kwargs":{}}]}}`,
			Keep: map[string]string{"checkpoint.checkpoint_id": "base", "replacement_human_message_id": "new"}},
		{Name: "a run that fails", Method: "POST", Path: runs + "/wait", Status: 200,
			Body: `{"input":{"messages":[{"type":"human","id":"{new}","content":"fail"}]},"checkpoint":{"checkpoint_id":"{base}"},"metadata":{"replay_kind":"edit"}}`},
		{Name: "is undone", Method: "GET", Path: page, Status: 200,
			Want: `{"data":[{},{},{"content":{"id":"{h2}"},"versions":"<absent>"},{"content":{"id":"{a2}"}}]}`},
		{Name: "a run that does not", Method: "POST", Path: runs + "/wait", Status: 200,
			Body: `{"input":{"messages":[{"type":"human","id":"better","content":"better"}]},"checkpoint":{"checkpoint_id":"{base}"},"metadata":{"replay_kind":"edit"}}`},
		{Name: "is there", Method: "GET", Path: page, Status: 200,
			Want: `{"data":[{},{},{"content":{"id":"better"},"versions":{"index":2,"total":2,"message_ids":["{h2}","better"]}},{}]}`},
	})
}

func TestBranches(t *testing.T) {
	cloned := errors.New("the disk is full")
	k := gateways.New(t, func(c *gateway.Config) {
		c.CloneFiles = func(_ context.Context, u access.User, from, to string, then time.Time) (bool, error) {
			if u != access.FromRow(gateways.User) || from != "t" || to == "" {
				t.Errorf("the files of %v, %s are copied to %s", u, from, to)
			}
			if !then.IsZero() {
				return true, nil
			}
			return true, cloned
		}
	})
	k.Run("t", "hello")
	k.Run("t", "again")
	const branches = "/api/threads/t/branches"
	k.Play([]gateways.Scenario{
		{Name: "page", Method: "GET", Path: page, Status: 200, Keep: map[string]string{
			"data.0.content.id": "h1", "data.1.content.id": "a1", "data.3.content.id": "a2",
		}},
		{Name: "a question", Method: "POST", Path: branches, Body: `{"message_id":"{h1}"}`, Status: 409,
			Want: `{"detail":"This turn can no longer be branched from."}`},
		{Name: "nothing", Method: "POST", Path: branches, Body: `{"message_id":"nope"}`, Status: 409},
		{Name: "no thread", Method: "POST", Path: "/api/threads/none/branches", Body: `{"message_id":"x"}`, Status: 404,
			Want: `{"detail":"Thread none not found"}`},
		{Name: "empty", Method: "POST", Path: branches, Body: `{"message_id":""}`, Status: 422},
		{Name: "the latest", Method: "POST", Path: branches, Body: `{"message_id":"x","message_ids":["{a2}"]}`,
			Status: 200,
			Want:   `{"parent_thread_id":"t","parent_checkpoint_id":"*","workspace_clone_mode":"failed","history_seed_mode":"seeded"}`,
			Keep:   map[string]string{"thread_id": "late"}},
		{Name: "an earlier one", Method: "POST", Path: branches, Body: `{"message_id":"{a1}","title":"Other road"}`,
			Status: 200,
			Want:   `{"branched_from_message_id":"{a1}","workspace_clone_mode":"skipped_historical_turn"}`,
			Keep:   map[string]string{"thread_id": "early"}},
		{Name: "with the files of then", Method: "POST", Path: branches, Body: `{"message_id":"{a1}","files":"then"}`,
			Status: 200,
			Want:   `{"workspace_clone_mode":"files_of_that_turn"}`},
		{Name: "with the files of now", Method: "POST", Path: branches, Body: `{"message_id":"{a1}","files":"now"}`,
			Status: 200,
			Want:   `{"workspace_clone_mode":"failed"}`},
		{Name: "with others", Method: "POST", Path: branches, Body: `{"message_id":"{a1}","files":"some"}`,
			Status: 422},
		{Name: "where it was left", Method: "GET", Path: "/api/threads/{early}", Status: 200,
			Keep: map[string]string{"metadata.branch_parent_checkpoint_id": "then"}},
		{Name: "it", Method: "GET", Path: "/api/threads/{early}", Status: 200,
			Want: `{"status":"idle","values":{"title":"Other road","messages":[{"id":"{h1}"},{"id":"{a1}"}],"thread_data":"<absent>"},
				"metadata":{"deerflow_branch":true,"branch_parent_thread_id":"t","branch_parent_message_id":"{a1}","branch_created_at":"*"}}`},
		{Name: "from a checkpoint", Method: "POST", Path: branches, Body: `{"checkpoint_id":"{then}","files":"then"}`,
			Status: 200,
			Want:   `{"parent_checkpoint_id":"{then}","branched_from_message_id":"","workspace_clone_mode":"files_of_that_turn"}`, Keep: map[string]string{"thread_id": "at"}},
		{Name: "it has what was said", Method: "GET", Path: "/api/threads/{at}", Status: 200,
			Want: `{"values":{"messages":[{"id":"{h1}"},{"id":"{a1}"}]},"metadata":{"branch_parent_checkpoint_id":"{then}","branch_parent_message_id":"<absent>"}}`},
		{Name: "without files", Method: "POST", Path: branches, Body: `{"checkpoint_id":"{then}"}`, Status: 200,
			Want: `{"workspace_clone_mode":"skipped_historical_turn"}`},
		{Name: "from no checkpoint", Method: "POST", Path: branches,
			Body: `{"checkpoint_id":"01a214ec-9889-7000-8000-000000000000"}`, Status: 404},
		{Name: "from the beginning", Method: "POST", Path: branches, Body: `{"checkpoint_id":"0"}`, Status: 404},
		{Name: "from what is none", Method: "POST", Path: branches, Body: `{"checkpoint_id":"../x"}`, Status: 404},
		{Name: "from nowhere", Method: "POST", Path: branches, Body: `{"checkpoint_id":""}`, Status: 409},
		{Name: "its page", Method: "GET", Path: "/api/threads/{early}/messages/page", Status: 200,
			Want: `{"data":[{"run_id":"branch-seed-{early}-1","metadata":{"branch_seed":true,"branch_parent_thread_id":"t"}},{"run_id":"branch-seed-{early}-1"}]}`},
		{Name: "its runs", Method: "GET", Path: "/api/threads/{early}/runs", Status: 200, Want: `[]`},
		{Name: "it goes on", Method: "POST", Path: "/api/threads/{early}/runs/wait",
			Body: `{"input":{"messages":"more"}}`, Status: 200,
			Want: `{"messages":[{"id":"{h1}"},{"id":"{a1}"},{},{}]}`},
		{Name: "the other one's page", Method: "GET", Path: "/api/threads/{late}/messages/page?limit=1", Status: 200,
			Want: `{"has_more":true,"data":[{"run_id":"branch-seed-{late}-2","content":{"id":"{a2}"}}]}`},
		{Name: "beside another", Method: "POST", Path: "/api/threads",
			Body: `{"thread_id":"beside","metadata":{"deerflow_sidecar":true}}`, Status: 200},
		{Name: "no branch of it", Method: "POST", Path: "/api/threads/beside/branches", Body: `{"message_id":"x"}`,
			Status: 409,
			Want:   `{"detail":"Branching is only available in the main conversation."}`},
	})
}
