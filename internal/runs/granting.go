package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/store"
)

// errScopeOfWaiting refuses a scope for questions that nobody knows yet.
var errScopeOfWaiting = fmt.Errorf("%w: %w: the thread has an active run, and what it will ask is not known; answer "+
	"with the "+
	"scope when it has asked", ErrBadAnswer, approval.ErrScope)

// HasScope reports whether an answer of the request may allow more than the call that it answers.
func (r *Request) HasScope() bool {
	if approval.HasScope(r.Resume) {
		return true
	}
	for _, answer := range r.Answers {
		if approval.HasScope(answer) {
			return true
		}
	}
	return false
}

// granting are the statements that store what the request's answers allow beyond the calls that ask at a checkpoint.
// They are done with the admission: answer and grant are there together or not at all, and nothing stores the grant
// again.
func (u *UserRuns) granting(ctx context.Context, at store.Checkpoint,
	req *Request) (also []store.Statement, err error) {
	if !req.HasScope() {
		return nil, nil
	}
	asked, err := u.questions(ctx, at)
	if err != nil {
		return nil, err
	}
	answers, err := answersTo(asked, *req)
	if err != nil { // which fails the run
		return nil, nil //nolint:nilerr // see above
	}
	for _, q := range asked {
		if answers[q.InterruptID] == nil || !approval.IsQuestion(q.Value) {
			continue
		}
		g, err := u.granted(q.Value, answers[q.InterruptID], req)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadAnswer, err)
		}
		if g.ID != "" {
			also = slices.Concat(also, g.Give())
		}
	}
	return also, nil
}

// granted is what an answer to a question grants; without an id it is nothing.
func (u *UserRuns) granted(question, answer json.RawMessage, req *Request) (approval.Grant, error) {
	d, err := approval.Read(answer)
	if errors.Is(err, approval.ErrScope) {
		return approval.Grant{}, err
	}
	if err != nil || d.Scope == approval.Once { // what cannot be read is asked again
		return approval.Grant{}, nil //nolint:nilerr // see above
	}
	g, err := approval.Granted(question, d)
	if err != nil {
		return g, err
	}
	g.GivenAt, g.Via = u.m.cfg.Now(), cmp.Or(req.Via, "program")
	g.ID = id.New(g.GivenAt)
	if d.Scope == approval.Thread {
		g.ThreadID = req.ThreadID
	}
	return g, nil
}
