package follow

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// pageSize is how many events are read from the log at once, and batchSize how many are yielded.
const (
	pageSize  = 256
	batchSize = 256
)

// theEnd is behind every event.
var theEnd = event.ID{Attempt: math.MaxInt, N: math.MaxInt64}

// pages reads a run's log from a position on and puts the chunks of finished messages back where they were. A message
// comes behind its chunks, and other events may stand between: these are held until it has come. Their Open tells.
type pages struct {
	log   store.Log
	runID string
	pos   event.ID // everything up to here was returned
	after event.ID // where the next page begins
	held  []event.Event
	// settled is up to where nothing is missing among the held.
	settled event.ID
	done    bool // the log has no more
}

// next reads a page and returns what is complete by now. At the log's end everything up to through is: what is missing
// there will never come.
func (p *pages) next(ctx context.Context, through event.ID) ([]event.Event, error) {
	evs, err := p.log.Events(ctx, p.runID, p.after, pageSize)
	if err != nil {
		return nil, fmt.Errorf("follow run: %w", err)
	}
	p.done = len(evs) < pageSize
	for _, ev := range evs {
		p.add(ev)
	}
	slices.SortStableFunc(p.held, func(a, b event.Event) int { return a.ID.Compare(b.ID) })
	upTo := p.settled
	if p.done && through.Compare(upTo) > 0 {
		upTo = through
	}
	n := 0
	for n < len(p.held) && p.held[n].ID.Compare(upTo) <= 0 {
		n++
	}
	ready := p.held[:n:n]
	p.held = p.held[n:]
	if n > 0 {
		p.pos = ready[n-1].ID
	}
	return ready, nil
}

func (p *pages) add(ev event.Event) {
	p.after, p.settled = ev.ID, ev.ID
	if ev.Open > 0 {
		p.settled.N = ev.Open - 1
		ev.Open = 0
	}
	if m, ok := ev.Data.(event.Message); ok && m.First > 0 {
		ev.Data = p.rebuild(ev, m)
	}
	p.held = append(p.held, ev)
}

// rebuild adds the chunks of a message that are behind the position. The message loses its boundaries if they cannot be
// used, and its First if there is nothing to add: then nothing is missing.
func (p *pages) rebuild(ev event.Event, m event.Message) event.Message {
	numbers := m.Numbers()
	if n := len(numbers); n > 0 && !p.behind(ev, numbers[n-1]) {
		return m
	}
	chunks, found := p.cut(ev, m)
	if !found && len(numbers) == 0 { // the reader is behind the message's update already, which is behind its chunks
		m.First = 0
		return m
	}
	if chunks == nil {
		m.Chunks = nil
		return m
	}
	for i, c := range chunks {
		if p.behind(ev, numbers[i]) {
			id := event.ID{Attempt: ev.ID.Attempt, N: numbers[i]}
			p.held = append(p.held, event.Event{ID: id, Time: ev.Time, Node: ev.Node, Namespace: ev.Namespace, Data: c})
		}
	}
	return m
}

// cut returns the chunks of a message from the held update that brought it into the state: the first one that names it,
// hooks may have changed it since. found says that there is one.
func (p *pages) cut(ev event.Event, m event.Message) (chunks []event.Chunk, found bool) {
	for _, up := range p.held {
		st, ok := up.Data.(event.State)
		if !ok || up.Node != ev.Node || !bytes.Contains(st.Writes, []byte(m.MessageID)) {
			continue
		}
		found = true
		if chunks, ok = agent.Chunks(m, st.Writes); ok {
			return chunks, true
		}
	}
	return nil, found
}

// behind reports whether a number of the event's attempt is behind the position.
func (p *pages) behind(ev event.Event, n int64) bool {
	return event.ID{Attempt: ev.ID.Attempt, N: n}.Compare(p.pos) > 0
}
