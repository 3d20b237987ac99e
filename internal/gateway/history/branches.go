package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Members of the metadata of a thread that is a branch of another, and of one that stands beside another.
const (
	metaBranch     = "deerflow_branch"
	metaParent     = "branch_parent_thread_id"
	metaCheckpoint = "branch_parent_checkpoint_id"
	metaMessage    = "branch_parent_message_id"
	metaCreated    = "branch_created_at"
	metaSidecar    = "deerflow_sidecar"
)

// maxTitle bounds the title of a branch, in characters.
const maxTitle = 256

// title is what a branch is called.
type title string

// ReadFrom implements [route.Reader].
func (t *title) ReadFrom(in *route.Input, name string) {
	*t = title(in.Text(name, 4<<10))
	if utf8.RuneCountInString(string(*t)) > maxTitle {
		in.Add("string_too_long", fmt.Sprintf("String should have at most %d characters", maxTitle),
			route.Quoted(in.Raw(name)), in.Loc(name)...).
			Ctx = map[string]any{"max_length": maxTitle}
	}
}

// moment is when the files are to be from: then, now, or what is the rule if nothing is said.
type moment string

// ReadFrom implements [route.Reader].
func (m *moment) ReadFrom(in *route.Input, name string) {
	if in.Raw(name) != nil {
		*m = moment(in.OneOf(name, "now", runs.FilesThen))
	}
}

// answer is the message that a branch goes on from. One that goes on from a checkpoint needs none.
type answer string

// ReadFrom implements [route.Reader].
func (a *answer) ReadFrom(in *route.Input, name string) {
	if in.Raw("checkpoint_id") != nil {
		*a = answer(in.Str(name))
		return
	}
	var f filled
	f.ReadFrom(in, name)
	*a = answer(f)
}

type branchIn struct {
	Thread  store.Thread `of:"thread"`
	Message answer       `body:"message_id" doc:"the answer that it goes on from; needless with a checkpoint_id"`
	At      string       `body:"checkpoint_id" doc:"the state that it goes on from, in place of an answer"`
	Also    []string     `body:"message_ids" max:"1000"`
	Title   title        `body:"title"`
	Files   moment       `body:"files" doc:"then or now: the files as they were at that turn, or as they are; without it only a branch of the latest turn has any"`
}

// branchJSON says which thread was made, of what, and whether with the files.
type branchJSON struct {
	ThreadID   string `json:"thread_id"`
	Parent     string `json:"parent_thread_id"`
	Checkpoint string `json:"parent_checkpoint_id"`
	Message    string `json:"branched_from_message_id"`
	Clone      string `json:"workspace_clone_mode"`
	Seed       string `json:"history_seed_mode"`
}

// What became of the files.
const (
	cloned        = "current_thread_best_effort"
	notFound      = "not_found"
	cloneFailed   = "failed"
	notOfThatTurn = "skipped_historical_turn"
	ofThatTurn    = "files_of_that_turn"
)

// branch makes a thread that begins with what was said on another one up to an answer. It has the files as they are now
// if that is the last answer.
func (g *Group) branch(ctx context.Context, in *branchIn) (out branchJSON, err error) {
	if string(shape.Members(in.Thread.Metadata)[metaSidecar]) == "true" {
		return out, conflict("Branching is only available in the main conversation.")
	}
	t, err := g.from(ctx, in)
	if err != nil {
		return out, err
	}
	if (t.Last || in.Files != "") && in.Thread.Status == store.ThreadBusy {
		return out, conflict("Thread has work in flight. Branch from this turn after the work finishes.")
	}
	now := g.Now()
	out = branchJSON{
		ThreadID: id.New(now), Parent: in.Thread.ID, Checkpoint: cmp.Or(t.End, in.Thread.Head),
		Message: string(in.Message), Clone: notOfThatTurn, Seed: "seeded",
	}
	to := store.Thread{
		ID: out.ThreadID, Title: cmp.Or(string(in.Title), in.Thread.Title), CreatedAt: now, UpdatedAt: now,
		Metadata: route.Object(map[string]json.RawMessage{metaBranch: json.RawMessage("true")}),
	}
	about := map[string]string{metaParent: out.Parent, metaCheckpoint: out.Checkpoint, metaCreated: shape.Stamp(now)}
	if out.Message != "" {
		about[metaMessage] = out.Message
	}
	to.Metadata = shape.With(to.Metadata, about)
	if t.Last || in.Files != "" {
		out.Clone, err = g.clone(ctx, in, out.Checkpoint, to.ID)
	}
	if err != nil {
		return out, err
	}
	if err = g.Mine(ctx).CopyThread(ctx, in.Thread.ID, out.Checkpoint, to); err == nil {
		err = g.settle(ctx, to)
	}
	return out, err
}

