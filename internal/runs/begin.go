package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// ErrNothingToDo is the failure of a run that was to go on, without input, on a thread whose last run has come to its
// end.
var ErrNothingToDo = errors.New("there is nothing to go on with: the thread's last run has ended; give an input")

// start is where an agent begins.
type start struct {
	from   store.Checkpoint
	parent string // of the first checkpoint, if that is another one than the head
	title  string // in the state of the head
	input  state.Update
	said   []message.Message // answers to what the last run has asked in its answer
	resume *agent.Resume
}

// begin finds where a run starts: behind its own last checkpoint if it was cut off, else as its request says.
func (u *UserRuns) begin(ctx context.Context, schema state.Schema, job Job) (start, error) {
	head, err := u.head(ctx, schema, job.Run)
	at := start{from: head, title: threadstate.Title.Get(head.State)}
	if err != nil {
		return at, err
	}
	if head.ID != "" && head.RunID == job.Run.ID {
		at.resume, err = u.past(ctx, head, job.Run.ID)
		return at, err
	}
	req := job.Request
	if req, err = u.onceMore(ctx, req); err != nil {
		return at, err
	}
	job.Request = req
	if job.Run.Steers != "" { // the state that it was said to has gone on
		req.Checkpoint = ""
	}
	if req.Checkpoint != "" && req.Checkpoint != head.ID {
		if at.from, err = u.load(ctx, schema, job.Run.ThreadID, req.Checkpoint); err != nil {
			return at, err
		}
		at.parent = req.Checkpoint
	}
	if err = u.goOnFrom(ctx, &at, job); err == nil {
		at.input, err = u.input(at, schema, req)
	}
	return at, err
}

// head is the newest checkpoint of the run's thread. A run that was admitted a moment ago knows it.
func (u *UserRuns) head(ctx context.Context, schema state.Schema, run store.Run) (store.Checkpoint, error) {
	if run.Begun && run.Head == "" {
		st, err := schema.Load(nil)
		return store.Checkpoint{State: st}, err
	}
	return u.load(ctx, schema, run.ThreadID, run.Head)
}

func (u *UserRuns) load(ctx context.Context, schema state.Schema, threadID,
	checkpoint string) (store.Checkpoint, error) {
	cp, err := u.data.Checkpoint(ctx, schema, threadID, checkpoint)
	if err == nil {
		err = cp.State.Check()
	}
	if err != nil {
		return cp, fmt.Errorf("load thread %s: %w", threadID, err)
	}
	return cp, nil
}

// goOnFrom finds out whether the run begins anew, or goes on where another one stopped.
func (u *UserRuns) goOnFrom(ctx context.Context, at *start, job Job) error {
	req, from := job.Request, at.from
	answers := len(req.Answers) > 0 || req.Resume != nil
	switch {
	case req.Goto != "":
		next, err := agent.Target(req.Goto)
		at.resume = &agent.Resume{Next: next, Passed: true}
		return err
	case !answers && !req.Continue:
		return u.keepFinished(ctx, at, job.Run.ID)
	}
	over, err := u.over(ctx, from)
	if err != nil {
		return err
	}
	if over {
		if !answers && len(req.Input) == 0 && len(req.Values) == 0 {
			return ErrNothingToDo
		}
		if req.Resume != nil {
			at.said, err = answered(from, req.Resume)
		}
		if len(at.said) == 0 {
			at.resume = &agent.Resume{Next: agent.Done} // an answer that nobody waits for, or an update alone
		}
		return err
	}
	at.resume = &agent.Resume{Next: from.Next}
	if at.parent == "" {
		if at.resume, err = u.past(ctx, from, job.Run.ID); err != nil {
			return err
		}
	}
	at.resume.Passed = true
	return u.answer(ctx, at, req)
}

// over reports whether there is nothing to go on with at a checkpoint: the run that made it came to its end there. A
// last node that changes nothing leaves no checkpoint of its own.
func (u *UserRuns) over(ctx context.Context, at store.Checkpoint) (bool, error) {
	switch {
	case at.ID == "" || at.Next == agent.Done:
		return true, nil
	case at.Next != agent.NodeAfterAgent:
		return false, nil
	case at.RunID == "": // its run was deleted, so it was at its end
		return true, nil
	}
	run, err := u.data.Run(ctx, at.RunID)
	return run.Status == event.StatusSuccess, err
}

