package memory

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/message"
)

// maxMarks is how many of the last messages of a thread are known to be read: as many turns can be rolled back and none is read twice.
const maxMarks = 200

// reading is how far a thread was read.
type reading struct {
	Thread string `json:"-"`
	// Read are the ids of the last messages that were read, in their order.
	Read []string `json:"read"`
}

// write keeps it, unless the thread is gone.
func (r *reading) write(tx database.Tx, now time.Time) error {
	body, err := json.Marshal(r)
	return exec(err, tx, "read", r.Thread, instant(now), database.Plain(string(body)))
}

// unread is what of a conversation stands behind the last message that was read and is still there.
func (r *reading) unread(msgs []message.Message) []message.Message {
	known := make(map[string]bool, len(r.Read))
	for _, id := range r.Read {
		known[id] = true
	}
	for i, m := range slices.Backward(msgs) {
		if known[m.ID] {
			return msgs[i+1:]
		}
	}
	return msgs
}

// through is the reading once all of a conversation was read.
func (r *reading) through(msgs []message.Message) *reading {
	n := &reading{Thread: r.Thread}
	for _, m := range msgs[max(0, len(msgs)-maxMarks):] {
		n.Read = append(n.Read, m.ID)
	}
	return n
}
