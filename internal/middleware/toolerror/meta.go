package toolerror

import (
	"encoding/json"
	"maps"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// MetaKey is the additional_kwargs key of [Meta].
const MetaKey = "deerflow_tool_meta"

// Meta says what kind of outcome a tool call had.
type Meta struct {
	// Status is "success", "error" or "partial_success".
	Status string `json:"status"`
	// ErrorType is the kind of error; null when there is none.
	ErrorType *string `json:"error_type"`
	// Recoverable tells whether the model can do something about it.
	Recoverable bool `json:"recoverable_by_model"`
	// Next is the sensible next step: "continue", "stop", "summarize", "try_alternative" or "rewrite_query".
	Next string `json:"recommended_next_action"`
	// Source tells what the judgement rests on.
	Source string `json:"source"`
}

// Values of [Meta].Status.
const (
	StatusSuccess = "success"
	StatusError   = "error"
	StatusPartial = "partial_success"
)

// Values of [Meta].Source.
const (
	SourceException = "exception"        // the tool failed with a Go error
	SourceReturn    = "tool_return"      // the tool said so
	SourceContent   = "content_analysis" // nothing but the content
)

// mark adds the meta to a result, unless it has one already or is a command: what changes the state or the way of
// the run is not an ordinary outcome.
func mark(req *agent.ToolRequest, res *tool.Result) *tool.Result {
	if res == nil || res.Goto != "" || len(res.Update) > 0 || res.Kwargs[MetaKey] != nil {
		return res
	}
	if req.Invalid != "" { // no tool ran; the text speaks of the call
		return stamp(res, unknownError(SourceReturn))
	}
	return stamp(res, judge(req.Call.Name, res))
}

// stamp returns a copy of the result with the meta.
func stamp(res *tool.Result, m Meta) *tool.Result {
	raw, err := json.Marshal(m)
	if err != nil { // strings and flags always encode
		return res
	}
	marked := *res
	marked.Kwargs = message.Fields{}
	maps.Copy(marked.Kwargs, res.Kwargs)
	marked.Kwargs[MetaKey] = raw
	return &marked
}
