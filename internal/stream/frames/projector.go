package frames

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// Config says which run is projected, and for whom.
type Config struct {
	RunID, ThreadID string
	// Modes are the reader's; none means [Values].
	Modes []Mode
	// Subgraphs shows what happens inside sub-agents too.
	Subgraphs bool
	// Schema decodes updates and tells which channels are private.
	Schema state.Schema
	// Base loads the checkpoint, with its state read by Schema, that the run began on; the zero checkpoint if there was
	// none. It is called once at most, when the reader's modes first need it. nil means a thread that was empty.
	Base func() (store.Checkpoint, error)
	// Child reads what a run below this one has in its log behind an id, up to another. It is called when Subgraphs are
	// asked for. nil means that there is nothing.
	Child func(runID string, after, upTo event.ID) ([]event.Event, error)
	// Metadata is a JSON object, or empty: members of the metadata beside every message, such as the run's metadata,
	// "assistant_id" and "graph_id". The projector's own members win over members of the same name.
	Metadata json.RawMessage
	// ModelMetadata is the same for messages of the model alone: "ls_provider", "ls_model_name".
	ModelMetadata json.RawMessage
}

// Projector makes the frames of one run for one reader. It is not safe for concurrent use. Its memory is bounded by the
// size of the run's state and of the message that is being streamed.
type Projector struct {
	cfg  Config
	want modeSet
	meta metadata
	err  error // nothing can be projected, any more

	at    FrameID // what the reader has seen
	quiet bool    // all of the present event was seen
	out   []Frame

	begun bool      // the metadata frame was made
	ended bool      // the run's last frame was made
	open  bool      // the first thing that the run did was seen
	kept  event.ID  // the last durable event
	clock time.Time // when that happened

	root *scope
	subs map[string]*scope // by suffix
}

// New makes a projector. Metadata that is no JSON object is reported by the first Project.
func New(cfg Config) *Projector {
	p := &Projector{cfg: cfg, want: setOf(cfg.Modes)}
	if len(cfg.Modes) == 0 {
		p.want = inValues
	}
	p.meta, p.err = newMetadata(&cfg)
	p.root = &scope{schema: cfg.Schema, load: cfg.Base}
	return p
}

// SkipTo says that the reader has seen everything up to the frame with this id, and that frame. It comes before the
// first Project.
func (p *Projector) SkipTo(id FrameID) { p.at = id }

// Project returns the frames of the run's next event. Events come in the order of their ids, the run's first one first.
// The slice is valid until the next call, the data of the frames for ever. After an error the projector is of no more
// use.
func (p *Projector) Project(ev event.Event) ([]Frame, error) {
	if p.err != nil {
		return nil, p.err
	}
	if ev.Data == nil {
		return nil, nil
	}
	seen, all := p.at.seen(ev.ID)
	p.quiet, p.out = all, p.out[:0]
	if err := p.project(&ev); err != nil {
		p.err = fmt.Errorf("project event %s of run %s: %w", ev.ID, p.cfg.RunID, err)
		return nil, p.err
	}
	if !ev.Data.Kind().Live() {
		p.kept, p.clock = ev.ID, ev.Time
	}
	return p.number(ev.ID, seen), nil
}

// Ended reports whether the run's end was projected: no frames come after it.
func (p *Projector) Ended() bool { return p.ended }

func (p *Projector) project(ev *event.Event) error {
	s := p.scope(ev)
	if s == nil {
		return nil
	}
	if err := p.opening(s, ev); err != nil {
		return err
	}
	return p.within(s, ev)
}

// within projects an event of the lead agent or of a sub-agent.
func (p *Projector) within(s *scope, ev *event.Event) error {
	switch d := ev.Data.(type) {
	case event.Child:
		return p.child(s, &d)
	case event.Chunk:
		return p.chunk(s, &d)
	case event.State:
		return p.state(s, ev, &d)
	case event.Message:
		s.finished(d.MessageID)
	case event.Discard:
		return p.discard(s, &d)
	case event.ToolStart:
		return p.toolStart(s, ev, &d)
	case event.ToolEnd:
		return p.toolEnd(s, &d)
	case event.Interrupt:
		return p.interrupt(s, ev, &d)
	case event.Custom:
		return p.custom(s, d.Value)
	case event.Run:
		return p.run(ev, &d)
	}
	return nil
}

// child projects what a run below has committed since the last time, as that of the sub-agent that it is.
func (p *Projector) child(s *scope, d *event.Child) error {
	if p.cfg.Child == nil || s == p.root {
		return nil
	}
	evs, err := p.cfg.Child(d.RunID, s.told, d.At())
	if err != nil {
		return fmt.Errorf("read run %s: %w", d.RunID, err)
	}
	s.told = d.At()
	for i := range evs {
		if evs[i].Data.Kind() == event.KindRun { // begins and ends no stream
			continue
		}
		if err := p.within(s, &evs[i]); err != nil {
			return err
		}
	}
	return nil
}

// scope is where the event belongs: the lead agent or a sub-agent; nil if the reader does not want to see it.
func (p *Projector) scope(ev *event.Event) *scope {
	if len(ev.Namespace) == 0 {
		return p.root
	}
	if !p.cfg.Subgraphs {
		if ev.Data.Kind() == event.KindCustom {
			return p.root
		}
		return nil
	}
	suffix := "|" + strings.Join(ev.Namespace, "|")
	s := p.subs[suffix]
	if s == nil {
		s = &scope{schema: p.cfg.Schema, suffix: suffix, path: strings.Join(ev.Namespace, "|") + "|"}
		if p.subs == nil {
			p.subs = make(map[string]*scope)
		}
		p.subs[suffix] = s
	}
	return s
}

// wants reports whether one of the modes is to be projected now.
func (p *Projector) wants(oneOf modeSet) bool { return !p.quiet && p.want&oneOf != 0 }

// emit adds a frame of a mode.
func (p *Projector) emit(s *scope, name string, data []byte) {
	if !p.quiet {
		p.out = append(p.out, Frame{Event: name + s.suffix, Data: data})
	}
}

// number gives the frames of an event their ids and returns those that were not seen.
func (p *Projector) number(ev event.ID, seen int) []Frame {
	for i := range p.out {
		switch {
		case i < seen:
		case i == len(p.out)-1:
			p.out[i].ID = FrameID{Event: ev}.String()
		default:
			p.out[i].ID = FrameID{Event: ev, K: i + 1}.String()
		}
	}
	return p.out[min(seen, len(p.out)):]
}

func (p *Projector) custom(s *scope, value json.RawMessage) error {
	if !p.wants(inCustom) {
		return nil
	}
	data, err := oneLine(value)
	p.emit(s, string(Custom), data)
	return err
}

var errNoObject = errors.New("it is no JSON object")

// members takes a JSON object apart; empty is one without members.
func members(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if !rawjson.Valid(raw) {
		return nil, errNoObject
	}
	line, err := oneLine(raw)
	if err != nil {
		return nil, err
	}
	m, ok := rawjson.Members(line)
	if !ok {
		return nil, errNoObject
	}
	return m, nil
}
