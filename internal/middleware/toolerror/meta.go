package toolerror

import (
	"maps"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// mark adds the meta to a result, unless it has one already or is a command: what changes the state or the way of
// the run is not an ordinary outcome.
func mark(req *agent.ToolRequest, res *tool.Result) *tool.Result {
	if res == nil || res.Goto != "" || len(res.Update) > 0 || res.Kwargs[toolmeta.Key] != nil {
		return res
	}
	if req.Invalid != "" { // no tool ran; the text speaks of the call
		return stamp(res, unknownError(toolmeta.SourceReturn))
	}
	return stamp(res, judge(req.Call.Name, res))
}

// stamp returns a copy of the result with the meta.
func stamp(res *tool.Result, m toolmeta.Meta) *tool.Result {
	marked := *res
	marked.Kwargs = message.Fields{}
	maps.Copy(marked.Kwargs, res.Kwargs)
	marked.Kwargs[toolmeta.Key] = m.Field()
	return &marked
}