// keepFinished makes known results of a step that never came to its end part of the input: a question beside them was
// not answered, and the conversation takes another turn.
func (u *UserRuns) keepFinished(ctx context.Context, at *start, runID string) error {
	if at.from.Next != agent.NodeTools || at.parent != "" {
		return nil
	}
	past, err := u.past(ctx, at.from, runID)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(past.Ended)) {
		u, err := u.schema().DecodeUpdate(past.Ended[id].Writes)
		if err != nil {
			return fmt.Errorf("result of call %s: %w", id, err)
		}
		at.input = at.input.With(u)
	}
	return nil
}

// answer hands the request's answers to the calls that asked.
func (u *UserRuns) answer(ctx context.Context, at *start, req Request) error {
	asked, err := u.questions(ctx, at.from)
	if err != nil {
		return err
	}
	answers, err := answersTo(asked, req)
	at.resume.Answers = make(map[string]map[string]json.RawMessage)
	for _, q := range asked {
		v, ok := answers[q.InterruptID]
		switch of := at.resume.Answers[q.CallID]; {
		case !ok:
		case of == nil:
			at.resume.Answers[q.CallID] = map[string]json.RawMessage{q.InterruptID: v}
		default:
			of[q.InterruptID] = v
		}
	}
	return err
}

// answersTo are a request's answers to questions, by their interrupt ids.
func answersTo(asked []event.Interrupt, req Request) (map[string]json.RawMessage, error) {
	answers := make(map[string]json.RawMessage)
	byID := make(map[string]json.RawMessage)
	_ = json.Unmarshal(req.Resume, &byID) // anything else is one answer
	for _, q := range asked {
		for _, v := range []json.RawMessage{req.Answers[q.CallID], req.Answers[q.InterruptID], byID[q.InterruptID]} {
			if v != nil {
				answers[q.InterruptID] = v
			}
		}
	}
	switch {
	case len(answers) > 0 || len(asked) == 0 || req.Resume == nil:
	case len(asked) > 1:
		return answers, spread(asked, req.Resume, answers)
	default:
		answers[asked[0].InterruptID] = req.Resume
	}
	return answers, nil
}

// Granted is the decision that approves a call and others like it.
const Granted = "grant"

// Decisions are what a request says about the calls of its thread that wait for approval, by their ids, and of one that
// asks several things, of each, by "CALL/INTERRUPT". Of answers that cannot be read there is nothing.
func (u *UserRuns) Decisions(ctx context.Context, req Request) (map[string]string, error) {
	if req.Resume == nil && len(req.Answers) == 0 {
		return nil, nil
	}
	at, err := u.Snapshot(ctx, req.ThreadID, req.Checkpoint)
	if err != nil {
		return nil, err
	}
	answers, err := answersTo(at.Questions, req)
	if err != nil {
		return nil, err
	}
	said := make(map[string]string)
	for _, q := range at.Questions {
		if !approval.IsQuestion(q.Value) || answers[q.InterruptID] == nil {
			continue
		}
		if d, err := approval.Read(answers[q.InterruptID]); err == nil {
			about := q.CallID
			if ofCall := func(o event.Interrupt) bool {
				return o.CallID == about && o.InterruptID != q.InterruptID
			}; slices.ContainsFunc(at.Questions, ofCall) {
				about += "/" + q.InterruptID
			}
			said[about] = string(d.Kind)
			if d.Scope != approval.Once {
				said[about] = Granted
			}
		}
	}
	return said, nil
}

// spread gives several calls that wait for approval their decisions out of one list. Other questions among them stay
// open.
func spread(asked []event.Interrupt, resume json.RawMessage, answers map[string]json.RawMessage) error {
	waiting := slices.DeleteFunc(slices.Clone(asked),
		func(q event.Interrupt) bool { return !approval.IsQuestion(q.Value) })
	decisions, ok, err := approval.Split(resume, len(waiting))
	if err != nil {
		return err
	}
	if !ok || len(waiting) == 0 {
		return fmt.Errorf("%d calls wait for an answer: resume with an object of answers by interrupt id", len(asked))
	}
	for i, q := range waiting {
		answers[q.InterruptID] = decisions[i]
	}
	return nil
}

// input is the update that the request makes before the first node.
func (u *UserRuns) input(at start, schema state.Schema, req Request) (state.Update, error) {
	update, err := agent.AddMessages(at.from.State, append(slices.Clip(req.Input), at.said...), u.m.newID)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	more, err := Values(schema, req.Values)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	return at.input.With(update, more), nil
}

// Values makes an update of channel values as a client sends them, by the channels' own rules. Channels that the schema
// does not have, private ones, and the messages are left out.
func Values(schema state.Schema, values map[string]json.RawMessage) (state.Update, error) {
	var update state.Update
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if c, ok := schema[name]; !ok || c.Private() || name == agent.Messages.Name() {
			continue
		}
		stored := rawjson.AppendString([]byte(`[{"c":`), name)
		stored = append(append(append(stored, `,"op":"put","v":`...), values[name]...), "}]"...)
		u, err := schema.DecodeUpdate(stored)
		if err != nil {
			return nil, fmt.Errorf("channel %q: %w", name, err)
		}
		update = update.With(u)
	}
	return update, nil
}

