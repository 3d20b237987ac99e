package lead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/middleware/guardrail"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// NewDesk has the run give tasks of those kinds to runs below it. What is set of the config later holds for them, too.
func (c *Config) NewDesk(below *runs.Children, kinds []subagents.Kind) *subagents.Desk {
	return subagents.NewDesk(delegate{below, c, kinds}, below, kinds)
}

// delegate gives tasks to runs below the present one.
type delegate struct {
	below *runs.Children
	of    *Config // of who gives the task
	kinds []subagents.Kind
}

// named are the skills that a person has named to who gives a task, or above.
func (d delegate) named(call *tool.Call) []string {
	if d.of.Secrets == nil {
		return nil
	}
	return d.of.Secrets.Named(call.State)
}

// Start implements [subagents.Delegate]. A task that an earlier run of the thread has given, and that has stopped to
// ask a person, goes on with the answer, or asks again as long as there is none.
func (d delegate) Start(ctx context.Context, o subagents.Order) (subagents.Task, error) {
	model := o.Kind.Model
	if model == "" {
		model = d.of.Choice.Model.Name
	}
	earlier, err := d.below.Earlier(ctx, o.Key)
	if err != nil {
		return nil, err
	}
	if earlier != nil {
		return d.goOn(ctx, earlier, o.Call)
	}
	child, err := d.below.Start(ctx, o.Key, runs.Request{
		Input: []message.Message{message.New(message.Human, o.Prompt)}, Model: model, MaxSteps: o.Kind.MaxTurns,
		Task: &runs.Task{Kind: o.Kind.Name, Call: o.Call.ID, Description: o.Description,
			Outside: guardrail.Untrusted.Get(o.Call.State),
			Named:   d.named(o.Call)},
	})
	if err != nil {
		return nil, err
	}
	return d.task(child)
}

// Find implements [subagents.Delegate].
func (d delegate) Find(ctx context.Context, id string, call *tool.Call) (subagents.Task, error) {
	child, err := d.below.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if child.Mine() {
		return d.task(child)
	}
	return d.goOn(ctx, child, call)
}

// Unfinished implements [subagents.Delegate].
func (d delegate) Unfinished(ctx context.Context) (list []subagents.Task, err error) {
	left, err := d.below.Left(ctx)
	for _, child := range left {
		t, errTask := d.task(child)
		if err = errors.Join(err, errTask); errTask == nil {
			list = append(list, t)
		}
	}
	return list, err
}

// goOn is the task of a run below an earlier one of the thread, which is at its end: a new run of the task, if that one
// has stopped to ask and the call brings the answer.
func (d delegate) goOn(ctx context.Context, earlier *runs.Child, call *tool.Call) (subagents.Task, error) {
	out, err := earlier.Wait(ctx, nil)
	if err != nil {
		return nil, err
	}
	t, err := d.task(earlier)
	if err != nil {
		return nil, err
	}
	answers := make(map[string]json.RawMessage)
	for _, q := range out.Questions {
		if a := call.Answers[q.InterruptID]; a != nil {
			answers[q.InterruptID] = a
		}
	}
	if len(answers) == 0 {
		t.about.Told, t.until = true, d.below.Now().Add(t.about.Timeout)
		return t, nil
	}
	req, err := runs.RequestOf(earlier.Run)
	if err != nil {
		return nil, err
	}
	about := *req.Task
	about.Outside = about.Outside || guardrail.Untrusted.Get(call.State)
	child, err := d.below.Start(ctx, earlier.Run.Key, runs.Request{
		ThreadID: earlier.Run.ThreadID, Model: req.Model, MaxSteps: req.MaxSteps, Task: &about,
		Answers: answers,
	})
	if err != nil {
		return nil, err
	}
	if t, err = d.task(child); err == nil {
		t.before = messagesIn(out.State)
	}
	return t, err
}

