package frames_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/message"
)

// BenchmarkChunk is a token for a reader of messages.
func BenchmarkChunk(b *testing.B) {
	p := frames.New(config(frames.MessagesTuple, frames.Values, frames.Updates, frames.Custom))
	ev := event.Event{ID: event.ID{Attempt: 1}, Node: agent.NodeModel,
		Data: event.Chunk{MessageID: "0190b7c8-7f1e-7a54-9a30-0242ac120002", Text: " word"}}
	b.ReportAllocs()
	for b.Loop() {
		ev.ID.N++
		if fs, err := p.Project(ev); err != nil || len(fs) != 1 {
			b.Fatal(fs, err)
		}
	}
}

// BenchmarkValues is an update of another channel in a state that has messages of 500 bytes.
func BenchmarkValues(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n, " messages"), func(b *testing.B) {
			text := strings.Repeat("word ", 100)
			var msgs []message.Message
			for i := range n {
				msgs = append(msgs, msg(message.Human, fmt.Sprint("old", i), text))
			}
			s := begin()
			s.step(agent.NodeModel, wrote{"x", title.Put("new")})
			p := frames.New(onBase(config(frames.Values), msgs...))
			b.ReportAllocs()
			for b.Loop() {
				fs, err := p.Project(s.evs[1])
				if err != nil || len(fs) != 1 {
					b.Fatal(fs, err)
				}
				b.SetBytes(int64(len(fs[0].Data)))
			}
		})
	}
}

// BenchmarkAppend is a step that adds a message to a state that has 1000, beside the values.
func BenchmarkAppend(b *testing.B) {
	for _, mode := range []frames.Mode{frames.Values, frames.Updates, frames.MessagesTuple} {
		b.Run(string(mode), func(b *testing.B) {
			var msgs []message.Message
			for i := range 1000 {
				msgs = append(msgs, msg(message.Human, fmt.Sprint("old", i), strings.Repeat("word ", 100)))
			}
			s := begin()
			for i := range 200 {
				s.step(agent.NodeModel,
					wrote{agent.NodeModel, put(answer(fmt.Sprint("new", i), strings.Repeat("word ", 100)))})
			}
			b.ReportAllocs()
			for b.Loop() {
				project(b, onBase(config(mode), msgs...), s.evs, frames.FrameID{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/step")
		})
	}
}

// BenchmarkSkip is an event of a run of 200 steps with 20 tokens each, for a reader who has seen it.
func BenchmarkSkip(b *testing.B) {
	s := begin()
	for i := range 200 {
		id := fmt.Sprint("m", i)
		s.say(id, strings.Split(strings.Repeat("word ", 20), "")[:20]...)
		s.step(agent.NodeModel, wrote{agent.NodeModel, put(answer(id, strings.Repeat("word ", 20)[:20]))})
		s.add(agent.NodeModel, event.Message{MessageID: id})
	}
	last := s.add("", event.Custom{})
	b.ReportAllocs()
	for b.Loop() {
		p := frames.New(config(frames.MessagesTuple, frames.Values, frames.Updates, frames.Custom))
		p.SkipTo(frames.FrameID{Event: last})
		for _, ev := range s.evs {
			if fs, err := p.Project(ev); err != nil || len(fs) > 0 {
				b.Fatal(fs, err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.evs)), "ns/event")
}

// BenchmarkRun is a run of five tool steps for a reader of values and messages: in the process that executes it, and
// from the log.
func BenchmarkRun(b *testing.B) {
	s := begin()
	s.step(agent.NodeModel, wrote{agent.NodeInput, put(msg(message.Human, "h", "list the files")).
		With(title.Put("Files"))})
	for i := range 5 {
		id, call := fmt.Sprint("m", i), fmt.Sprint("c", i)
		s.step(agent.NodeModel, wrote{"Some.before_model", counter.Put(i)})
		s.add(agent.NodeModel, event.Chunk{MessageID: id,
			ToolCalls: []event.ToolCallChunk{{ID: call, Name: "ls", Args: `{"path":"/mnt"}`}}})
		s.step(agent.NodeTools, wrote{agent.NodeModel, put(answer(id, "", toolCall(call, "ls", `{"path":"/mnt"}`))).
			With(counter.Put(i))})
		s.add(agent.NodeModel, event.Message{MessageID: id})
		s.add(agent.NodeTools, event.ToolStart{CallID: call, MessageID: id, Tool: "ls"})
		s.step(agent.NodeBeforeModel, wrote{agent.NodeTools, put(toolResult(call, strings.Repeat("/mnt/file\n", 20)))},
			wrote{"Some.after_tools", notes.Put([]string{call})})
		s.add(agent.NodeTools, event.ToolEnd{CallID: call, MessageID: id, Tool: "ls"})
	}
	s.say("last", strings.SplitAfter(strings.Repeat("word ", 20), " ")...)
	s.step(agent.Done, wrote{agent.NodeModel, put(answer("last", strings.Repeat("word ", 20)))})
	s.add("", event.Run{Status: event.StatusSuccess})
	for name, evs := range map[string][]event.Event{"here": s.here(func() bool { return true }), "log": s.evs} {
		b.Run(name, func(b *testing.B) {
			cfg := config(frames.MessagesTuple, frames.Values)
			b.ReportAllocs()
			for b.Loop() {
				project(b, cfg, evs, frames.FrameID{})
			}
		})
	}
}
