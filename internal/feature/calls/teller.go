package calls

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// maxNotice bounds what a notice tells, in bytes.
const maxNotice = 500

// teller makes a page of a timeline of a run's events.
type teller struct {
	scan

	m      *Mine
	t      Timeline
	from   event.ID
	limit  int
	frames map[string]frame
	begun  map[string]*Tooled       // that have not ended, by call
	told   map[string]bool          // runs below
	open   []int                    // steps of tools, on the page, whose results are in no checkpoint yet
	models map[string]message.Usage // what they took; nil if nobody asks
	last   Context                  // the last call that told its tokens
}

func newTeller(m *Mine, run store.Run) *teller {
	l := &teller{scan: scan{m: m, run: run}, m: m, frames: make(map[string]frame), begun: make(map[string]*Tooled),
		told: make(map[string]bool)}
	l.t = Timeline{
		ThreadID: run.ThreadID, RunID: run.ID, Status: run.Status, Error: run.Error, StopReason: run.StopReason,
		Began: run.CreatedAt, Attempts: run.Attempt, Cost: []Cost{}, Steps: []Step{},
	}
	if !run.Active() {
		l.t.Ended = run.UpdatedAt
	}
	return l
}

// tell goes through the log.
func (l *teller) tell(ctx context.Context) error {
	return l.each(ctx, func(ev *event.Event) (bool, error) { return true, l.event(ctx, ev) })
}

// event tells of an event what there is to tell.
func (l *teller) event(ctx context.Context, ev *event.Event) error {
	if r := l.call(ev); r != nil {
		return l.called(ctx, r)
	}
	s := Step{ID: ev.ID.String(), At: ev.Time}
	switch d := ev.Data.(type) {
	case event.Run:
		l.status(s, ev, d)
	case event.State:
		if ev.Node == nodeTools {
			l.settle(d.Checkpoint)
		}
		l.compacted(s, d)
	case event.ToolStart:
		s.Kind, s.Tool = StepTool, &Tooled{Name: d.Tool, CallID: d.CallID, MessageID: d.MessageID, Unfinished: true}
		l.begun[d.CallID] = s.Tool
		l.t.Tools++
		l.open = append(l.open, l.put(s))
	case event.ToolEnd:
		l.tool(s, d)
	case event.Interrupt:
		s.Kind, s.Question = StepQuestion, &Question{d.InterruptID, d.CallID}
		l.put(s)
	case event.Custom:
		l.notice(s, d.Value)
	case event.Child:
		if !l.told[d.RunID] {
			l.told[d.RunID] = true
			s.Kind, s.RunID = StepRun, d.RunID
			l.put(s)
		}
	}
	return nil
}

// put adds a step to the page, if it belongs there, and says where it stands; else -1.
func (l *teller) put(s Step) int {
	id, err := event.ParseID(s.ID)
	if err != nil || id.Compare(l.from) <= 0 || l.t.Next != "" || l.limit == 0 {
		return -1
	}
	if len(l.t.Steps) == l.limit {
		l.t.Next = l.t.Steps[l.limit-1].ID
		return -1
	}
	s.Checkpoint = l.step.checkpoint
	l.t.Steps = append(l.t.Steps, s)
	return len(l.t.Steps) - 1
}

// settle says of tools that their results are in a checkpoint: those that worked side by side come into one.
func (l *teller) settle(checkpoint string) {
	for _, i := range l.open {
		if i >= 0 {
			l.t.Steps[i].Checkpoint = checkpoint
		}
	}
	l.open = l.open[:0]
}

// called tells of a call of the model.
func (l *teller) called(ctx context.Context, r *record) error {
	f, err := l.frame(ctx, r)
	if err != nil {
		return err
	}
	made := l.m.made(r, f)
	l.t.Calls++
	l.t.add(&made)
	if u := made.Usage; u != nil {
		l.last = Context{RunID: l.t.RunID, N: r.n, Model: made.Model, Tokens: u.Input + u.Output}
		if l.models != nil {
			l.models[made.Model] = plus(l.models[made.Model], u.counts())
		}
	}
	l.put(Step{ID: r.ev.ID.String(), Kind: StepCall, At: made.Began, N: r.n, Call: &made})
	return nil
}

