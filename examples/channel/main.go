// Command channel is the whole agent in a Go program, with a channel of its own in the state of each thread, and events
// of its own. A tool writes into the channel and tells who follows the run; the program reads the channel afterwards.
// The channel is stored with the thread: it is there after a crash, a restart, and for clients of the server.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// expense is one entry of the channel.
type expense struct {
	What string  `json:"what" doc:"What the money was spent for."`
	Euro float64 `json:"euro" doc:"How much."`
}

// expenses is the channel. Calls that run side by side each write what they add, so their updates are merged; the
// reducer changes neither of its arguments.
var expenses = state.Reduced("expenses", func(old, more []expense) ([]expense, error) {
	return slices.Concat(old, more), nil
})

// book declares the channel and brings the tool that writes into it. It sums up when a run begins.
type book struct{}

var (
	_ agent.StateProvider   = book{}
	_ agent.ToolProvider    = book{}
	_ agent.BeforeAgentHook = book{}
)

func (book) Name() string                 { return "BookMiddleware" }
func (book) Channels() []state.AnyChannel { return []state.AnyChannel{expenses} }
func (book) Tools() []tool.Tool {
	return []tool.Tool{tool.MustNew(tool.Spec{Name: "spend", Description: "Notes an expense.", Effect: tool.Idempotent},
		spend)}
}

// spend does not change the state: it returns the update, which is stored together with the result.
func spend(_ context.Context, call *tool.Call, e expense) (*tool.Result, error) {
	call.Emit(map[string]any{"type": "expense", "what": e.What, "euro": e.Euro})
	result := tool.Text("Noted.")
	result.Command = tool.Command{Update: expenses.Put([]expense{e})}
	return result, nil
}

// BeforeAgent shows an event of the middleware's own.
func (book) BeforeAgent(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	if n := len(expenses.Get(s)); n > 0 {
		rt.Emit("BookMiddleware.before_agent",
			event.Custom{Value: fmt.Appendf(nil, `{"type":"known","entries":%d}`, n)})
	}
	return agent.Command{}, nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	p, err := pudu.Open(ctx, pudu.Options{Middlewares: []agent.Middleware{book{}}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	thread := pudu.NewThreadID()
	for _, text := range []string{"Lunch was 12 euros, the train 30.", "And 5 for a coffee."} {
		for ev, err := range p.Run(ctx, pudu.Task{Thread: thread, Text: text}) {
			if err != nil {
				return err
			}
			if custom, ok := ev.Data.(event.Custom); ok {
				log.Printf("%s", custom.Value)
			}
		}
	}
	s, err := p.State(ctx, thread)
	for _, e := range expenses.Get(s) {
		fmt.Printf("%s: %.2f\n", e.What, e.Euro)
	}
	return err
}
