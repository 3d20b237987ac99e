// Package uploads tells the model of files that the user sent. When a message comes in, and before it is sent anywhere,
// a block with the new files is put in front of the user's words and stays there, so that later requests begin as the
// first one did. A file is announced once; a file that changed counts as new.
//
// New is what the disk has and no message has announced: the files that the message names and those that came another
// way since the turn before. Names, sizes and paths are the disk's; of what a client says about a file the name alone
// is looked at.
package uploads

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/uploaded"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// maxKnown bounds the files that are looked at, the newest first: older ones are not announced by themselves.
const maxKnown = 1000

// Config is what the middleware works with.
type Config struct {
	// Files are the thread's. Required.
	Files *sandbox.Files
}

// Middleware announces uploads.
type Middleware struct{ files *sandbox.Files }

var (
	_ agent.BeforeAgentHook = (*Middleware)(nil)
	_ agent.StateProvider   = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware { return &Middleware{cfg.Files} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "UploadsMiddleware" }

// known is what was announced, so that nothing is announced twice, however often the hook runs.
var known = state.LastValue[*announced](KnownChannel).AsPrivate()

// KnownChannel is the name of the channel that says which versions of files were announced. It speaks of files on this
// machine; without it, what messages have announced counts as known.
const KnownChannel = "uploads_known"

// seen is the mark of the newest message of the user's that this middleware has looked at. Such a message may have been
// sent, also if nobody answered it: it is never changed again.
var seen = state.LastValue[string]("uploads_seen").AsPrivate()

type announced struct {
	// Files are the versions of the announced files that are still there, by name. An empty version is one that an
	// earlier program announced: any fits.
	Files map[string]string `json:"files,omitempty"`
}

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel {
	return []state.AnyChannel{threadstate.UploadedFiles, known, seen}
}

// BeforeAgent implements [agent.BeforeAgentHook].
func (m *Middleware) BeforeAgent(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	before, msgs := known.Get(s), agent.Messages.Get(s)
	if before == nil {
		before = &announced{Files: announcedEarlier(msgs)}
	}
	fresh, was := incoming(msgs, seen.Get(s)), threadstate.UploadedFiles.Get(s)
	if len(fresh) == 0 {
		if was != nil {
			return agent.Command{}, nil
		}
		return agent.Command{Update: threadstate.UploadedFiles.Put([]threadstate.UploadedFile{})}, nil
	}
	found := m.look(fresh, before.Files)
	block := found.block(m.files)
	update, last := rewrite(fresh, block)
	update = update.With(seen.Put(mark(last)))
	after := announced{found.versions()}
	if block != "" || !maps.Equal(before.Files, after.Files) {
		update = update.With(known.Put(&after))
	}
	if now := found.state(); was == nil || len(was)+len(now) > 0 {
		update = update.With(threadstate.UploadedFiles.Put(now))
	}
	return agent.Command{Update: update}, nil
}

// incoming returns the user's messages that nobody answered and this middleware has not seen, oldest first.
func incoming(msgs []message.Message, seen string) (fresh []message.Message) {
	for _, m := range slices.Backward(msgs) {
		if m.Role == message.AI || m.Role == message.Tool || seen != "" && conversation.IsUser(m) && mark(m) == seen {
			break
		}
		if conversation.IsUser(m) {
			fresh = append(fresh, m)
		}
	}
	slices.Reverse(fresh)
	return fresh
}

// announcedEarlier are the files of a conversation that another program led: those that its messages name, but for the
// messages that nobody answered yet.
func announcedEarlier(msgs []message.Message) map[string]string {
	files := make(map[string]string)
	end := len(msgs)
	for end > 0 && msgs[end-1].Role != message.AI && msgs[end-1].Role != message.Tool {
		end--
	}
	for _, m := range msgs[:end] {
		if m.Role != message.Human || m.Kwargs[keyFiles] == nil {
			continue
		}
		for _, name := range filesOf(m) {
			files[name] = ""
		}
	}
	return files
}

// rewrite takes away what clients put into the messages in this middleware's name, and puts the block before the text
// of the newest one, which it returns.
func rewrite(fresh []message.Message, block string) (update state.Update, last message.Message) {
	for i, m := range fresh {
		own, changed := bare(m)
		if i == len(fresh)-1 && block != "" {
			own, changed = withBlock(own, block), true
		}
		if changed {
			update = update.With(agent.Messages.Replace(own))
		}
		last = own
	}
	return update, last
}

// mark is another one for another message, and for one of another text, or of which another part is the user's. A
// message to which a date was added keeps its mark.
func mark(m message.Message) string {
	h := sha256.New()
	for _, p := range m.Content {
		_, _ = io.WriteString(h, p.Text+"\x00")
	}
	own, _ := rawjson.String(m.Kwargs[conversation.KeyUserContent])
	_, _ = io.WriteString(h, own)
	return hex.EncodeToString(h.Sum(nil)[:8]) + " " + m.ID
}

// withBlock returns the message with a text before its own, and its own text kept aside.
func withBlock(m message.Message, block string) message.Message {
	own := m.Text()
	m.Kwargs = maps.Clone(m.Kwargs)
	if m.Kwargs == nil {
		m.Kwargs = message.Fields{}
	}
	raw, _ := json.Marshal(own)
	m.Kwargs[conversation.KeyUserContent] = raw
	if !m.List && len(m.Content) == 1 && m.Content[0].Type == message.PartText && len(m.Content[0].Extra) == 0 {
		m.Content = []message.Part{message.Text(block + own)}
		return m
	}
	m.Content = append([]message.Part{message.Text(block)}, m.Content...)
	return m
}

// state is the value of the channel that clients see: first the files that the block describes. It is bounded.
func (f found) state() []threadstate.UploadedFile {
	all := slices.Concat(f.fresh, f.again)
	all = all[:min(len(all), maxNamed)]
	list := make([]threadstate.UploadedFile, len(all))
	for i, file := range all {
		list[i] = file.State()
	}
	return list
}

// versions is what counts as announced from now on. Files that are gone are forgotten: one that comes back is new.
func (f found) versions() map[string]string {
	files := make(map[string]string, len(f.all))
	for _, file := range slices.Concat(f.all, f.fresh, f.again) {
		files[file.Name] = file.Version()
	}
	return files
}

// look compares the uploads folder with what was announced. A folder that cannot be listed has only the files that the
// messages name.
func (m *Middleware) look(fresh []message.Message, before map[string]string) (f found) {
	named := make(map[string]bool)
	for _, msg := range fresh {
		for _, name := range filesOf(msg) {
			if !named[name] {
				named[name] = true
				f.name(m.files, name, before)
			}
		}
	}
	all, err := uploaded.List(m.files)
	if err != nil {
		return f
	}
	for _, file := range all[:min(len(all), maxKnown)] {
		if file.Size == 0 && !named[file.Name] {
			continue // it may still be on its way
		}
		f.all = append(f.all, file)
		if !named[file.Name] && !isKnown(file, before) {
			f.fresh = append(f.fresh, file)
		}
	}
	return f
}

func isKnown(file uploaded.File, before map[string]string) bool {
	version, ok := before[file.Name]
	return ok && (version == "" || version == file.Version())
}

// found is what there is to say about the uploads.
type found struct {
	fresh, again []uploaded.File
	missing      []string // named, but not there
	all          []uploaded.File
}

// name sorts in a file that the user's message names.
func (f *found) name(files *sandbox.Files, name string, before map[string]string) {
	file, ok := uploaded.Find(files, name)
	switch {
	case !ok:
		f.missing = append(f.missing, name)
	case isKnown(file, before):
		f.again = append(f.again, file)
	default:
		f.fresh = append(f.fresh, file)
	}
}