// from is where the branch begins: behind a turn, or at the checkpoint that is named, whichever turn that is in.
func (g *Group) from(ctx context.Context, in *branchIn) (history.Turn, error) {
	if in.At == "" {
		return g.answered(ctx, in)
	}
	if !shape.IsCheckpoint(in.At) || in.At == store.Origin {
		return history.Turn{}, shape.NoCheckpoint(in.At)
	}
	_, err := g.Mine(ctx).Checkpoint(ctx, g.Manager.Schema(), in.Thread.ID, in.At)
	if errors.Is(err, store.ErrNotFound) {
		err = shape.NoCheckpoint(in.At)
	}
	return history.Turn{End: in.At}, err
}

// answered is the turn whose answer the branch goes on from.
func (g *Group) answered(ctx context.Context, in *branchIn) (history.Turn, error) {
	for _, want := range append([]string{string(in.Message)}, in.Also...) {
		t, err := g.mine(ctx).Turn(ctx, in.Thread.ID, want)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return t, err
		}
		for _, m := range t.Answers {
			if m.Kind == message.AI && idOf(m) == want {
				return t, nil
			}
		}
	}
	return history.Turn{}, conflict("This turn can no longer be branched from.")
}

// clone copies the files, as they were at a checkpoint if that is wanted, and says what came of it. A branch without
// them is one all the same.
func (g *Group) clone(ctx context.Context, in *branchIn, checkpoint, to string) (string, error) {
	if g.CloneFiles == nil {
		return notFound, nil
	}
	then, mode := time.Time{}, cloned
	if in.Files == runs.FilesThen {
		cp, err := g.Mine(ctx).Checkpoint(ctx, g.Manager.Schema(), in.Thread.ID, checkpoint)
		if err != nil {
			return "", err
		}
		then, mode = cp.CreatedAt, ofThatTurn
	}
	there, err := g.CloneFiles(ctx, route.Caller(ctx).User, in.Thread.ID, to, then)
	switch {
	case err != nil:
		g.Log.WarnContext(ctx, "a branch has not all files of its thread", "thread", in.Thread.ID, "branch", to,
			"error", err)
		return cloneFailed, nil
	case !there:
		return notFound, nil
	}
	return mode, nil
}

// settle makes the state of a copy that of the new thread: its title, and nothing of where the other one works.
func (g *Group) settle(ctx context.Context, t store.Thread) error {
	cp, err := g.Mine(ctx).Checkpoint(ctx, g.Manager.Schema(), t.ID, "")
	if err != nil {
		return err
	}
	update := threadstate.ThreadData.Delete().With(threadstate.Sandbox.Delete())
	if t.Title != "" {
		update = update.With(threadstate.Title.Put(t.Title))
	}
	next, _, err := cp.State.Apply(update)
	if err != nil {
		return err
	}
	_, err = g.Mine(ctx).Write(ctx, t.ID, store.Step{
		Parent: cp.ID, OnHead: true, Updates: []store.NodeUpdate{{Node: "branch", Update: update}}, State: next,
		Next: cp.Next, Now: g.Now(),
	})
	return err
}
