// Package clarify holds the ask_clarification tool, by which a model asks the user a question. The call ends the turn,
// also beside other calls; the answer is the user's next message.
package clarify

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/tool"
)

var (
	//go:embed ask_clarification.md
	description string
	//go:embed ask_clarification.json
	parameters []byte
)

// Tool is the ask_clarification tool. Unlike other tools it does not check its arguments against its schema: a careless
// question is still a question.
type Tool struct{}

var _ tool.Tool = Tool{}

// New returns the tool.
func New() tool.Tool { return Tool{} }

// spec is the same for the tools of all runs.
var spec = sync.OnceValue(func() tool.Spec {
	var schema bytes.Buffer // every byte of it is part of every request
	if err := json.Compact(&schema, parameters); err != nil {
		panic(err) // the file is part of the program
	}
	return tool.MustParse(tool.Spec{
		Name: clarification.ToolName, Description: strings.TrimSpace(description), Parameters: schema.Bytes(),
		Effect: tool.Idempotent,
	})
})

// Spec implements [tool.Tool].
func (Tool) Spec() tool.Spec { return spec() }

// Run implements [tool.Tool]. A call that runs again gives the same message under the same id.
func (Tool) Run(_ context.Context, call *tool.Call) (*tool.Result, error) {
	req := clarification.Parse(call.Args)
	res := tool.Text(req.Text())
	res.Artifact = req.Artifact(call.ID)
	res.MessageID = req.ID(call.ID)
	res.Summary = req.Question
	res.Goto = tool.End
	return res, nil
}
