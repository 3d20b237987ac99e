package history

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// maxTaskText bounds a text in the events of a task, in characters.
const maxTaskText = 8192

// The events of tasks are numbered behind all of the thread: by the place of the run, the number of the task in it, and
// the number of the event in the task. So each keeps its number, whatever comes beside it.
const (
	taskBits = 32
	stepBits = 22
)

// tasks are the events of the tasks that a run has given, as long as the messages of their sub-agents are there.
func (g *Group) tasks(ctx context.Context, r rows, run store.Run, msgs []history.Message,
	begin int64) (out []rowJSON, err error) {
	below, err := g.Mine(ctx).ListRuns(ctx, store.RunFilter{Parent: run.ID, Limit: store.MaxChildren})
	if err != nil || len(below) == 0 {
		return nil, err
	}
	results := resultsOf(msgs)
	for i := range below {
		child := below[len(below)-1-i] // the newest stands first
		req, err := runs.RequestOf(child)
		if err != nil {
			return out, err
		}
		if req.Task == nil {
			continue
		}
		said, err := g.messagesOf(ctx, child)
		if err != nil {
			return out, err
		}
		t := taskRows{rows: r, run: run, id: req.Task.Call, seq: (begin+1)<<taskBits | int64(i)<<stepBits}
		t.started(child, req.Task)
		for _, m := range said {
			t.said(m)
		}
		if err := g.ended(ctx, &t, child, results[t.id]); err != nil {
			return out, err
		}
		out = append(out, t.out...)
	}
	return out, nil
}

// resultsOf are the results of calls among the messages of a run, by the ids of the calls.
func resultsOf(msgs []history.Message) map[string]message.Message {
	out := make(map[string]message.Message)
	for _, m := range msgs {
		var res message.Message
		if m.Kind == message.Tool && json.Unmarshal(m.Content, &res) == nil {
			out[res.ToolCallID] = res
		}
	}
	return out
}

// taskRows are the events of one task.
type taskRows struct {
	rows

	run    store.Run
	id     string
	seq    int64
	n      int    // messages so far
	answer string // the last one
	out    []rowJSON
}

func (t *taskRows) add(typ string, at time.Time, content, about map[string]any) {
	content["task_id"] = t.id
	metadata := map[string]any{"task_id": t.id}
	maps.Copy(metadata, about)
	row := t.event(t.run, typ, "subagent", t.seq, content, metadata)
	row.CreatedAt = shape.Stamp(at)
	t.seq++
	t.out = append(t.out, row)
}

func (t *taskRows) started(child store.Run, task *runs.Task) {
	t.add("subagent.start", child.CreatedAt, map[string]any{
		"description": task.Description, "subagent_type": task.Kind, "run_id": child.ID, "thread_id": child.ThreadID,
	}, nil)
}

// said tells of an answer of the sub-agent, or of a result that it got.
func (t *taskRows) said(h history.Message) {
	var m message.Message
	if h.Kind != message.AI && h.Kind != message.Tool || json.Unmarshal(h.Content, &m) != nil {
		return
	}
	t.n++
	text := m.Text()
	content := map[string]any{
		"message_index": t.n, "kind": string(m.Role), "text": excerpt.First(text, maxTaskText),
		"truncated": longer(text),
	}
	if m.Role == message.Tool {
		content["tool_name"] = m.Name
	} else {
		t.answer = text
		calls := make([]map[string]any, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			calls[i] = map[string]any{"name": c.Name, "args": c.Args}
		}
		content["tool_calls"] = calls
	}
	t.add("subagent.step", h.At, content, map[string]any{"message_index": t.n})
}

func longer(text string) bool { return excerpt.First(text, maxTaskText) != text }

// ended tells how a task ended: as the result of its call says, if there is one, else as its run says. One that is at
// work has not.
func (g *Group) ended(ctx context.Context, t *taskRows, child store.Run, result message.Message) error {
	if child.Active() {
		return nil
	}
	o := subagents.OutcomeOf(event.Run{Status: child.Status, Error: child.Error, StopReason: child.StopReason},
		t.answer)
	status, why := o.Status, o.Error
	if said, ok := rawjson.String(result.Kwargs[toolmeta.KeySubagentStatus]); ok {
		status = said
		why, _ = rawjson.String(result.Kwargs[toolmeta.KeySubagentError])
	}
	var took message.Usage
	if child.Usage != nil {
		if err := json.Unmarshal(child.Usage, &took); err != nil {
			return err
		}
	}
	below, err := g.runs(ctx).SpentBelow(ctx, child.ID)
	if err != nil {
		return err
	}
	content := map[string]any{"status": status}
	if took = took.Add(below); took.TotalTokens > 0 {
		content["usage"] = subagents.Usage{Input: took.InputTokens, Output: took.OutputTokens, Total: took.TotalTokens}
	}
	if name := toolmeta.SubagentModel(result); name != "" {
		content["model_name"] = name
	}
	bounded := func(key, text string) {
		if text == "" {
			return
		}
		if content[key] = excerpt.First(text, maxTaskText); longer(text) {
			content[key+"_truncated"] = true
		}
	}
	if bounded("error", why); why == "" {
		bounded("result", o.Result)
	}
	t.add("subagent.end", child.UpdatedAt, content, nil)
	return nil
}
