package runs_test

import (
	"bufio"
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/models/anthropic"
	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// mostMemory is what one run may take, whatever its model sends.
const mostMemory = 64 << 20

// floods are answers without end, or too large: what is sent first, then again and again, as often as that says.
var floods = map[string]struct {
	head, again string
	times       int
	wire        string
	want        string
}{
	"text": {again: openAI(`"content":"` + strings.Repeat("word ", 200) + `"`), want: "more than 2097152 bytes"},
	"reasoning": {again: openAI(`"reasoning_content":"` + strings.Repeat("word ", 200) + `"`),
		want: "more than 2097152 bytes"},
	"arguments": {
		head:  openAI(`"tool_calls":[{"index":0,"id":"c","function":{"name":"a","arguments":"{\"x\":\""}}]`),
		again: openAI(`"tool_calls":[{"index":0,"function":{"arguments":"` + strings.Repeat("x", 1000) + `"}}]`),
		want:  "more than 1048576 bytes of arguments"},
	"calls": {again: openAI(`"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"a","arguments":"{}"}}]`), times: 20_000,
		want: "more than 256 tool calls"},
	"calls in one event": {
		head:  `data: {"choices":[{"index":0,"delta":{"tool_calls":[`,
		again: `{"id":"c","function":{"name":"a","arguments":"{}"}},`, times: 20_000,
		want: "more than 65536 values"},
	"an event of empty choices": {head: `data: {"choices":[`, again: strings.Repeat(`{},`, 1000), times: 2600,
		want: "more than 65536 values"},
	"an event without an end": {head: `data: {"choices":[{"delta":{"content":"`, again: strings.Repeat("x", 1000),
		want: "more than 8388608 bytes in one event"},
	"events that say nothing": {again: "data: {\"choices\":[]}\n\n", want: "more than 524288 events"},
	"reasoning that is kept":  {again: openAI(`"reasoning_content":"r","reasoning_details":[{"type":"reasoning.text","text":"` + strings.Repeat("x", 1000) + `"}]`), want: "more than 2097152 bytes"},
	"signatures": {wire: "anthropic", head: anthropicHead,
		again: anthropicEvent(`"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` +
			strings.Repeat("x", 1000) + `"}`), want: "more than 2097152 bytes"},
	"blocks that are never used": {wire: "anthropic", head: anthropicHead,
		again: anthropicEvent(`"content_block_start","index":%d,"content_block":{"type":"thinking","thinking":""}`),
		want:  "more than 2097152 bytes"},
}

const anthropicHead = `data: {"type":"message_start","message":{"id":"m","model":"m","usage":{"input_tokens":1}}}` +
	"\n\n" +
	`data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}` +
	"\n\n"

func anthropicEvent(rest string) string { return `data: {"type":` + rest + "}\n\n" }

func openAI(delta string) string {
	return `data: {"choices":[{"index":0,"delta":{` + delta + `}}]}` + "\n\n"
}

// TestAModelThatSendsWithoutEnd: the call ends as an error that names the bound, and the run never takes more memory
// than it may, with all that stands between the server and the log.
func TestAModelThatSendsWithoutEnd(t *testing.T) {
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				out := bufio.NewWriterSize(w, 64<<10)
				_, err := out.WriteString(flood.head)
				for i := 1; err == nil && r.Context().Err() == nil && (flood.times == 0 || i < flood.times); i++ {
					_, err = out.WriteString(strings.ReplaceAll(flood.again, "%d", strconv.Itoa(i)))
				}
				_, _ = out.WriteString("{}]}}]}\n\n")
				_ = out.Flush() // a client that has gone
			}))
			defer server.Close()
			var m model.ChatModel = openai.New(openai.Config{BaseURL: server.URL, Model: "m", Dialect: "openrouter"})
			if flood.wire == "anthropic" {
				m = anthropic.New(anthropic.Config{BaseURL: server.URL, Model: "m"})
			}
			out, took := memoryOf(t, m)
			t.Logf("%d MiB", took>>20)
			if out.Run.Status != event.StatusError || !strings.Contains(out.Run.Error, flood.want) {
				t.Errorf("the run ended as %s: %.300s", out.Run.Status, out.Run.Error)
			}
			if took > mostMemory {
				t.Errorf("the run took %d MiB", took>>20)
			}
		})
	}
}

// TestTheLargestAnswers stay within the memory of a run, too, with their way into the log, where they are told from the
// first piece to the last.
func TestTheLargestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		piece  message.Chunk
		pieces int
	}{
		"in one piece":       {message.Chunk{Text: strings.Repeat("x", model.MaxAnswer-1000)}, 1},
		"in the smallest":    {message.Chunk{Text: "x"}, model.MaxPieces - 2},
		"reasoning in words": {message.Chunk{Reasoning: strings.Repeat("word ", 4)}, model.MaxAnswer / 20},
		"arguments of one call": {message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "c", Name: "a", Args: `"` +
			strings.Repeat("x", model.MaxArguments-2) + `"`}}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			out, took := memoryOf(t,
				fakeModel(func(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
					return func(yield func(message.Chunk, error) bool) {
						for i := 0; i < c.pieces && len(req.Messages) == 1; i++ {
							if !yield(c.piece, nil) {
								return
							}
						}
						yield(message.Chunk{FinishReason: "stop"}, nil)
					}
				}))
			t.Logf("%d MiB", took>>20)
			if out.Run.Status != event.StatusSuccess {
				t.Errorf("the run ended as %s: %.300s", out.Run.Status, out.Run.Error)
			}
			if took > mostMemory {
				t.Errorf("the run took %d MiB", took>>20)
			}
		})
	}
}

// memoryOf executes a run with the model, and measures how far the heap grows meanwhile, what is not collected yet
// included.
func memoryOf(t *testing.T, m model.ChatModel) (runs.Outcome, uint64) {
	t.Helper()
	s := newSite(t)
	a, err := agent.New(agent.Config{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	hub := follow.New(follow.Config{Store: s.store})
	defer hub.Close()
	manager := runs.NewManager(runs.Config{Store: s.store, Owner: "test",
		Feed: func(run store.Run) runs.Feed { return hub.Own(run) },
		Build: func(context.Context, runs.Job) (runs.Built, error) {
			return runs.Built{Agent: a, Close: func() error { return nil }}, nil
		}})
	run, err := manager.For(user()).Admit(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	before := heap()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		var top uint64
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				top = max(top, heap())
			case <-done:
				most <- top
				return
			}
		}
	}()
	out, err := manager.Execute(t.Context(), run, nil)
	close(done)
	top := <-most
	if err != nil {
		t.Fatal(err)
	}
	return out, max(top, before) - before
}

// heap is the size of all objects, also those that are to be collected.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