// task is a run below the present one as the task that it is there for.
func (d delegate) task(child *runs.Child) (*given, error) {
	req, err := runs.RequestOf(child.Run)
	if err == nil && req.Task == nil {
		err = fmt.Errorf("run %s is there for no task", child.Run.ID)
	}
	if err != nil {
		return nil, err
	}
	t := &given{
		Child: child, model: req.Model, now: d.below.Now,
		about: subagents.About{Call: req.Task.Call, Description: req.Task.Description, Kind: req.Task.Kind},
	}
	kind, err := subagents.Find(d.kinds, req.Task.Kind)
	if err != nil { // the operator has taken it away since
		kind.Timeout = noKind
	}
	t.about.Timeout = kind.Timeout
	t.until = child.Run.CreatedAt.Add(kind.Timeout)
	return t, nil
}

// noKind is the time of a task whose kind is not configured any more.
const noKind = 15 * time.Minute

// messagesIn counts the messages of a task that clients were told of.
func messagesIn(s state.State) (n int) {
	for _, m := range agent.Messages.Get(s) {
		if m.Role == message.AI || m.Role == message.Tool {
			n++
		}
	}
	return n
}

// given is a run below another one as the task that it is there for.
type given struct {
	*runs.Child

	model  string
	about  subagents.About
	now    func() time.Time
	until  time.Time
	before int // messages
}

var (
	_ subagents.Delegate = delegate{}
	_ subagents.Task     = (*given)(nil)
)

// Where implements [subagents.Task].
func (t *given) Where() (run, thread string) { return t.Run.ID, t.Run.ThreadID }

// About implements [subagents.Task].
func (t *given) About() subagents.About { return t.about }

// Model implements [subagents.Task].
func (t *given) Model() string { return t.model }

// Before implements [subagents.Task].
func (t *given) Before() int { return t.before }

// Left implements [subagents.Task].
func (t *given) Left() time.Duration { return max(0, t.until.Sub(t.now())) }

// Tell implements [subagents.Task].
func (t *given) Tell(ctx context.Context, call *tool.Call, key, text string) error {
	m := message.New(message.Human, text)
	if guardrail.Untrusted.Get(call.State) {
		m.Kwargs = message.Fields{guardrail.KeyOutside: json.RawMessage("true")}
	}
	err := t.Say(ctx, key, m)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		err = subagents.ErrEnded
	}
	return err
}

// Watch implements [subagents.Task].
func (t *given) Watch(ctx context.Context, said func(message.Message)) (subagents.End, error) {
	out, err := t.Child.Watch(ctx, said)
	if err != nil {
		return subagents.End{}, err
	}
	run := out.Run
	end := subagents.End{Outcome: subagents.OutcomeOf(
		event.Run{Status: run.Status, Error: run.Error, StopReason: run.StopReason},
		subagents.Answer(agent.Messages.Get(out.State)))}
	end.Model, end.Usage = t.model, out.Usage
	for _, q := range out.Questions {
		end.Questions = append(end.Questions, tool.Question{ID: q.InterruptID, Value: asked(q.Value, t.Namespace())})
	}
	if guardrail.Untrusted.Get(out.State) {
		end.Update = guardrail.Untrusted.Put(true)
	}
	return end, nil
}

// asked is a question of a sub-agent, with the path to it. One that it hands on from below itself has a longer path
// already.
func asked(question json.RawMessage, namespace []string) json.RawMessage {
	members, ok := rawjson.Members(question)
	if !ok {
		return question
	}
	var deeper []string
	if json.Unmarshal(members["namespace"], &deeper) == nil && len(deeper) > len(namespace) &&
		slices.Equal(deeper[:len(namespace)], namespace) {
		return question
	}
	path, err := json.Marshal(namespace)
	if err != nil { // texts can be encoded
		return question
	}
	members["namespace"] = path
	raw, err := json.Marshal(members)
	if err != nil {
		return question
	}
	return raw
}
