// Package viewimage shows the model the images that it asked to see. After the results of view_image calls it adds a
// note to the conversation that names their renderings; each time the conversation is sent, the note is sent with the
// images themselves. So an image stays in sight, and no image is ever part of the state. When a note would bring more
// images into sight than a request may hold, the oldest go, several at once: what a provider's cache has is lost
// rarely.
package viewimage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// Config is what the middleware works with.
type Config struct {
	// Files are those of the run's thread.
	Files *sandbox.Files
	// Album has the renderings; nil makes one of the middleware's own.
	Album *picture.Album
}

// NoteName is the name of the notes, and the key of additional_kwargs that marks them.
const NoteName = "deerflow_view_image_context"

const (
	toolName = "view_image"
	idPrefix = "view-image-context:"
	// maxShown is how many images a request holds; one more, and all but keepShown go.
	maxShown, keepShown = 8, 4
)

// unseen lists, by note, the images that are not sent any more: they had to make room, or were not there when they were
// wanted. An image that is listed once stays so, or requests would not continue each other.
var unseen = state.LastValue[map[string][]int]("view_image_unseen").AsPrivate()

// Middleware shows images.
type Middleware struct{ cfg Config }

var (
	_ agent.BeforeModelHook  = (*Middleware)(nil)
	_ agent.ModelCallWrapper = (*Middleware)(nil)
	_ agent.StateProvider    = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	if cfg.Album == nil {
		cfg.Album = picture.NewAlbum(0)
	}
	return &Middleware{cfg: cfg}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "ViewImageMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel { return []state.AnyChannel{unseen} }

// BeforeModel implements [agent.BeforeModelHook]: it adds the note on the images of the last answer's calls. When the
// turn ended with those calls, the note comes in the next one.
func (*Middleware) BeforeModel(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	at := lastAnswer(msgs)
	if at < 0 || !asksToSee(msgs[at]) {
		return agent.Command{}, nil
	}
	id := noteID(msgs[at].ID)
	var refs []picture.Ref
	for _, m := range msgs[at+1:] {
		if strings.HasSuffix(m.ID, id) { // which begins like that of every hidden message
			return agent.Command{}, nil
		}
		if raw := m.Kwargs[picture.KeyRef]; m.Role == message.Tool && m.Name == toolName && raw != nil {
			var ref picture.Ref
			if json.Unmarshal(raw, &ref) == nil {
				refs = append(refs, ref)
			}
		}
	}
	if len(refs) == 0 {
		return agent.Command{}, nil
	}
	n, err := note(id, refs)
	if err != nil {
		return agent.Command{}, fmt.Errorf("note images: %w", err)
	}
	update := agent.Messages.Append(n)
	if gone, changed := makeRoom(append(slices.Clip(msgs), n), unseen.Get(s)); changed {
		update = update.With(unseen.Put(gone))
	}
	return agent.Command{Update: update}, nil
}

func lastAnswer(msgs []message.Message) int {
	for i, m := range slices.Backward(msgs) {
		if m.Role == message.AI {
			return i
		}
	}
	return -1
}

func asksToSee(m message.Message) bool {
	return slices.ContainsFunc(m.ToolCalls, func(c message.ToolCall) bool { return c.Name == toolName })
}

// noteID is made of the answer's, so that a hook that runs again makes the same note.
func noteID(answerID string) string {
	sum := sha256.Sum256([]byte(answerID))
	return idPrefix + hex.EncodeToString(sum[:16])
}

func note(id string, refs []picture.Ref) (message.Message, error) {
	raw, err := json.Marshal(refs)
	if err != nil {
		return message.Message{}, err
	}
	var b strings.Builder
	b.WriteString("The images that you asked to see, in this order:")
	for i, r := range refs {
		fmt.Fprintf(&b, "\n%d. %s, %d×%d pixels", i+1, untrusted.Line(r.Path), r.FromWidth, r.FromHeight)
		if r.Width != r.FromWidth || r.Height != r.FromHeight {
			fmt.Fprintf(&b, ", shown at %d×%d", r.Width, r.Height)
		}
	}
	n := conversation.Note(id, NoteName, b.String())
	n.Kwargs[NoteName], n.Kwargs[picture.KeyRefs] = json.RawMessage("true"), raw
	return n, nil
}

// noted returns the images of a note; nil for any other message.
func noted(m message.Message) []picture.Ref {
	if !isNote(m) || m.Kwargs[picture.KeyRefs] == nil {
		return nil
	}
	var refs []picture.Ref
	_ = json.Unmarshal(m.Kwargs[picture.KeyRefs], &refs) // a note that cannot be read shows nothing
	return refs
}

// makeRoom returns what is unseen once the last message, a note, is there. What it said of notes that are gone is
// forgotten.
func makeRoom(msgs []message.Message, old map[string][]int) (map[string][]int, bool) {
	type shown struct {
		note  string
		image int
	}
	var all []shown
	gone := make(map[string][]int)
	newest := 0
	for _, m := range msgs {
		refs := noted(m)
		if hidden := old[m.ID]; len(refs) > 0 && len(hidden) > 0 {
			gone[m.ID] = hidden
		}
		newest = len(refs)
		for i := range refs {
			if !slices.Contains(old[m.ID], i) {
				all = append(all, shown{m.ID, i})
			}
		}
	}
	if len(all) > maxShown {
		stay := min(maxShown, max(keepShown, newest))
		for _, s := range all[:len(all)-stay] {
			gone[s.note] = append(slices.Clip(gone[s.note]), s.image)
		}
	}
	return gone, !maps.EqualFunc(gone, old, slices.Equal)
}
