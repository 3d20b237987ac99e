package frames_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/message"
)

var update = flag.Bool("update", false, "write the golden files")

var human = wrote{agent.NodeInput, put(msg(message.Human, "h1", "look"))}

// scripts are the runs whose frames stand in testdata, mode by mode.
var scripts = map[string]func(s *script){
	"answer": func(s *script) {
		s.step(agent.NodeBeforeModel, human, wrote{"Data.before_agent", notes.Put([]string{"a"}).With(counter.Put(1))})
		s.add(agent.NodeModel, event.Chunk{MessageID: "m1", Reasoning: "Let me "})
		s.add(agent.NodeModel, event.Chunk{MessageID: "m1", Reasoning: "think."})
		s.say("m1", "One\n", "two")
		m := answer("m1", "One\ntwo")
		m.Content = append([]message.Part{{Type: message.PartReasoning, Text: "Let me think."}}, m.Content...)
		s.step(agent.Done, wrote{agent.NodeModel, put(m).With(counter.Put(2))},
			wrote{"Guard.after_model", counter.Put(3)},
			wrote{"TitleMiddleware.after_model", title.Put("One")}, wrote{"Usage.after_model", put(m)})
		s.add(agent.NodeModel, event.Message{MessageID: "m1", First: 4})
		s.add("Memory.after_agent", event.Custom{Value: json.RawMessage("{\"type\":\n\"saved\"}")})
		s.add("", event.Run{Status: event.StatusSuccess})
	},
	"parallel tools": func(s *script) {
		s.step(agent.NodeModel, human)
		s.say("m1", "Both.")
		for i, name := range []string{"ls", "bash"} {
			id := fmt.Sprint("c", i)
			s.add(agent.NodeModel, event.Chunk{MessageID: "m1",
				ToolCalls: []event.ToolCallChunk{{Index: i, ID: id, Name: name}}})
			s.add(agent.NodeModel, event.Chunk{MessageID: "m1",
				ToolCalls: []event.ToolCallChunk{{Index: i, ID: id, Args: `{"x":`}}})
			s.add(agent.NodeModel, event.Chunk{MessageID: "m1",
				ToolCalls: []event.ToolCallChunk{{Index: i, Args: ` "` + name + `"}`}}})
		}
		calls := []message.ToolCall{toolCall("c0", "ls", `{"x": "ls"}`), toolCall("c1", "bash", `{"x": "bash"}`)}
		s.step(agent.NodeTools, wrote{agent.NodeModel, put(answer("m1", "Both.", calls...))})
		s.add(agent.NodeModel, event.Message{MessageID: "m1"})
		for _, c := range calls {
			s.add(agent.NodeTools, event.ToolStart{CallID: c.ID, MessageID: "m1", Tool: c.Name, Args: c.Args})
		}
		s.add(agent.NodeTools, event.Progress{CallID: "c1", Text: "50 %"})
		second := put(toolResult("c1", "two"))
		raw, _ := second.MarshalJSON()
		s.add(agent.NodeTools, event.ToolEnd{CallID: "c1", MessageID: "m1", Tool: "bash", Writes: raw})
		s.step(agent.NodeBeforeModel, wrote{agent.NodeTools, put(toolResult("c0", "one")).With(counter.Put(1))},
			wrote{agent.NodeTools, second})
		s.add(agent.NodeTools, event.ToolEnd{CallID: "c0", MessageID: "m1", Tool: "ls"})
		s.add("", event.Run{Status: event.StatusSuccess})
	},
	"failing model": func(s *script) {
		s.step(agent.NodeModel, human)
		s.say("m1", "This ", "breaks")
		s.add(agent.NodeModel, event.Discard{MessageID: "m1", Reason: "connection lost"})
		s.add(agent.NodeModel, event.Custom{Value: json.RawMessage(`{"type":"llm_retry","attempt":1}`)})
		m := msg(message.AI, "m2", "The model is not available.")
		m.Kwargs = message.Fields{message.KeyErrorFallback: json.RawMessage("true")}
		s.step(agent.Done, wrote{agent.NodeModel, put(m)})
		s.add("", event.Run{Status: event.StatusError, Error: "The model is not available."})
	},
	"failure": func(s *script) {
		s.step(agent.NodeModel, human)
		s.add("", event.Run{Status: event.StatusError, Error: "tools: ls: the disk is full"})
	},
	"failure before the start": func(s *script) {
		s.evs, s.id.N = nil, 0
		s.add("", event.Run{Status: event.StatusError, Error: "3 attempts in a row ended before a step was done"})
	},
	"rolled back": func(s *script) {
		s.step(agent.NodeModel, human)
		s.add("", event.Run{Status: event.StatusError, Error: store.RolledBack})
	},
	"cancelled while it speaks": func(s *script) {
		s.step(agent.NodeModel, human)
		s.say("m1", "Well, ", "that")
		m := msg(message.AI, "m1", "Well, that")
		m.Kwargs = message.Fields{message.KeyPartial: json.RawMessage(`"cancelled"`)}
		s.step(agent.Done, wrote{agent.NodeModel, put(m)})
		s.add(agent.NodeModel, event.Message{MessageID: "m1"})
		s.add("", event.Run{Status: event.StatusInterrupted, StopReason: "cancelled"})
	},
	"crash": func(s *script) {
		s.step(agent.NodeModel, human)
		s.say("m1", "Lost ", "words")
		s.crash()
		s.say("m2", "Found")
		s.step(agent.Done, wrote{agent.NodeModel, put(answer("m2", "Found"))})
		s.add(agent.NodeModel, event.Message{MessageID: "m2"})
		s.add("", event.Run{Status: event.StatusSuccess})
	},
	"questions": func(s *script) {
		s.step(agent.NodeTools, human,
			wrote{agent.NodeModel, put(answer("m1", "", toolCall("c0", "ask", "{}"), toolCall("c1", "ask", "{}")))})
		s.add(agent.NodeTools, event.Interrupt{InterruptID: "i0", CallID: "c0",
			Value: json.RawMessage(`{"question": "a?"}`)})
		s.add(agent.NodeTools, event.Interrupt{InterruptID: "i1", CallID: "c1", Value: json.RawMessage(`"b?"`)})
		s.add("", event.Run{Status: event.StatusInterrupted})
	},
	"breakpoint": func(s *script) {
		s.step(agent.NodeModel, human)
		s.add("", event.Interrupt{})
		s.add("", event.Run{Status: event.StatusInterrupted})
	},
	"answer that was changed": func(s *script) {
		s.step(agent.NodeModel, human)
		s.add(agent.NodeModel, event.Chunk{MessageID: "m1", Text: "I call",
			ToolCalls: []event.ToolCallChunk{{Index: 0, ID: "c0", Name: "ls", Args: "{"}}})
		s.step(agent.Done, wrote{agent.NodeModel, put(answer("m1", "I call no more"))})
		s.add(agent.NodeModel, event.Message{MessageID: "m1"})
		s.say("m2", "Go")
		s.add(agent.NodeModel, event.Chunk{MessageID: "m2", ToolCalls: []event.ToolCallChunk{{Index: 3, Name: "ls"}}})
		s.step(agent.NodeTools, wrote{agent.NodeModel, put(answer("m2", "Go on", toolCall("made-up", "ls", "{}")))})
		s.add(agent.NodeModel, event.Message{MessageID: "m2"})
		s.add("", event.Run{Status: event.StatusSuccess})
	},
	"summary": func(s *script) {
		s.step(agent.NodeModel, human)
		s.step(agent.NodeModel, wrote{"Summary.before_model", agent.Messages.Reset(msg(message.Human, "s1", "so far")).
			With(title.Put("Sum"))})
		s.step(agent.Done, wrote{"Patch.before_model", put(msg(message.AI, "a9", "by hand")).
			With(agent.Messages.Remove("s1"), title.Delete())})
		s.add("", event.Run{Status: event.StatusSuccess})
	},
	"sub-agent": func(s *script) {
		s.step(agent.NodeTools, human)
		s.ns = []string{"tools:c1"}
		s.add(agent.NodeTools, event.Custom{Value: json.RawMessage(`{"type":"task_running"}`)})
		s.say("x1", "inside")
		s.step(agent.Done, wrote{agent.NodeModel, put(answer("x1", "inside"))})
		s.ns = nil
		s.add("", event.Run{Status: event.StatusSuccess})
	},
}

func TestGoldenFrames(t *testing.T) {
	for name, write := range scripts {
		t.Run(name, func(t *testing.T) {
			s := begin()
			write(s)
			var got bytes.Buffer
			for _, modes := range append(single(), allModes) {
				cfg := onBase(config(modes...), msg(message.Human, "h0", "hello"), msg(message.AI, "a0", "Hello!"))
				cfg.Subgraphs = name == "sub-agent"
				fmt.Fprintf(&got, "######## %s\n\n", modes)
				if len(modes) > 1 { // the frames themselves stand above
					fmt.Fprintf(&got, "%s\n", names(project(t, cfg, s.evs, frames.FrameID{})))
					continue
				}
				got.WriteString(sse(project(t, cfg, s.evs, frames.FrameID{})))
			}
			file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func single() (out [][]frames.Mode) {
	for _, m := range allModes {
		out = append(out, []frames.Mode{m})
	}
	return out
}
