package sandbox

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

//go:embed gone.md
var goneText string

// BeforeModel implements [agent.BeforeModelHook]: it tells the model once which background processes are gone, because
// their sandbox died, was closed while the thread was idle, or belonged to a process that ended. Which sandbox a thread
// has now does not matter.
func (m *Middleware) BeforeModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	space, ok := m.cfg.Space.(sandbox.Resident)
	list := threadstate.Background.Get(s)
	if !ok || len(list) == 0 {
		return agent.Command{}, nil
	}
	var alive, gone []threadstate.BackgroundProcesses
	for _, b := range list {
		if space.Alive(b.Instance) {
			alive = append(alive, b)
		} else {
			gone = append(gone, b)
		}
	}
	if len(gone) == 0 {
		return agent.Command{}, nil
	}
	update := agent.Messages.Append(goneMessage(rt.RunID, gone))
	return agent.Command{Update: update.With(threadstate.Background.Overwrite(alive))}, nil
}

// goneMessage is the same for the same processes, whenever it is made.
func goneMessage(runID string, gone []threadstate.BackgroundProcesses) message.Message {
	lines := make([]string, len(gone))
	for i, b := range gone {
		lines[i] = fmt.Sprintf("- %d of: %s", b.Count, b.Command)
		if b.Log != "" {
			lines[i] += "\n  printed to " + b.Log
		}
	}
	text := strings.Replace(strings.TrimSpace(goneText), "{{LIST}}", strings.Join(lines, "\n"), 1)
	sum := sha256.Sum256([]byte(runID + "\x00" + gone[0].Instance + "\x00" + text))
	msg := message.New(message.Human, text)
	msg.Kwargs = message.Fields{message.KeyHidden: json.RawMessage("true")}
	msg.ID = conversation.IDFor(msg, "background-gone:"+hex.EncodeToString(sum[:12]))
	return msg
}
