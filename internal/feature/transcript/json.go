package transcript

import (
	"bufio"
	"encoding/json"
	"time"
)

// version is that of the shape of the JSON; it grows when a reader of an older one could go wrong.
const version = 1

// head is what stands before the messages.
type head struct {
	Format  string     `json:"format"`
	Version int        `json:"version"`
	Thread  threadHead `json:"thread"`
	Written time.Time  `json:"exported_at"`
}

type threadHead struct {
	ID      string    `json:"thread_id"`
	Title   string    `json:"title"`
	Created time.Time `json:"created_at"`
	Changed time.Time `json:"updated_at"`
}

// entry is a message: Message is as the state of the thread has it.
type entry struct {
	RunID   string          `json:"run_id,omitempty"`
	At      time.Time       `json:"created_at"`
	Message json.RawMessage `json:"message"`
}

// object writes one JSON object, a line for each message.
type object struct {
	out *bufio.Writer
	n   int
}

func (o *object) begin(a About) error {
	raw, err := json.Marshal(head{
		"pudu.transcript", version, threadHead{a.ID, a.Title, a.Created.UTC(), a.Changed.UTC()}, a.Written.UTC(),
	})
	if err != nil {
		return err
	}
	_, err = o.out.Write(append(raw[:len(raw)-1], `,"messages":[`...))
	return err
}

func (o *object) add(m Message) error {
	raw, err := json.Marshal(entry{m.RunID, m.At.UTC(), m.Raw})
	if err != nil {
		return err
	}
	if o.n++; o.n > 1 {
		raw = append([]byte(","), raw...)
	}
	_, err = o.out.Write(append([]byte("\n"), raw...))
	return err
}

func (o *object) end() error {
	_, err := o.out.WriteString("\n]}\n")
	return err
}
