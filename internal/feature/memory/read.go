package memory

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Talk is a thread as it is now, which may have something to remember.
type Talk struct {
	// Messages are those of its head: what was rolled back is not among them, what was compacted is.
	Messages []message.Message
	// Agent is who has spoken last; empty is the standard agent. Off says that nothing may be learned there.
	Agent string
	Off   bool
	// Model is asked what there is to remember. Nil learns nothing.
	Model model.ChatModel
}

// Reader reads conversations for what may be remembered of them.
type Reader struct {
	*Memory

	// Talk loads a thread; [store.ErrNotFound] if it is gone.
	Talk func(ctx context.Context, u access.User, thread string) (Talk, error)
	// Left is told what was left out, and why; nil is nobody.
	Left func(u access.User, thread string, why map[string]int)
	// Done is told whose thread was read, when what was learned is stored; nil is nobody.
	Done func(u access.User)
}

// jobRead is the kind of the jobs; their key is the thread's id.
const jobRead = "memory-read"

// How a thread is read: longest bounds a try, asking one question to the model. What fails is tried again, later each
// time.
const (
	longest  = 5 * time.Minute
	asking   = 2 * time.Minute
	readings = 5
	pause    = 30 * time.Second
	// keeps is how many times the wait a reading is put off at most by runs that go on.
	keeps = 20
)

// After is what follows the end of a run, by the settings: its thread is read after a while, unless another of its runs
// ends meanwhile. It is for the store to call.
func After(set config.Memory) store.After {
	return func(run store.Run) []store.NewJob {
		if !set.On() || run.Parent != "" {
			return nil
		}
		at := run.UpdatedAt
		return []store.NewJob{{Kind: jobRead, Key: run.ThreadID, NotBefore: at.Add(set.Wait()),
			Latest: at.Add(keeps * set.Wait())}}
	}
}

// Kinds are the jobs, for a [job.Runner].
func (r *Reader) Kinds() []job.Kind {
	return []job.Kind{{
		Name: jobRead, Slots: 2, Tries: readings, Timeout: longest, Wait: pause,
		Run: func(ctx context.Context, j job.Job) (func(job.Tx) error, error) {
			decide, err := r.read(ctx, j.User, j.Key)
			if err != nil || decide == nil {
				return nil, err
			}
			return decide(ctx)
		},
		Done: func(j job.Job) {
			if r.Done != nil {
				r.Done(j.User)
			}
		},
	}}
}

// read reads a thread, and returns what decides what is to be written because of it: anew if another was faster, as of
// two threads of a user that are read at once. The model is asked once.
func (r *Reader) read(ctx context.Context, u access.User, thread string) (job.ChangedError, error) {
	talk, err := r.Talk(ctx, u, thread)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	m := r.For(u)
	var at place
	var was reading
	if err == nil {
		at, err = m.place(ctx, thread)
	}
	if err == nil {
		was, err = m.reading(ctx, thread)
	}
	if err != nil {
		return nil, fmt.Errorf("read thread %.40q for the memory: %w", thread, err)
	}
	if at.marks&store.Temporary != 0 {
		return nil, nil
	}
	fresh := unread(talk.Messages, was.Read)
	now := reading{Thread: thread, Read: lastIDs(talk.Messages), Spent: was.Spent}
	uses := usesIn(fresh)
	l, err := r.learn(ctx, m, &talk, fresh, &lesson{thread: thread, agent: talk.Agent, folder: at.folder,
		batch: "reading_" + rand.Text(), spend: now.spend})
	if err != nil {
		return nil, fmt.Errorf("read thread %.40q for the memory: %w", thread, err)
	}
	moment := r.cfg.Now().UTC()
	var decide job.ChangedError
	decide = func(ctx context.Context) (func(job.Tx) error, error) {
		e, err := r.apply(ctx, m, l)
		if err != nil {
			return nil, fmt.Errorf("read thread %.40q for the memory: %w", thread, err)
		}
		return func(of job.Tx) error {
			tx := of.Of(name)
			var err error
			if e != nil && !e.empty() {
				err = e.write(tx)
			}
			for _, id := range uses {
				err = exec(err, tx, "use", id, thread, instant(moment))
				err = exec(err, tx, "used", id, instant(moment))
			}
			if err = now.write(err, tx, moment); errors.Is(err, ErrChanged) {
				return decide
			}
			return err
		}, nil
	}
	return decide, nil
}

// learn asks the model what there is to remember. Nil is nothing.
func (r *Reader) learn(ctx context.Context, m *Mine, talk *Talk, fresh []message.Message, l *lesson) (*lesson, error) {
	set := r.Settings()
	l.heard = heard{turns: turnsOf(fresh), tools: results(fresh)}
	humans := slices.ContainsFunc(l.heard.turns, func(t turn) bool { return t.Human })
	if l.set = set.Backend; talk.Off || talk.Model == nil || !set.On() || set.Mode == "tool" || !humans {
		return nil, nil
	}
	signs, err := signalsOf(set.Backend.Patterns)
	if err != nil {
		return nil, err
	}
	hints := signs.in(l.heard.turns)
	l.confirms = slices.Contains(hints, reinforcement)
	e, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	prompt, err := l.prompt(e, hints)
	if err != nil {
		return nil, err
	}
	said, err := l.ask(ctx, talk.Model, prompt)
	if err == nil {
		l.answer, err = parseAnswer(said)
	}
	if err == nil {
		l.untrue, err = l.second(ctx, e, talk.Model)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// apply decides what becomes of what was learned, by the facts that there are now. Nil is nothing.
func (r *Reader) apply(ctx context.Context, m *Mine, l *lesson) (*edit, error) {
	if l == nil {
		return nil, nil
	}
	e, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	if l.apply(e); e.err != nil {
		return nil, e.err
	}
	if r.Left != nil && len(l.left) > 0 {
		r.Left(m.user, l.thread, l.left)
	}
	return e, nil
}

// results are what tools have brought.
func results(msgs []message.Message) (out []string) {
	for _, m := range msgs {
		if m.Role == message.Tool {
			out = append(out, m.Text())
		}
	}
	return out
}

// usesIn are the facts that runs were told.
func usesIn(msgs []message.Message) (ids []string) {
	for _, m := range msgs {
		t, _ := toldIn(m)
		for _, f := range t.Facts {
			if !slices.Contains(ids, f.ID) {
				ids = append(ids, f.ID)
			}
		}
	}
	return ids
}
