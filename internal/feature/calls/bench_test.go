package calls_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// BenchmarkNote is what keeping costs a call: the first one of a run, and one behind it.
func BenchmarkNote(b *testing.B) {
	databases.Bench(b, []database.Feature{calls.Feature()}, func(b *testing.B, st database.Store) {
		all := calls.New(st, calls.Config{Messages: agent.Messages.Get}).For(access.FromRow("ann"))
		tools := make([]model.Tool, 12)
		for i := range tools {
			tools[i] = model.Tool{Name: fmt.Sprint("tool", i), Description: strings.Repeat("what it does ", 60),
				Parameters: []byte(`{"type":"object"}`)}
		}
		for _, n := range []int{10, 120, 5000} {
			var msgs []message.Message
			for i := range n {
				m := message.New([]message.Role{message.Human, message.AI}[i%2], strings.Repeat("some words ", 20))
				m.ID = fmt.Sprint("m", i)
				msgs = append(msgs, m)
			}
			s, _, err := state.State{}.Apply(agent.Messages.Append(msgs...))
			if err != nil {
				b.Fatal(err)
			}
			held := agent.Messages.Get(s)
			var memo conversation.Memo
			usual := memo.Map(held, conversation.AppendSent)
			a := &calls.Asked{Model: "m", Provider: "p/m", State: s, Messages: held, Usual: usual,
				Request: &model.Request{
					System: strings.Repeat("Be good. ", 500), Tools: tools, Messages: usual,
				}}
			b.Run(fmt.Sprint("first of ", n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					all.Notes().Note(context.Background(), a)
				}
			})
			b.Run(fmt.Sprint("next of ", n), func(b *testing.B) {
				b.ReportAllocs()
				notes := all.Notes()
				for b.Loop() {
					notes.Note(context.Background(), a)
				}
			})
		}
	})
}
