package frames

import (
	"fmt"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// maxPending bounds the updates that wait to be applied.
const maxPending = 256

// scope is what a projector knows of the lead agent, or of a sub-agent: its state after the events so far, and what the
// step under way has shown already.
//
// What it remembers depends on the events alone, not on what was projected of them: else a reader who comes back would
// get other frames than one who stayed.
type scope struct {
	suffix string // of the names of its frames
	path   string // before the namespace of its tasks

	schema state.Schema
	loaded bool
	load   func() (store.Checkpoint, error) // nil when there is nothing to load
	base   store.Checkpoint
	now    state.State
	waits  []update        // updates that are not applied to now yet
	ids    map[string]bool // of the messages in now; nil when not known
	clean  map[string]*cleaner
	before int    // size of the last values
	whole  []byte // the values of now; nil when not encoded

	done   int    // checkpoints that the run has made
	parent string // the last of them; empty at first
	owed   bool   // updates that no values frame has shown yet
	input  bool   // the next checkpoint holds the run's input

	stream *stream // the message being streamed

	told event.ID // how far a run below was read in its own log

	from   source // of the metadata that was made last
	beside []byte // that metadata; nil at first

	// Of the step under way:
	early   []update        // results of tools that are not looked at yet
	sent    map[string]bool // messages of results that were looked at
	started map[string]bool // tool calls whose beginning was shown
	asked   [][]byte        // the interrupts
}

// origin loads what the run began on.
func (s *scope) origin() error {
	if s.loaded {
		return nil
	}
	if s.load != nil {
		base, err := s.load()
		if err != nil {
			return fmt.Errorf("load what the run began on: %w", err)
		}
		s.base = base
	}
	s.now, s.loaded = s.base.State, true
	if now, ok := s.now.ReadBy(s.schema); ok { // an empty state knows no channels
		s.now = now
	}
	s.base.State, s.load = state.State{}, nil
	return nil
}

// later remembers an update without looking at it.
func (s *scope) later(u update) error {
	s.waits = append(s.waits, u)
	s.ids, s.whole = nil, nil
	if len(s.waits) < maxPending {
		return nil
	}
	return s.settle()
}

// settle brings the state up to date.
func (s *scope) settle() error {
	if err := s.origin(); err != nil || len(s.waits) == 0 {
		return err
	}
	now, err := apply(s.now, s.waits...)
	if err != nil {
		return err
	}
	s.now, s.waits = now, nil
	return nil
}

// step is the step under way, counted along the thread's checkpoints.
func (s *scope) step() int { return s.base.Step + s.done + 1 }

// messageIDs are the ids of the messages in the settled state.
func (s *scope) messageIDs() map[string]bool {
	if s.ids == nil {
		list := agent.Messages.Get(s.now)
		s.ids = make(map[string]bool, len(list))
		for _, m := range list {
			s.ids[m.ID] = true
		}
	}
	return s.ids
}

// shown are the messages that results of tools have brought before their step is committed.
func (s *scope) shown() map[string]bool {
	for _, u := range s.early {
		for _, m := range brought(s.schema, u, nil) {
			s.show(m.ID)
		}
	}
	s.early = nil
	return s.sent
}

func (s *scope) show(id string) {
	if s.sent == nil {
		s.sent = make(map[string]bool)
	}
	s.sent[id] = true
}

// turn goes on behind a state event.
func (s *scope) turn(d *event.State, node string) {
	s.owed = late(d, node)
	s.input = s.input || node == agent.NodeInput
	if !d.Last {
		return
	}
	s.done++
	s.parent, s.input = d.Checkpoint, false
	s.early, s.sent, s.started = nil, nil, nil
}

// late reports whether the values after an update wait for those of the updates that follow it: the results of tools
// that ran side by side are shown together.
func late(d *event.State, node string) bool {
	return node == agent.NodeTools && !d.Last && d.Checkpoint != ""
}

// finished forgets the stream of a message that is in the state.
func (s *scope) finished(id string) {
	if s.stream != nil && s.stream.id == id {
		s.stream = nil
	}
}
