package lead

import (
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/middleware/clarification"
	"github.com/pudu-ai/pudu/internal/middleware/danglingtoolcall"
	"github.com/pudu-ai/pudu/internal/middleware/llmerror"
	sandboxmw "github.com/pudu-ai/pudu/internal/middleware/sandbox"
	"github.com/pudu-ai/pudu/internal/middleware/threaddata"
	"github.com/pudu-ai/pudu/internal/middleware/toolerror"
)

// Chain is THE ordered list of middlewares. before_* hooks run from the top, after_* hooks from the bottom, and of the
// wrappers the topmost is the outermost.
func Chain(c Config) []agent.Middleware {
	call := c.Settings.LLMCall
	return append([]agent.Middleware{
		// The thread's folders are in the state before anything looks for them.
		threaddata.New(threaddata.Config{}),
		// Outside the tool's own error handling, so that the sandbox is noted whatever became of the call.
		sandboxmw.New(sandboxmw.Config{Space: c.Space, Release: c.Park}),
		// Inside everything that changes the messages: what it repaired is what is sent.
		danglingtoolcall.New(),
		llmerror.New(llmerror.Config{
			MaxAttempts: call.RetryMaxAttempts, BaseDelay: call.RetryBaseDelay, CapDelay: call.RetryCapDelay,
			BurstBaseDelay: call.BurstRetryBaseDelay, Breaker: c.Guard.breaker, Limiter: c.Guard.limiter,
		}),
		toolerror.New(),
		// Always the last, so the innermost: a question to the user never reaches the tool.
		clarification.New(clarification.Config{}),
	}, c.Inside...)
}
