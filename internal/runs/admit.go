package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Request is what a client wants done. It is kept in the run's row and never holds a secret.
type Request struct {
	ThreadID string `json:"thread_id"`
	// UserID is whose run it is. Admission sets it.
	UserID string `json:"user_id"`
	// Input are the messages to add to the conversation.
	Input []message.Message `json:"input"`
	// Values are the input for other channels of the state, by name. Those that nobody declares are left out.
	Values map[string]json.RawMessage `json:"values,omitempty"`
	// Model names the model that was chosen, "provider/model".
	Model string `json:"model,omitempty"`
	// MaxSteps bounds the model and tools nodes; 0 means the default.
	MaxSteps int `json:"max_steps,omitempty"`

	// Answers are a human's answers to the questions of the thread's last run, by interrupt id; by the id of a call it
	// is one to all that this asks. The new run goes on where that one stopped to ask; Input is empty then.
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
	// Resume is the same as a LangGraph client says it: one answer, an object of answers by interrupt id, or an object
	// with a list of decisions, one for each call that waits for approval. If the last run has ended with a question,
	// it is the answer to that, see clarification.Resumed, and [ErrBadAnswer] if it cannot be.
	Resume json.RawMessage `json:"resume,omitempty"`
	// Continue goes on where the thread's last run stopped, at a breakpoint or a question, without input.
	Continue bool `json:"continue,omitempty"`
	// Goto is the node to begin at; empty means the beginning, or where Resume and Continue lead.
	Goto string `json:"goto,omitempty"`
	// Checkpoint is the checkpoint of the thread to begin on; empty means its head. Another one begins a branch.
	Checkpoint string `json:"checkpoint,omitempty"`
	// InterruptBefore and InterruptAfter are the breakpoints; see agent.RunConfig.
	InterruptBefore []string `json:"interrupt_before,omitempty"`
	InterruptAfter  []string `json:"interrupt_after,omitempty"`

	// AssistantID, Metadata, Config, Context, Modes and Subgraphs are as the client sent them, without secrets.
	AssistantID string          `json:"assistant_id,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Config      json.RawMessage `json:"config,omitempty"`
	Context     json.RawMessage `json:"context,omitempty"`
	Modes       []string        `json:"stream_mode,omitempty"`
	Subgraphs   bool            `json:"subgraphs,omitempty"`
	// RequestID is that of the HTTP request, and Token the name of the token that came with it; empty if there was
	// none.
	RequestID string `json:"request_id,omitempty"`
	Token     string `json:"token,omitempty"`
	// Role, Scopes and Via are those of who asks, as access.Principal has them. What his answers grant is kept with
	// Via.
	Role   access.Role `json:"role,omitempty"`
	Scopes []string    `json:"scopes,omitempty"`
	Via    string      `json:"via,omitempty"`
	// OnDisconnect is [CancelRun] if the run shall stop when the client goes away that started it.
	OnDisconnect string `json:"on_disconnect,omitempty"`
	// OnCompletion is [DeleteThread] if the thread shall go with the run's end.
	OnCompletion string `json:"on_completion,omitempty"`
	// Webhook is the URL that is told of the end.
	Webhook string `json:"webhook,omitempty"`
	// WebhookDropped says that the run came from a backup, which leaves webhooks out.
	WebhookDropped bool `json:"webhook_dropped,omitempty"`
	// Namespace is the path of a run below others, as readers of the run at the top see it; see [Children].
	Namespace []string `json:"namespace,omitempty"`
	// Secrets are what the client gives the run to use: they are kept apart, sealed, until its end, and here only their
	// names. A run below another uses those of the run at the top.
	Secrets     secrets.Values `json:"-"`
	SecretNames []string       `json:"secret_names,omitempty"`
	// Task is the task that the run is there for; nil if it is for none.
	Task *Task `json:"task,omitempty"`
	// Strategy says what becomes of the run if the thread has an active one; empty means store.Reject.
	Strategy store.Strategy `json:"strategy,omitempty"`

	// NotBefore, Key and MustExist are those of [store.Run] and [store.Admission].
	NotBefore time.Time `json:"-"`
	Key       string    `json:"-"`
	MustExist bool      `json:"-"`
}

// Task is a task that one run has given to another, below it.
type Task struct {
	// Kind names the sub-agent, Call is the call that gave the task, and Description what it said of it.
	Kind        string `json:"kind"`
	Call        string `json:"call"`
	Description string `json:"description,omitempty"`
	// Outside says that who gave it has read what came from outside.
	Outside bool `json:"outside,omitempty"`
	// Named are the skills that a person has named to who gave it, or to those above.
	Named []string `json:"named,omitempty"`
}

// Values of Request.OnDisconnect and OnCompletion; empty means the opposite.
const (
	CancelRun    = "cancel"
	DeleteThread = "delete"
)

// Admit makes the request durable: the thread, if it is new, and the run with its input, whose messages get their ids
// here. A run that need not wait is this process's from the start, and to be executed by the caller; one that is
// pending waits for a process that serves. Errors are those of store.Runs.Admit.
func (u *UserRuns) Admit(ctx context.Context, req Request) (store.Run, error) {
	return u.admit(ctx, req, u.m.cfg.Owner)
}

// admit returns the run as it was admitted, which with a known key was earlier. It has begun if it is owner's from now
// on.
func (u *UserRuns) admit(ctx context.Context, req Request, owner string) (store.Run, error) {
	m := u.m
	if err := m.cfg.Room(); err != nil {
		return store.Run{}, fmt.Errorf("take in a run: %w", err)
	}
	req.UserID = u.user.ID()
	if err := checkSteer(req); err != nil {
		return store.Run{}, err
	}
	also, err := u.checkResume(ctx, &req)
	if errors.Is(err, ErrBadAnswer) && req.Key != "" { // it was an answer, if it is asked for again
		if first, found, errKey := u.ofKey(ctx, req); found || errKey != nil {
			return first, errKey
		}
	}
	if err != nil {
		return store.Run{}, err
	}
	now := m.cfg.Now()
	req.Input = identified(req.Input, now)
	if req.Webhook != "" && m.cfg.Seal != nil {
		if req.Webhook, err = m.cfg.Seal(u.user, req.Webhook); err != nil {
			return store.Run{}, fmt.Errorf("take in a run with a webhook: %w", err)
		}
	}
	run := id.New(now)
	kept, err := u.keepSecrets(&req, run)
	if err != nil {
		return store.Run{}, err
	}
	raw, err := json.Marshal(req)
	if err != nil {
		return store.Run{}, fmt.Errorf("encode request: %w", err)
	}
	a := store.Admission{
		Run: store.Run{
			ID: run, ThreadID: req.ThreadID, Owner: owner, Request: raw,
			NotBefore: req.NotBefore, Key: req.Key, CreatedAt: now, UpdatedAt: now,
		},
		Thread: store.Thread{
			ID: req.ThreadID, Title: titleOf(req.Input), CreatedAt: now, UpdatedAt: now,
		},
		MustExist: req.MustExist, Strategy: req.Strategy, MaxPending: m.cfg.MaxPending, Also: append(also, kept...),
	}
	if m.cfg.ThreadMetadata != nil {
		a.Thread.Metadata = m.cfg.ThreadMetadata(req)
	}
	if owner != "" {
		a.Begin = firstEvent(1, now)
	}
	admitted, err := u.data.Admit(ctx, a)
	if errors.Is(err, store.ErrUnknown) { // it may be there, and this process's
		m.lose(a.Run, err)
	}
	if err == nil && (req.Strategy == store.Interrupt || req.Strategy == store.Rollback) {
		u.endedBy(ctx, admitted, now)
	}
	return admitted, err
}

// keepSecrets are the statements that keep the request's secrets for its run. The request has their names from then on.
func (u *UserRuns) keepSecrets(req *Request, run string) ([]store.Statement, error) {
	req.SecretNames = req.Secrets.Names()
	if len(req.Secrets) == 0 {
		return nil, nil
	}
	if u.m.cfg.KeepSecrets == nil {
		return nil, errors.New("take in a run with secrets: this program cannot keep them")
	}
	kept, err := u.m.cfg.KeepSecrets(u.user, run, req.ThreadID, req.Secrets)
	if err != nil {
		return nil, fmt.Errorf("take in a run with secrets: %w", err)
	}
	return kept, nil
}

// identified gives the messages of an input their ids.
func identified(input []message.Message, now time.Time) []message.Message {
	for i, m := range input {
		if m.ID == "" && m.Role != message.Remove {
			input[i].ID = conversation.IDFor(m, id.New(now))
		}
	}
	return input
}

// ofKey is the thread's run that was asked for with the request's key, if there is one.
func (u *UserRuns) ofKey(ctx context.Context, req Request) (store.Run, bool, error) {
	list, err := u.data.ListRuns(ctx, store.RunFilter{ThreadID: req.ThreadID, Limit: 1000})
	for _, run := range list {
		if run.Key == req.Key {
			return run, true, nil
		}
	}
	return store.Run{}, false, err
}

// firstEvent is the event with which an attempt begins.
func firstEvent(attempt int, now time.Time) *event.Event {
	return &event.Event{ID: event.ID{Attempt: attempt, N: 1}, Time: now, Data: event.Run{Status: event.StatusRunning}}
}

// Submit admits a request and sees to it that it is executed: here and now if nothing is in its way, else when its turn
// comes, here or in another process that serves. It does not wait for that.
func (u *UserRuns) Submit(ctx context.Context, req Request) (store.Run, error) {
	m, owner := u.m, ""
	if m.take() {
		owner = m.cfg.Owner
	}
	run, err := u.admit(ctx, req, owner)
	if owner != "" && !run.Begun {
		m.giveBack()
	}
	switch {
	case err != nil:
		return run, err
	case run.Begun:
		heard := m.audience(run, nil) // there before anybody can follow the run: its feed has all events
		m.background.Go(func() { m.perform(run, heard) })
		return run, nil
	case req.Strategy == store.Interrupt || req.Strategy == store.Rollback:
		m.tell(subjectStop)
	}
	m.tellOf(run)
	return run, nil
}

// take takes a place for a run, if one is free.
func (m *Manager) take() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped || m.taken >= m.cfg.Parallel {
		return false
	}
	m.taken++
	m.background.Add(1)
	return true
}

func (m *Manager) giveBack() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.turns) > 0 {
		close(m.turns[0])
		m.turns = m.turns[1:]
		return
	}
	m.taken--
	m.background.Done()
}

// perform executes a run of this process in the place that was taken for it.
func (m *Manager) perform(run store.Run, to audience) {
	p := &place{m: m, held: true}
	defer p.drop()
	if _, err := m.execute(context.Background(), run, to, seat{place: p}); err != nil && !errors.Is(err, ErrStopped) {
		m.cfg.Log.Warn("run is left unfinished", "run", run.ID, "thread", run.ThreadID, "reason", err)
	}
}
