// Package shape has the parts of answers that several groups of routes share: how a time is written, what a question
// looks like, which models and which graph there are. It turns values of the store into JSON, and knows no request.
package shape

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
)

// GraphID is the one graph there is: the lead agent.
const GraphID = "lead_agent"

// SystemAssistant is the id that LangGraph derives from the name of the graph: UUID 5 of "lead_agent" in the namespace
// 6ba7b821-9dad-11d1-80b4-00c04fd430c8. It stands for the lead agent as it is, and is not stored.
const SystemAssistant = "bee7d354-5df5-5f26-a978-10ea053f620d"

// Model is one that a run may name.
type Model struct {
	Name, DisplayName, Model, Description string

	Thinking, ReasoningEffort, Vision bool
	// Window is the size of its window in tokens; 0 is unknown.
	Window int
	// Hidden keeps it out of the list: clients choose the first one of that by themselves.
	Hidden bool
}

// Find is the model of a name.
func Find(models []Model, name string) (Model, bool) {
	i := slices.IndexFunc(models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return models[i], true
}

// Stamp writes a time as the API does.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// OrNil is null for an empty text.
func OrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// OrEmpty is an empty object for none.
func OrEmpty(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("{}")
	}
	return raw
}

// With adds members to a JSON object; what is none is an empty one.
func With(low json.RawMessage, more map[string]string) json.RawMessage {
	members := Members(low)
	for name, v := range more {
		members[name] = rawjson.AppendString(nil, v)
	}
	return route.Object(members)
}

// Members are the members of an object; what is none has none.
func Members(raw json.RawMessage) map[string]json.RawMessage {
	members, ok := rawjson.Members(raw)
	if !ok {
		return make(map[string]json.RawMessage)
	}
	return members
}

// HasMembers reports whether each member that is wanted is there with an equal value.
func HasMembers(has, want map[string]json.RawMessage) bool {
	for name, value := range want {
		if has[name] == nil || !equalJSON(has[name], value) {
			return false
		}
	}
	return true
}

// equalJSON compares values that were checked to be JSON.
func equalJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// Interrupt is a question to a human.
type Interrupt struct {
	Value json.RawMessage `json:"value"`
	ID    string          `json:"id"`
}

// Interrupts are the questions that wait.
func Interrupts(questions []event.Interrupt) []Interrupt {
	out := make([]Interrupt, len(questions))
	for i, q := range questions {
		out[i] = Interrupt{q.Value, q.InterruptID}
	}
	return out
}

// checkpointID is what the id of a checkpoint looks like. Any other text names none.
var checkpointID = regexp.MustCompile(`^[0-9a-f-]{1,64}$`)

// IsCheckpoint reports whether a checkpoint can have this id.
func IsCheckpoint(id string) bool { return checkpointID.MatchString(id) }

// NoCheckpoint is the answer to an id of a checkpoint that the thread does not have.
func NoCheckpoint(id string) error {
	words := strings.Fields("Checkpoint " + route.Clip(id) + " not found")
	return route.Failf(http.StatusNotFound, "%s", strings.Join(words, " "))
}

// ThreadMetadata is what a thread tells of its first run, so that clients find the threads of their assistant.
func ThreadMetadata(req runs.Request) json.RawMessage {
	assistant := req.AssistantID
	if assistant == "" || assistant == GraphID {
		assistant = SystemAssistant
	}
	return With(nil, map[string]string{"graph_id": GraphID, "assistant_id": assistant})
}
