package pudu_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// parrot calls the tool once and then repeats its result.
type parrot struct{}

func (parrot) Name() string { return "fake/parrot" }
func (parrot) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role == message.Human {
			args, _ := json.Marshal(map[string]string{"word": last.Text()})
			yield(message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "c", Name: "shout", Args: string(args)}}, FinishReason: "tool_calls"}, nil)
			return
		}
		for _, w := range strings.SplitAfter(last.Text(), " ") {
			if !yield(message.Chunk{Text: w}, nil) {
				return
			}
		}
		yield(message.Chunk{FinishReason: "stop"}, nil)
	}
}

func newAgent(t *testing.T) *pudu.Agent {
	t.Helper()
	shout := tool.MustNew(tool.Spec{Name: "shout", Description: "Says it loud."},
		func(_ context.Context, _ *tool.Call, in struct {
			Word string `json:"word"`
		}) (*tool.Result, error) {
			return tool.Text(strings.ToUpper(in.Word) + " ! !"), nil
		})
	a, err := pudu.New(pudu.Config{Model: parrot{}, Tools: []tool.Tool{shout}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestARunIsRangedOverAndTheThreadGoesOn(t *testing.T) {
	thread := newAgent(t).NewThread()
	for turn, word := range []string{"hey", "you"} {
		var text string
		var kinds []event.Kind
		for ev, err := range thread.Run(t.Context(), word) {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, ev.Data.Kind())
			if c, ok := ev.Data.(event.Chunk); ok {
				text += c.Text
			}
		}
		if want := strings.ToUpper(word) + " ! !"; text != want {
			t.Errorf("turn %d streamed %q, want %q (events %v)", turn, text, want, kinds)
		}
		if got := len(thread.Messages()); got != 4*(turn+1) {
			t.Errorf("turn %d: the thread has %d messages", turn, got)
		}
	}
}

func TestLeavingEarlyCancelsTheRunAndKeepsWhatWasDone(t *testing.T) {
	thread := newAgent(t).NewThread()
	for ev, err := range thread.Run(t.Context(), "hey") {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.Data.(event.Chunk); ok && len(thread.Messages()) >= 3 {
			break
		}
	}
	msgs := thread.Messages()
	if len(msgs) < 3 || msgs[2].Text() != "HEY ! !" {
		t.Errorf("the tool's result is lost: %d messages", len(msgs))
	}
	for _, err := range thread.Run(t.Context(), "again") {
		if err != nil {
			t.Errorf("the thread cannot go on: %v", err)
		}
	}
}

func TestAThreadRunsOneThingAtATime(t *testing.T) {
	thread := newAgent(t).NewThread()
	for range thread.Run(t.Context(), "hey") {
		for _, err := range thread.Run(t.Context(), "you") {
			if !errors.Is(err, pudu.ErrBusy) {
				t.Errorf("got %v", err)
			}
		}
		break
	}
}

func TestTheExampleRuns(t *testing.T) {
	dir := t.TempDir()
	script := "dialogues:\n  - turns:\n      - tool_calls: [{name: weather, args: {City: Oslo}}]\n      - text: 'It says: {{.LastToolResult}}'\n"
	config := "models:\n  - {name: m, provider: scripted, model: m, script: " + filepath.Join(dir, "s.yaml") + "}\n"
	for name, text := range map[string]string{"s.yaml": script, "config.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "./examples/embed")
	cmd.Env = append(os.Environ(), "PUDU_CONFIG="+filepath.Join(dir, "config.yaml"))
	var logged strings.Builder
	cmd.Stderr = &logged
	out, err := cmd.Output()
	if err != nil || string(out) != "It says: Sunny in Oslo" || !strings.Contains(logged.String(), `weather {"City":"Oslo"}`) {
		t.Errorf("got %q, %v\n%s", out, err, logged.String())
	}
}
