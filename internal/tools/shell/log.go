package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// LogFolder is where the output of commands is kept.
const LogFolder = sandbox.Workspace + "/.tool-results"

// LogPattern is the pattern, as of path.Match, that the names of the files there fit.
const LogPattern = logPrefix + "*" + logSuffix

const (
	logPrefix = "bash-"
	logSuffix = ".log"
	maxLogs   = 100 // files of one call; more than one only when it is made again
)

// logName names the file for a call, without its ending: the same before and after a crash, and another one for each
// message that asks, as the ids of calls may come again.
func logName(call *tool.Call) string {
	sum := sha256.Sum256([]byte(call.RunID + "\x00" + asking(call) + "\x00" + call.ID))
	return LogFolder + "/" + logPrefix + hex.EncodeToString(sum[:6])
}

// asking returns the id of the message that made the call, "" if the state does not have it.
func asking(call *tool.Call) string {
	for _, m := range slices.Backward(agent.Messages.Get(call.State)) {
		if slices.ContainsFunc(m.ToolCalls, func(c message.ToolCall) bool { return c.ID == call.ID }) {
			return m.ID
		}
	}
	return ""
}

// numbered is the path of the nth file of a name, counted from 1.
func numbered(name string, n int) string {
	if n > 1 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return name + logSuffix
}

// newestLog opens the file that was made last for a name.
func newestLog(files *sandbox.Files, name string) (newest *sandbox.File, err error) {
	err = fs.ErrNotExist
	for n := 1; n <= maxLogs; n++ {
		h, e := files.Open(numbered(name, n))
		if e != nil {
			break
		}
		if newest != nil {
			_ = newest.Close()
		}
		newest, err = h, nil
	}
	return newest, err
}
