package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// ErrBadAnswer says that a thread cannot be resumed with a value, and what its question could be answered with.
var ErrBadAnswer = errors.New("this answers no question")

// maxBehind bounds the runs of a thread that are looked at for what they answer.
const maxBehind = 100

// keyWarnings is the member of a run's metadata that lists what of its request had no effect.
const keyWarnings = "pudu_warnings"

// nothingWaits is the warning of a run that resumes a thread without a question.
const nothingWaits = "command.resume: nothing was resumed, because the thread waits for no answer"

// anotherBrings is the warning of a run that waits behind one which answers the same.
const anotherBrings = "command.resume: another run brings an answer to this already; this one has an effect only if " +
	"it is asked again"

// checkResume looks at what the thread waits for: [ErrBadAnswer] if the request resumes it with no answer to that, and
// a warning in the run's metadata if it waits for nothing. A thread with an active run waits for what is not known yet,
// but for what that run answers itself. What the answers allow beyond their calls is to be written with the admission.
func (u *UserRuns) checkResume(ctx context.Context, req *Request) (also []store.Statement, err error) {
	if req.Resume == nil && len(req.Answers) == 0 || req.Goto != "" {
		return nil, nil
	}
	_, err = u.data.Thread(ctx, req.ThreadID)
	if err == nil {
		err = u.Free(ctx, req.ThreadID)
	}
	switch {
	case errors.Is(err, store.ErrConflict) && req.Strategy != store.Reject && req.Strategy != "" && req.HasScope():
		return nil, errScopeOfWaiting
	case errors.Is(err, store.ErrConflict):
		return nil, u.warnOfAnother(ctx, req)
	case errors.Is(err, store.ErrNotFound): // which the admission tells
		return nil, nil
	case err != nil:
		return nil, err
	}
	at, err := u.load(ctx, u.schema(), req.ThreadID, req.Checkpoint)
	if err != nil {
		return nil, err
	}
	over, err := u.over(ctx, at)
	switch {
	case err != nil:
		return nil, err
	case !over:
		return u.granting(ctx, at, req)
	case req.Resume == nil:
		return nil, nil
	}
	said, err := answered(at, req.Resume)
	if err == nil && len(said) == 0 {
		req.Metadata, err = Warned(req.Metadata, nothingWaits)
	}
	return nil, err
}

// warnOfAnother has the request say so if its answers are all to what runs of the thread answer that have not ended.
func (u *UserRuns) warnOfAnother(ctx context.Context, req *Request) error {
	if len(req.Answers) == 0 {
		return nil
	}
	active, err := u.data.ListRuns(ctx, store.RunFilter{
		ThreadID: req.ThreadID, Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: maxBehind,
	})
	if err != nil {
		return err
	}
	open := maps.Clone(req.Answers)
	for _, run := range active {
		if earlier, err := RequestOf(run); err == nil {
			maps.DeleteFunc(open, func(id string, _ json.RawMessage) bool { return earlier.Answers[id] != nil })
		}
	}
	if len(open) == 0 {
		req.Metadata, err = Warned(req.Metadata, anotherBrings)
	}
	return err
}

// answered are the messages with which a request answers what the last run has asked in its answer, if it has.
func answered(at store.Checkpoint, resume json.RawMessage) ([]message.Message, error) {
	said, err := clarification.Resumed(agent.Messages.Get(at.State), resume)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadAnswer, err)
	}
	return said, nil
}

// Warned adds a warning to a run's metadata, which is an object or nil.
func Warned(metadata json.RawMessage, warning string) (json.RawMessage, error) {
	members, ok := rawjson.Members(metadata)
	if !ok {
		members = make(map[string]json.RawMessage)
	}
	var list []string
	_ = json.Unmarshal(members[keyWarnings], &list)               // of a client's it may be anything
	members[keyWarnings], _ = json.Marshal(append(list, warning)) // any strings can be encoded
	return json.Marshal(members)
}
