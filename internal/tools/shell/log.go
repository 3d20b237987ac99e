package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// LogFolder is where the output of commands is kept.
const LogFolder = sandbox.Workspace + "/.tool-results"

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

// PruneLogs removes from a thread's files the logs of commands that nothing was written to since before, and says how
// many files and bytes that were. A thread without logs is fine. The thread must not be running a command.
func PruneLogs(files *sandbox.Files, before time.Time) (n int, bytes int64, err error) {
	entries, err := files.ReadDir(LogFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("list logs: %w", err)
	}
	for _, e := range entries {
		if ok, _ := path.Match(logPrefix+"*"+logSuffix, e.Name()); !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(before) {
			continue // gone, or young
		}
		if err := files.Remove(LogFolder + "/" + e.Name()); err != nil {
			return n, bytes, fmt.Errorf("remove log: %w", err)
		}
		n, bytes = n+1, bytes+info.Size()
	}
	return n, bytes, nil
}