// past is where the run goes on, from a checkpoint: its node, and what is known of the calls that were under way.
func (u *UserRuns) past(ctx context.Context, from store.Checkpoint, runID string) (*agent.Resume, error) {
	resume := &agent.Resume{
		Next: from.Next, Started: make(map[string]event.ToolStart), Ended: make(map[string]event.ToolEnd),
	}
	err := u.since(ctx, from, resume.Note)
	if err != nil {
		return nil, fmt.Errorf("read where run %s left off: %w", runID, err)
	}
	return resume, nil
}

// questions lists what is asked at a checkpoint and not answered yet, in the order of asking.
func (u *UserRuns) questions(ctx context.Context, at store.Checkpoint) ([]event.Interrupt, error) {
	if at.Next != agent.NodeTools {
		return nil, nil
	}
	at, err := u.stepOf(ctx, at)
	if err != nil {
		return nil, err
	}
	var asked []event.Interrupt
	drop := func(callID string) {
		asked = slices.DeleteFunc(asked, func(q event.Interrupt) bool { return q.CallID == callID })
	}
	last := "" // the call of the interrupt before, if there is nothing in between: they come with one step
	err = u.since(ctx, at, func(ev event.Event) bool {
		before := last
		last = ""
		switch d := ev.Data.(type) {
		case event.Interrupt:
			if d.CallID != before {
				drop(d.CallID)
			}
			last = d.CallID
			asked = slices.DeleteFunc(asked, func(q event.Interrupt) bool { // as a crash makes it come again
				return q.CallID == d.CallID && q.InterruptID == d.InterruptID
			})
			if d.InterruptID != "" {
				asked = append(asked, d)
			}
		case event.ToolEnd:
			drop(d.CallID)
		case event.State: // a later checkpoint
			return d.Checkpoint == at.ID
		}
		return true
	})
	return asked, err
}

// since gives each the events after a checkpoint of its run, and those of the runs after it that have led to no
// checkpoint yet, in order, until it returns false.
func (u *UserRuns) since(ctx context.Context, at store.Checkpoint, each func(event.Event) bool) error {
	at, err := u.stepOf(ctx, at)
	if err != nil || at.ID == "" {
		return err
	}
	const most = 100 // answers to parallel calls that may come one by one
	later, err := u.data.ListRuns(ctx, store.RunFilter{ThreadID: at.ThreadID, Limit: most})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(later, func(r store.Run) bool { return r.ID == at.RunID })
	goOn, err := u.events(ctx, at.RunID, event.ID{Attempt: at.Attempt, N: at.First}, each)
	for _, run := range slices.Backward(later[:max(i, 0)]) {
		if err != nil || !goOn {
			break
		}
		if run.Error != store.RolledBack {
			goOn, err = u.events(ctx, run.ID, event.ID{}, each)
		}
	}
	return err
}

// stepOf is the checkpoint that a step of a run made and that a later one stands for which no step did: the change of a
// state from outside, or a rollback. The zero checkpoint if there is none.
func (u *UserRuns) stepOf(ctx context.Context, at store.Checkpoint) (store.Checkpoint, error) {
	for at.ID != "" && (at.RunID == "" || at.First == 0) {
		if at.ParentID == "" {
			return store.Checkpoint{}, nil
		}
		var err error
		if at, err = u.data.Checkpoint(ctx, u.schema(), at.ThreadID, at.ParentID); err != nil {
			return at, err
		}
	}
	return at, nil
}

// events gives each the events of a run after an id, until it returns false.
func (u *UserRuns) events(ctx context.Context, runID string, after event.ID,
	each func(event.Event) bool) (bool, error) {
	return eachEvent(ctx, u.data, runID, after, each)
}

func eachEvent(ctx context.Context, log store.UserData, runID string, after event.ID,
	each func(event.Event) bool) (bool, error) {
	const page = 1000
	for {
		evs, err := log.Events(ctx, runID, after, page)
		if errors.Is(err, store.ErrNotFound) { // deleted; its checkpoints stay
			return true, nil
		}
		if err != nil {
			return false, err
		}
		for _, ev := range evs {
			if !each(ev) {
				return false, nil
			}
		}
		if len(evs) < page {
			return true, nil
		}
		after = evs[len(evs)-1].ID
	}
}
