package crash

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// call is one tool call of the script. arg is what it works with: the number of the try of a flaky call, the number of
// lines of a bash call.
type call struct {
	tool string
	arg  int
}

// script are the turns of the model: the calls that each asks for. After the last comes the answer. Every tool comes
// alone and beside others.
func script() [][]call {
	note, slow, put, look := call{tool: "note"}, call{tool: "slow"}, call{tool: "put"}, call{tool: "look"}
	fails, breaks := call{tool: "fails"}, call{tool: "breaks"}
	flaky := func(try int) call { return call{"flaky", try} }
	bash := func(lines int) call { return call{"bash", lines} }
	return [][]call{
		{note}, {slow}, {look, put}, {bash(3)}, {note, note, note}, {fails}, {flaky(1)}, {flaky(2)}, {slow, note, look},
		{put}, {bash(2), note}, {breaks}, {slow, slow, put, look}, {look}, {note, fails}, {bash(5)}, {put, put, put},
		{slow}, {note, breaks, look}, {note}, {flaky(1), slow}, {flaky(2), note}, {bash(2), bash(3)},
		{look, look, look, look}, {slow, put}, {fails, fails}, {note, slow, note, put}, {bash(3)}, {look, note},
	}
}

// callID names a call of a turn; it is the same whenever the model is asked.
func callID(turn, i int) string { return fmt.Sprintf("c%d-%d", turn, i) }

// robot is the model: it says the turn that follows as many turns as it has said, whatever came of their calls.
type robot struct {
	turns  [][]call
	prefix string // of the ids of its calls
	stuck  bool   // it says nothing after its first turn
}

var _ model.ChatModel = robot{}

// Name is "crash/robot".
func (robot) Name() string { return "crash/robot" }

// Stream implements [model.ChatModel]. It takes about two milliseconds.
func (r robot) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	turn := 0
	for _, m := range req.Messages {
		if m.Role == message.AI {
			turn++
		}
	}
	return func(yield func(message.Chunk, error) bool) {
		say(markModel)
		defer say(markAnswered)
		if r.stuck && turn > 0 {
			<-ctx.Done()
		}
		for _, word := range []string{"This ", "is turn ", strconv.Itoa(turn), "."} {
			time.Sleep(400 * time.Microsecond)
			if err := ctx.Err(); err != nil {
				yield(message.Chunk{}, err)
				return
			}
			if !yield(message.Chunk{Text: word}, nil) {
				return
			}
		}
		yield(r.end(turn), nil)
	}
}

// end is the last chunk of a turn.
func (r robot) end(turn int) message.Chunk {
	c := message.Chunk{FinishReason: "stop", Usage: &message.Usage{InputTokens: 100, OutputTokens: 10,
		TotalTokens: 110}}
	if turn >= len(r.turns) {
		return c
	}
	c.FinishReason = "tool_calls"
	for i, asked := range r.turns[turn] {
		c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{
			Index: i, ID: r.prefix + callID(turn, i), Name: asked.tool, Args: asked.args(r.prefix + callID(turn, i)),
		})
	}
	return c
}

// args are the arguments of the call, as the model writes them.
func (c call) args(id string) string {
	switch c.tool {
	case "flaky":
		return fmt.Sprintf(`{"try":%d}`, c.arg)
	case "bash":
		return fmt.Sprintf(`{"description":"Write lines.","command":%q}`, bashScript(id, c.arg))
	}
	return "{}"
}

// bashScript appends lines to the effects in the workspace, and takes a moment for each.
func bashScript(id string, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "echo %s bash %d >> %s; sleep 0.004; echo line %d; ", id, i, effectsName, i)
	}
	return b.String()
}
