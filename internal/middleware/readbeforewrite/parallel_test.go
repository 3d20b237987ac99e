package readbeforewrite

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// requestOf is a request of the message to write the file.
func requestOf(t *testing.T, messageID string) *agent.ToolRequest {
	t.Helper()
	asks := message.New(message.AI, "")
	asks.ID = messageID
	s, _, err := state.State{}.Apply(agent.Messages.Append(asks))
	if err != nil {
		t.Fatal(err)
	}
	return &agent.ToolRequest{Call: tool.Call{
		ID: "c", Name: writeFile, Args: json.RawMessage(`{"path":"` + path + `"}`), State: s, ThreadID: "t",
	}}
}

// TestOfTwoParallelWritesTheSecondSeesTheFirst: both find no file when they begin, and only one of them may make it.
func TestOfTwoParallelWritesTheSecondSeesTheFirst(t *testing.T) {
	th := newThread(t, t.TempDir())
	inside, goOn := make(chan struct{}), make(chan struct{})
	first := make(chan *tool.Result, 1)
	go func() {
		res, _ := th.mw.WrapToolCall(t.Context(), requestOf(t, "one"),
			func(context.Context, *agent.ToolRequest) (*tool.Result, error) {
				close(inside)
				<-goOn
				err := th.files.WriteFile(path, []byte("first"), false)
				return tool.Text("written"), err
			})
		first <- res
	}()
	<-inside
	second := make(chan *tool.Result, 1)
	overtook := make(chan struct{}, 1)
	go func() {
		res, _ := th.mw.WrapToolCall(t.Context(), requestOf(t, "two"),
			func(context.Context, *agent.ToolRequest) (*tool.Result, error) {
				overtook <- struct{}{}
				return tool.Text("written"), nil
			})
		second <- res
	}()
	for waits := false; !waits; time.Sleep(time.Millisecond) { // between two looks at a condition
		select {
		case <-overtook:
			t.Fatal("the second write began while the first was under way")
		default:
		}
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Fatal(err)
		}
		waits = strings.Contains(stacks.String(), "keyedMutex")
	}
	close(goOn)
	if res := <-first; res.IsError {
		t.Errorf("the first write: %s", res.Text())
	}
	if res := <-second; !res.IsError || !strings.Contains(res.Text(), "blocked") || th.content() != "first" {
		t.Errorf("the second write: %s; the file holds %q", res.Text(), th.content())
	}
}
