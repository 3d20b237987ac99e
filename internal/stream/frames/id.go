package frames

import (
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/event"
)

// FrameID names a frame: the event that it was made from, and which of the event's frames it is. The last one has the
// event's own id "<attempt>-<n>", which says that all of the event was seen; those before it have "<attempt>-<n>.<k>".
// The zero value is the place before the first frame.
type FrameID struct {
	Event event.ID
	// K counts the frames of the event from 1; 0 means the last one.
	K int
}

// maxAttempt tells our ids from those of servers that begin theirs with a time in milliseconds.
const maxAttempt = 1_000_000

// ParseFrameID reads what [FrameID.String] wrote. Anything else, such as "-1" or the id of another server, means the
// beginning: the zero value and false.
func ParseFrameID(s string) (FrameID, bool) {
	name, part, parts := strings.Cut(s, ".")
	id, err := event.ParseID(name)
	if err != nil || id.Attempt < 1 || id.Attempt > maxAttempt || id.N < 1 {
		return FrameID{}, false
	}
	if !parts {
		return FrameID{Event: id}, true
	}
	k, err := strconv.ParseInt(part, 10, 32)
	if err != nil || k < 1 || strconv.FormatInt(k, 10) != part {
		return FrameID{}, false
	}
	return FrameID{Event: id, K: int(k)}, true
}

// String returns "<attempt>-<n>" or "<attempt>-<n>.<k>".
func (id FrameID) String() string {
	b := make([]byte, 0, 32)
	b = strconv.AppendInt(b, int64(id.Event.Attempt), 10)
	b = strconv.AppendInt(append(b, '-'), id.Event.N, 10)
	if id.K > 0 {
		b = strconv.AppendInt(append(b, '.'), int64(id.K), 10)
	}
	return string(b)
}

// seen reports how many of the frames of an event a reader at id has seen; all is more than any event has.
func (id FrameID) seen(ev event.ID) (n int, all bool) {
	switch c := ev.Compare(id.Event); {
	case c > 0:
		return 0, false
	case c < 0 || id.K == 0:
		return 0, true
	}
	return id.K, false
}
