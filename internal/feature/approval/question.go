package approval

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// Question is what a person is asked about one call.
type Question struct {
	Tool string
	Args json.RawMessage // an object
	// Why says why it is asked.
	Why string
	// Scopes says that an answer may have a scope.
	Scopes bool
}

// ReadQuestion reads a question about one call; false if it is another one.
func ReadQuestion(value json.RawMessage) (Question, bool) {
	var v struct {
		Actions []struct {
			Name        string          `json:"name"`
			Args        json.RawMessage `json:"args"`
			Description string          `json:"description"`
		} `json:"actionRequests"`
		Reviews []struct {
			Scopes []string `json:"scopes"`
		} `json:"reviewConfigs"`
	}
	if json.Unmarshal(value, &v) != nil || len(v.Actions) != 1 {
		return Question{}, false
	}
	a := v.Actions[0]
	why, _, _ := strings.Cut(a.Description, callIntro)
	return Question{a.Name, a.Args, why, len(v.Reviews) == 1 && len(v.Reviews[0].Scopes) > 0}, true
}

// Answer is the decision as [Read] reads it.
func (d Decision) Answer() json.RawMessage {
	text := rawjson.AppendString(nil, string(d.Kind))
	switch d.Kind {
	case Reject:
		return fmt.Appendf(nil, `{"decisions":[{"type":%s,"message":%s}]}`, text, rawjson.AppendString(nil, d.Message))
	case Edit:
		name := rawjson.AppendString(nil, d.Name)
		return fmt.Appendf(nil, `{"decisions":[{"type":%s,"editedAction":{"name":%s,"args":%s}}]}`, text, name, d.Args)
	}
	if d.Scope == Once {
		return fmt.Appendf(nil, `{"decisions":[{"type":%s}]}`, text)
	}
	scope, pattern := rawjson.AppendString(nil, string(d.Scope)), rawjson.AppendString(nil, d.Pattern)
	return fmt.Appendf(nil, `{"decisions":[{"type":%s,"scope":%s,"pattern":%s}]}`, text, scope, pattern)
}
