package follow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/event"
)

// header begins what is published of a run: one line of JSON, and behind it the events as a JSON array, if there are
// any. Whatever else is published there only says that it is worth while to look at the store.
type header struct {
	Attempt int    `json:"attempt"`
	From    string `json:"from"` // the owner
	// Has is the number behind which the owner has every event in memory and can publish it again.
	Has int64 `json:"has"`
	// After is the number of the event before the first one in the message.
	After int64 `json:"after"`
	// Open are the messages that are being streamed: the numbers of their first chunks.
	Open map[string]int64 `json:"open,omitempty"`
	// Begins says that the owner has the attempt from now on: who asked before was not heard.
	Begins bool `json:"begins,omitempty"`
	// Over says that the attempt has ended.
	Over bool `json:"over,omitempty"`
}

// begin is the header's line.
func (h header) begin() ([]byte, error) {
	b, err := json.Marshal(h)
	return append(b, '\n'), err
}

// cutHeader reads the header and returns the rest.
func cutHeader(data []byte) (h header, events []byte, err error) {
	line, events, _ := bytes.Cut(data, []byte{'\n'})
	if err := json.Unmarshal(line, &h); err != nil {
		return h, nil, fmt.Errorf("decode published events: %w", err)
	}
	if h.Attempt < 1 || h.After < 0 || h.Has < 0 {
		return h, nil, errors.New("decode published events: the header names no attempt, or a negative number")
	}
	return h, events, nil
}

func decodeEvents(raw []byte) (evs []event.Event, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &evs)
	}
	return evs, err
}

// ask asks an owner to publish the events of a run for a while, from those on that are not in the log.
type ask struct {
	Run     string `json:"run"`
	Attempt int    `json:"attempt"`
	// Again says that what comes after the number After is to be published again.
	Again bool  `json:"again,omitempty"`
	After int64 `json:"after,omitempty"`
}

// askSubject is where a process is asked. Its name may have bytes that a subject has not.
func askSubject(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return "ask." + hex.EncodeToString(sum[:16])
}
