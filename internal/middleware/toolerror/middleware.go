// Package toolerror keeps a tool's failure from ending the run: its Go error becomes a result that the model can act
// on, and every ordinary result is marked with what kind of outcome it is and what would be sensible next. The
// marks are for other middlewares and for clients; the model does not see them.
package toolerror

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/tool"
)

// mostDetail bounds the words of an error that the model sees, in bytes.
const mostDetail = 500

// Middleware handles failures of tool calls.
type Middleware struct{}

var _ agent.ToolCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "ToolErrorHandlingMiddleware" }

// WrapToolCall implements [agent.ToolCallWrapper]. Questions to a human, the end of the run and failed commits are not
// the tool's failures and pass through.
func (*Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	res, err := next(ctx, req)
	if err == nil {
		return mark(req, res), nil
	}
	var ask *tool.InterruptError
	if ctx.Err() != nil || errors.As(err, &ask) || agent.IsFatal(err) {
		return nil, err
	}
	detail := shorten(err.Error(), mostDetail)
	res = tool.Error(fmt.Sprintf("Error: Tool '%s' failed with %s: %s. Continue with available context, or choose an "+
		"alternative tool.",
		req.Call.Name, className(err), strings.TrimRight(detail, ".")))
	return stamp(res, failure(detail, toolmeta.SourceException)), nil
}

// className names the error by the first exported type in its chain, in the way that models and clients know class
// names: "PathError", or "Error" for errors that are only text.
func className(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		t := reflect.TypeOf(err)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if token.IsExported(t.Name()) {
			return t.Name()
		}
	}
	return "Error"
}

func shorten(s string, most int) string {
	return excerpt.Bound(strings.TrimSpace(s), most)
}