// frame is what tells who was asked. A part that is gone, or that nobody can read, tells nothing.
func (l *teller) frame(ctx context.Context, r *record) (f frame, err error) {
	d, err := parse(r.Sent)
	if err != nil || d.frame == "" {
		return f, nil //nolint:nilerr // the call itself says so
	}
	f, known := l.frames[d.frame]
	if known {
		return f, nil
	}
	raw, err := l.m.part(ctx, d.frame)
	var form frameForm
	if err == nil && json.Unmarshal(raw, &form) == nil {
		f.Model, f.Provider = form.Model, form.Provider
	}
	l.frames[d.frame] = f
	return f, context.Cause(ctx)
}

func (l *teller) status(s Step, ev *event.Event, d event.Run) {
	switch d.Status {
	case event.StatusRunning:
		s.Kind, s.Attempt = StepAttempt, ev.ID.Attempt
	case event.StatusPending:
		return
	default:
		s.Kind, s.End = StepEnd, &End{d.Status, excerpt.Bound(d.Error, maxNotice), d.StopReason}
	}
	l.put(s)
}

// compacted tells that a step has compacted the conversation.
func (l *teller) compacted(s Step, d event.State) {
	for _, w := range writesOf(d.Writes) {
		var c compaction.Compaction
		if w.Channel == compaction.Channel.Name() && json.Unmarshal(w.Value, &c) == nil {
			s.Kind, s.Compaction = StepCompaction, &Compaction{c.Number, c.Tokens}
			l.put(s)
		}
	}
}

// tool tells of a tool's end, in the step of its beginning, if the log has that.
func (l *teller) tool(s Step, d event.ToolEnd) {
	done := l.begun[d.CallID]
	delete(l.begun, d.CallID)
	if done == nil {
		done = &Tooled{}
		s.Kind, s.Tool, s.At = StepTool, done, s.At.Add(-time.Duration(d.Millis)*time.Millisecond)
		l.t.Tools++
		l.put(s)
	}
	*done = Tooled{
		Name: d.Tool, CallID: d.CallID, MessageID: d.MessageID, TookMS: d.Millis, Failed: d.IsError, Summary: d.Summary,
		ExitCode: l.exit(d),
	}
	l.t.Times.ToolsMS += d.Millis
}

var exitLine = regexp.MustCompile(`(?m)^Exit Code: (\d{1,3})$`)

// exit is the exit code of a command, which its result tells at its end; nil if the tool is none, or it was not run.
func (l *teller) exit(d event.ToolEnd) *int {
	if d.Tool != "bash" {
		return nil
	}
	lists := [][]json.RawMessage{messagesOf(d.Writes)}
	for _, u := range l.step.updates {
		lists = append(lists, messagesOf(u.Writes))
	}
	for _, raw := range slices.Concat(lists...) {
		var m message.Message
		if json.Unmarshal(raw, &m) != nil || m.ToolCallID != d.CallID {
			continue
		}
		if found := exitLine.FindAllStringSubmatch(m.Text(), -1); len(found) > 0 {
			code, _ := strconv.Atoi(found[len(found)-1][1])
			return &code
		}
		if !d.IsError {
			return new(int)
		}
		return nil
	}
	return nil
}

// notice tells what the run told.
func (l *teller) notice(s Step, raw json.RawMessage) {
	var said struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		WaitMS  int64  `json:"wait_ms"`
	}
	if json.Unmarshal(raw, &said) != nil || said.Type == "" {
		return
	}
	s.Kind = StepNotice
	s.Notice = &Notice{excerpt.Bound(said.Type, maxNotice), excerpt.Bound(said.Message, maxNotice), said.WaitMS}
	l.put(s)
}
