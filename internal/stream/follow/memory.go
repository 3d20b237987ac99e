package follow

import (
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/pudu-ai/pudu/event"
)

// keepAlways is how many events stay in memory however large they are, within the bound of all, so that who is attached
// sees each of them there.
const keepAlways = 16

// memory holds the last events of one attempt of a run. An event is settled if the log can give it, or nothing can: all
// but the chunks of messages that are not finished, and what comes after the first of these.
type memory struct {
	cfg     *Config
	attempt int
	floor   event.ID         // every event after it, up to last, is here
	last    int64            // number of the last event
	open    map[string]int64 // messages being streamed: the number of the first chunk
	first   int64            // the least of open; 0 if there is none

	events       []entry
	bytes        int
	settled      int // the events at the front that are settled
	settledBytes int
}

// floorOf is the position behind which an attempt has all its events after a number. Before the first attempt there are
// none.
func floorOf(attempt int, after int64) event.ID {
	if attempt == 1 && after == 0 {
		return event.ID{}
	}
	return event.ID{Attempt: attempt, N: after}
}

// reset begins anew behind a position, at which the messages named were open.
func (m *memory) reset(floor event.ID, attempt int, open map[string]int64) {
	*m = memory{cfg: m.cfg, attempt: attempt, floor: floor, open: maps.Clone(open)}
	if floor.Attempt == attempt {
		m.last = floor.N
	}
	m.findFirst()
}

// lastID is the id of the last event.
func (m *memory) lastID() event.ID { return event.ID{Attempt: m.attempt, N: m.last} }

// settledID is the position up to which everything is settled.
func (m *memory) settledID() event.ID {
	if m.first > 0 {
		return event.ID{Attempt: m.attempt, N: m.first - 1}
	}
	return m.lastID()
}

// floorN is the floor as a number of the attempt.
func (m *memory) floorN() int64 {
	if m.floor.Attempt < m.attempt {
		return 0
	}
	return m.floor.N
}

// add takes the next event. One that is known already, or of another attempt, is left out.
func (m *memory) add(ev event.Event) {
	if ev.ID.Attempt != m.attempt || ev.ID.N <= m.last {
		return
	}
	m.last = ev.ID.N
	m.events = append(m.events, entry{n: ev.ID.N, at: ev.Time, data: ev.Data, place: m.placeOf(ev)})
	m.bytes += weight(ev.Data)
	m.track(ev)
	m.settle()
	m.trim()
}

// placeOf returns where the event happened, shared with the event before if it is the same.
func (m *memory) placeOf(ev event.Event) *place {
	if n := len(m.events); n > 0 {
		if p := m.events[n-1].place; p.node == ev.Node && slices.Equal(p.namespace, ev.Namespace) {
			return p
		}
	}
	return &place{node: ev.Node, namespace: ev.Namespace}
}

// track notes which messages are open.
func (m *memory) track(ev event.Event) {
	switch d := ev.Data.(type) {
	case event.Chunk:
		if len(ev.Namespace) > 0 { // of a run below: the log has it nowhere
			return
		}
		if _, ok := m.open[d.MessageID]; ok {
			return
		}
		if m.open == nil {
			m.open = make(map[string]int64)
		}
		m.open[d.MessageID] = ev.ID.N
		if m.first == 0 {
			m.first = ev.ID.N
		}
	case event.Message:
		m.finish(d.MessageID)
	case event.Discard:
		m.finish(d.MessageID)
	case event.Run:
		if ends(d) {
			m.settleAll()
		}
	}
}

// ends reports whether the event is the last of its run.
func ends(d event.Run) bool {
	return d.Status != event.StatusRunning && d.Status != event.StatusPending
}

func (m *memory) finish(messageID string) {
	delete(m.open, messageID)
	m.findFirst()
}

func (m *memory) findFirst() {
	m.first = 0
	for _, n := range m.open {
		if m.first == 0 || n < m.first {
			m.first = n
		}
	}
}

// settleAll says that no open message will be finished: the run is at its end.
func (m *memory) settleAll() {
	clear(m.open)
	m.first = 0
	m.settle()
}

func (m *memory) settle() {
	for ; m.settled < len(m.events); m.settled++ {
		e := &m.events[m.settled]
		if m.first > 0 && e.n >= m.first {
			return
		}
		m.settledBytes += weight(e.data)
	}
}

// trim drops the oldest events beyond the bounds.
func (m *memory) trim() {
	for n := len(m.events); n > 0; n = len(m.events) {
		longTail := m.settled > m.cfg.TailEvents || m.settled > 0 && m.settledBytes > m.cfg.TailBytes && n > keepAlways
		if !longTail && n <= m.cfg.MaxEvents && m.bytes <= m.cfg.MaxBytes {
			return
		}
		e := &m.events[0]
		size := weight(e.data)
		m.bytes -= size
		if m.settled > 0 {
			m.settled--
			m.settledBytes -= size
		}
		m.floor = event.ID{Attempt: m.attempt, N: e.n}
		*e, m.events = entry{}, m.events[1:] // what it held is free at once
	}
}

// after returns at most limit events behind a position, which is not before the floor.
func (m *memory) after(pos event.ID, limit int) []event.Event {
	if pos.Compare(m.lastID()) >= 0 {
		return nil
	}
	from := 0
	if pos.Attempt == m.attempt {
		from = sort.Search(len(m.events), func(i int) bool { return m.events[i].n > pos.N })
	}
	out := make([]event.Event, min(len(m.events)-from, limit))
	for i := range out {
		e := &m.events[from+i]
		out[i] = event.Event{ID: event.ID{Attempt: m.attempt, N: e.n}, Time: e.at, Node: e.place.node,
			Namespace: e.place.namespace, Data: e.data}
	}
	return out
}

// entry is an event of a memory. Its data is shared with who showed it.
type entry struct {
	n     int64
	at    time.Time
	data  event.Data
	place *place
}

type place struct {
	node      string
	namespace []string
}

// weight is about how much memory an event takes.
func weight(d event.Data) int {
	const base = 160
	switch d := d.(type) {
	case event.Chunk:
		n := base + len(d.Text) + len(d.Reasoning)
		for _, c := range d.ToolCalls {
			n += 64 + len(c.ID) + len(c.Name) + len(c.Args)
		}
		return n
	case event.State:
		if d.Update != nil {
			// the values take about as much as their bytes, and mostly are in the run's state, too
			return base + 2*len(d.Writes)
		}
		return base + len(d.Writes)
	case event.Message:
		return base + 64*len(d.Chunks)
	case event.ToolStart:
		return base + len(d.Args)
	case event.ToolEnd:
		return base + len(d.Writes)
	case event.Interrupt:
		return base + len(d.Value)
	case event.Custom:
		return base + len(d.Value)
	case event.Progress:
		return base + len(d.Text)
	case event.Unknown:
		return base + len(d.Raw)
	}
	return base
}
