package crash

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// mark is a line that a worker prints the moment something happens to it: "<nanoseconds> <what> <words>". A line is one
// write, so that a kill leaves whole lines.
type mark struct {
	at    time.Time
	what  string
	words []string
}

// What happens to a worker.
const (
	markStart    = "start"    // the process has begun
	markOpen     = "open"     // the store is open
	markAttempt  = "attempt"  // <attempt> <stalled>: the run is the worker's
	markBegin    = "begin"    // <call> <tool>: a tool begins
	markEnd      = "end"      // <call>: a tool has ended
	markModel    = "model"    // a model call begins
	markAnswered = "answered" // a model call has ended
	markCommit   = "commit"   // <step or note> <item>...: a write to the store is durable; a step gets the run further
	markEvent    = "event"    // <id> <kind> <sum>: a reader is shown a durable event
	markMessage  = "message"  // <id> <sum>: a reader is shown a committed message
	markFailed   = "failed"   // <error>: a write to the store has failed
	markEnded    = "ended"    // <status> <error>: the run is at its end
)

// The two kinds of [markCommit].
const (
	commitStep = "step"
	commitNote = "note"
)

// say prints a mark.
func say(what string, words ...string) {
	line := strconv.FormatInt(time.Now().UnixNano(), 10) + " " + what
	for _, w := range words {
		line += " " + w
	}
	fmt.Fprintln(os.Stdout, strings.ReplaceAll(line, "\n", " "))
}

// parseMark reads what say has printed.
func parseMark(line string) (mark, error) {
	f := strings.Fields(line)
	if len(f) < 2 {
		return mark{}, fmt.Errorf("the worker printed %q, which is no mark", line)
	}
	ns, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return mark{}, fmt.Errorf("the worker printed %q, which is no mark: %w", line, err)
	}
	return mark{at: time.Unix(0, ns), what: f[1], words: f[2:]}, nil
}

// word returns a word of the mark, "" if there is none.
func (m mark) word(i int) string {
	if i < len(m.words) {
		return m.words[i]
	}
	return ""
}
