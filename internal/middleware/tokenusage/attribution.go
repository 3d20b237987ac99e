package tokenusage

import (
	"encoding/json"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// Attribution says what an answer's tokens were spent on.
type Attribution struct {
	Version int    `json:"version"` // 1
	Kind    string `json:"kind"`
	// Shared says that several actions share the tokens.
	Shared      bool     `json:"shared_attribution"`
	ToolCallIDs []string `json:"tool_call_ids"`
	Actions     []Action `json:"actions"`
}

// Values of [Attribution].Kind.
const (
	KindThinking = "thinking" // nothing to see came of it
	KindAnswer   = "final_answer"
	KindTodo     = "todo_update"       // one step of the plan moved
	KindSubagent = "subagent_dispatch" // one task
	KindTools    = "tool_batch"        // any other calls
)

// Action is one thing that an answer did. Which fields are there depends on Kind.
type Action struct {
	Kind         string `json:"kind"`
	Content      string `json:"content,omitempty"` // of a todo
	ToolName     string `json:"tool_name,omitempty"`
	Description  string `json:"description,omitempty"`
	SubagentType string `json:"subagent_type,omitempty"`
	Query        string `json:"query,omitempty"`
	ToolCallID   string `json:"tool_call_id,omitempty"`
}

// Values of [Action].Kind.
const (
	ActionTodoStart     = "todo_start"
	ActionTodoComplete  = "todo_complete"
	ActionTodoUpdate    = "todo_update"
	ActionTodoRemove    = "todo_remove"
	ActionSubagent      = "subagent"
	ActionSearch        = "search"
	ActionPresent       = "present_files"
	ActionClarification = "clarification"
	ActionTool          = "tool"
)

// attribute describes an answer. todos is the plan as it was before its calls.
func attribute(m *message.Message, todos []threadstate.Todo) Attribution {
	a := Attribution{Version: 1, ToolCallIDs: []string{}, Actions: []Action{}}
	for _, c := range m.ToolCalls {
		if c.ID != "" {
			a.ToolCallIDs = append(a.ToolCallIDs, c.ID)
		}
		var did []Action
		did, todos = actions(c, todos)
		a.Actions = append(a.Actions, did...)
	}
	a.Shared = len(a.Actions) > 1
	a.Kind = kind(m, a.Actions)
	return a
}

func kind(m *message.Message, did []Action) string {
	switch {
	case len(did) > 1:
		return KindTools
	case len(did) == 1 && strings.HasPrefix(did[0].Kind, "todo_"):
		return KindTodo
	case len(did) == 1 && did[0].Kind == ActionSubagent:
		return KindSubagent
	case len(did) == 1:
		return KindTools
	case strings.TrimSpace(m.Text()) != "":
		return KindAnswer
	}
	return KindThinking
}

// actions are what one call does, and the plan after it.
func actions(c message.ToolCall, todos []threadstate.Todo) ([]Action, []threadstate.Todo) {
	args, _ := rawjson.Members(c.Args)
	did := Action{Kind: ActionTool, ToolName: short(c.Name), Description: text(args["description"]), ToolCallID: c.ID}
	switch c.Name {
	case "write_todos":
		next := todosOf(args["todos"])
		if moved := moves(todos, next, c.ID); len(moved) > 0 {
			return moved, next
		}
	case "task":
		did.Kind, did.ToolName, did.SubagentType = ActionSubagent, "", text(args["subagent_type"])
	case "web_search", "image_search":
		did.Kind, did.Description, did.Query = ActionSearch, "", text(args["query"])
	case "present_files":
		did = Action{Kind: ActionPresent, ToolCallID: c.ID}
	case "ask_clarification":
		did = Action{Kind: ActionClarification, ToolCallID: c.ID}
	}
	return []Action{did}, todos
}

// todosOf reads a plan as well as it can be read; entries without a content are left out.
func todosOf(raw json.RawMessage) []threadstate.Todo {
	elements, _ := rawjson.Elements(raw)
	var todos []threadstate.Todo
	for _, e := range elements {
		members, _ := rawjson.Members(e)
		content, _ := rawjson.String(members["content"])
		status, _ := rawjson.String(members["status"])
		if content != "" {
			todos = append(todos, threadstate.Todo{Content: content, Status: status})
		}
	}
	return todos
}

// moves are the differences between two plans: first what is new or changed, in the order of the new plan, then what is
// gone. A todo is known again by its content, else by its place.
func moves(old, next []threadstate.Todo, callID string) []Action {
	was, gone := match(old, next)
	var did []Action
	for i, n := range next {
		renamed := false
		if o := was[i]; o != nil {
			if renamed = o.Content != n.Content; !renamed && o.Status == n.Status {
				continue
			}
		}
		did = append(did, Action{Kind: move(n.Status, renamed), Content: short(n.Content), ToolCallID: callID})
	}
	for _, o := range gone {
		did = append(did, Action{Kind: ActionTodoRemove, Content: short(o.Content), ToolCallID: callID})
	}
	return did
}

// match finds what each todo was before, nil for a new one, and those that became nothing.
func match(old, next []threadstate.Todo) (was []*threadstate.Todo, gone []threadstate.Todo) {
	was, taken := make([]*threadstate.Todo, len(next)), make([]bool, len(old))
	for i, n := range next {
		for at := range old {
			if was[i] == nil && !taken[at] && old[at].Content == n.Content {
				was[i], taken[at] = &old[at], true
			}
		}
	}
	for at := range old {
		if at < len(next) && was[at] == nil && !taken[at] {
			was[at], taken[at] = &old[at], true
		}
		if !taken[at] {
			gone = append(gone, old[at])
		}
	}
	return was, gone
}

func move(status string, renamed bool) string {
	switch {
	case renamed:
		return ActionTodoUpdate
	case status == threadstate.TodoCompleted:
		return ActionTodoComplete
	case status == threadstate.TodoInProgress:
		return ActionTodoStart
	}
	return ActionTodoUpdate
}

// text is a JSON string's text, cut to what clients show; anything else is empty.
func text(raw json.RawMessage) string {
	s, _ := rawjson.String(raw)
	return short(s)
}

// short bounds a text that the model wrote: it is in the answer's calls already.
func short(s string) string {
	const most = 1000
	return excerpt.Bound(s, most)
}
