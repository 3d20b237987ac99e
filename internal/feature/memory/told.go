package memory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"text/template"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Last is what a thread was last told; [LastTold] reads it in the thread's messages. The zero value was told nothing.
type Last struct {
	// Begun says that it was told something, and be it that nothing is remembered any more.
	Begun bool `json:"-"`
	// Revision is that of the user's memory then, Folder the folder that the thread was in.
	Revision int    `json:"revision"`
	Folder   string `json:"folder,omitempty"`
	// Sections is the digest of the summaries that it knows.
	Sections string `json:"sections,omitempty"`
	// Facts are the revisions of those that it knows, by their ids; nil if what it was told is out of its model's
	// sight.
	Facts map[string]int `json:"-"`
}

// OutOfSight reports whether all that was told has to be told again.
func (l Last) OutOfSight() bool { return l.Begun && l.Facts == nil }

// Note is what a thread is to be told now.
type Note struct {
	// Text is empty if there is nothing new.
	Text  string
	Facts []Told
	// Whole says that it takes the place of what was told before.
	Whole bool
	// next is what the thread was told then.
	next Last
}

// Told is a fact that a run was told.
type Told struct {
	ID       string `json:"id"`
	Revision int    `json:"revision"`
	Content  string `json:"content"`
	// Why says why it was told, Run at whose beginning.
	Why string `json:"why"`
	Run string `json:"-"`
	// Now is how the fact stands: its status, "changed" or "forgotten".
	Now string `json:"-"`
}

// maxTold bounds the facts that are looked at for a note: more have no room in it.
const maxTold = 1500

// Note says what a thread is to be told that was last told something: all at first, later what is new. Nothing that was
// told is written anew, so that the requests of a thread begin alike: where something changed or went, all is told once
// more. A temporary thread is told nothing.
func (m *Mine) Note(ctx context.Context, thread, agent string, last Last) (n Note, err error) {
	r, err := m.record(ctx)
	if err != nil || r.Revision == 0 {
		return Note{}, err
	}
	at, err := m.place(ctx, thread)
	if err != nil || at.marks&store.Temporary != 0 || r.Revision == last.Revision && at.folder == last.Folder {
		return Note{}, err
	}
	set := m.all.Settings()
	var list []Fact
	if set.Mode != "tool" { // else the model looks for facts itself
		if list, err = m.read(ctx, "told", agent, at.folder, maxTold); err != nil {
			return Note{}, fmt.Errorf("read memory: %w", err)
		}
	}
	return tell(choose(list, set.Backend), &r.Sections, set.Backend, Last{Revision: r.Revision, Folder: at.folder},
		last)
}

// place is where a thread stands.
type place struct {
	marks  store.Marks
	folder string
}

// place reads it; of a thread that is not there it has nothing.
func (m *Mine) place(ctx context.Context, thread string) (p place, err error) {
	err = m.db.Read(ctx, "place", func(row database.Row) (bool, error) { return false, row.Scan(&p.marks, &p.folder) },
		thread)
	return p, err
}

// tell makes the note for those facts and summaries.
func tell(list []Fact, s *Sections, set config.MemoryBackend, next, last Last) (n Note, err error) {
	next.Facts = make(map[string]int)
	var lines []string
	for _, f := range list {
		next.Facts[f.ID] = f.Revision
		n.Facts = append(n.Facts, Told{ID: f.ID, Revision: f.Revision, Content: f.Content, Why: why(&f, set)})
		lines = append(lines, line(&f))
	}
	groups := summaries(s, set.MaxTokens-used(lines))
	next.Sections = digest(groups)
	n.next = next
	if fresh, same := news(next, last); same && last.Facts != nil {
		n.Facts = slices.DeleteFunc(n.Facts, func(t Told) bool { return !fresh[t.ID] })
		var added []string
		for i, f := range list {
			if fresh[f.ID] {
				added = append(added, lines[i])
			}
		}
		if len(added) > 0 {
			n.Text, err = render(addedNote, added)
		}
		return n, err
	}
	if len(lines) > 0 {
		groups = append(groups, group{"Facts", lines})
	}
	if len(groups) == 0 && !last.Begun {
		return n, nil
	}
	n.Whole = true
	n.Text, err = render(wholeNote, struct {
		Again, Empty bool
		Groups       []group
	}{last.Begun, len(groups) == 0, groups})
	return n, err
}

// news are the facts that were not told yet; same says that nothing else differs.
func news(next, last Last) (fresh map[string]bool, same bool) {
	fresh = make(map[string]bool)
	same = next.Sections == last.Sections
	for id, revision := range next.Facts {
		was, known := last.Facts[id]
		fresh[id] = !known
		same = same && (!known || was == revision)
	}
	for id := range last.Facts {
		_, still := next.Facts[id]
		same = same && still
	}
	return fresh, same
}

// choose are the facts that there is room for, those of guaranteed categories first, then the surest.
func choose(list []Fact, set config.MemoryBackend) (out []Fact) {
	slices.SortFunc(list, func(a, b Fact) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.seq, a.seq))
	})
	left, reserved := set.MaxTokens, set.GuaranteedBudget
	var rest []Fact
	for _, f := range list {
		n := tokens.Text(line(&f)) + 2
		if slices.Contains(set.Guaranteed, f.Category) && n <= reserved {
			reserved -= n
			out = append(out, f)
		} else {
			rest = append(rest, f)
		}
	}
	for _, f := range rest {
		if n := tokens.Text(line(&f)) + 2; n <= left {
			left -= n
			out = append(out, f)
		}
	}
	return out
}

// line is a fact as the model reads it: no tag in it survives.
func line(f *Fact) string {
	s := fmt.Sprintf("[%s | %.2f] %s", untrusted.Line(f.Category), f.Confidence, untrusted.Line(f.Content))
	if f.SourceError != "" {
		s += " (avoid: " + untrusted.Line(f.SourceError) + ")"
	}
	return s
}

// why says why a fact is told.
func why(f *Fact, set config.MemoryBackend) string {
	whom := "for all threads"
	switch {
	case f.Folder != "":
		whom = "for the threads of its folder"
	case f.Agent != "":
		whom = "for the agent " + f.Agent
	}
	if slices.Contains(set.Guaranteed, f.Category) {
		return fmt.Sprintf("%s: told first; %s", f.Category, whom)
	}
	return fmt.Sprintf("confidence %.2f, and there was room; %s", f.Confidence, whom)
}

func used(lines []string) (n int) {
	for _, l := range lines {
		n += tokens.Text(l) + 2
	}
	return n
}

// group is a part of a note.
type group struct {
	Title string
	Lines []string
}

// summaries are those that there is room for.
func summaries(s *Sections, room int) (out []group) {
	for _, g := range []struct {
		title string
		lines [][2]string
	}{
		{"User Context", [][2]string{{"Work", s.User.Work.Summary}, {"Personal", s.User.Personal.Summary},
			{"Current Focus", s.User.Top.Summary}}},
		{"History", [][2]string{
			{"Recent", s.History.Recent.Summary}, {"Earlier", s.History.Earlier.Summary},
			{"Background", s.History.Background.Summary},
		}},
	} {
		var lines []string
		for _, l := range g.lines {
			text := untrusted.Line(l[1])
			if n := tokens.Text(text) + 4; text != "" && n <= room {
				room -= n
				lines = append(lines, l[0]+": "+text)
			}
		}
		if len(lines) > 0 {
			out = append(out, group{g.title, lines})
		}
	}
	return out
}

// digest tells whether summaries have changed; empty for none.
func digest(groups []group) string {
	if len(groups) == 0 {
		return ""
	}
	raw, _ := json.Marshal(groups)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

//go:embed note.md
var wholeText string

//go:embed added.md
var addedText string

var (
	wholeNote = template.Must(template.New("note.md").Parse(wholeText))
	addedNote = template.Must(template.New("added.md").Parse(addedText))
)

func render(t *template.Template, data any) (string, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("write the note of the memory: %w", err)
	}
	return string(bytes.TrimSpace(b.Bytes())), nil
}

// NoteName names the messages that tell of the memory.
const NoteName = "memory"

// told is what a message of the memory keeps beside its text.
type told struct {
	Last

	Run   string `json:"run_id"`
	Whole bool   `json:"whole,omitempty"`
	Facts []Told `json:"told"`
}

// Message is the note as a message of a run, which people do not see.
func (n *Note) Message(id, run string) (message.Message, error) {
	raw, err := json.Marshal(told{n.next, run, n.Whole, n.Facts})
	msg := conversation.Note(id, NoteName, n.Text)
	msg.Kwargs[conversation.KeyMemory] = raw
	return msg, err
}

// toldIn reads a message of the memory.
func toldIn(m message.Message) (t told, ok bool) {
	return t, conversation.IsNote(m, NoteName) && json.Unmarshal(m.Kwargs[conversation.KeyMemory], &t) == nil
}

// LastTold is what a thread was last told whose model sees its messages from an index on.
func LastTold(msgs []message.Message, from int) (last Last) {
	begun := slices.ContainsFunc(msgs, func(m message.Message) bool { return conversation.IsNote(m, NoteName) })
	if !begun {
		return Last{}
	}
	for _, m := range msgs[from:] {
		t, is := toldIn(m)
		if is && t.Whole {
			last.Facts = make(map[string]int)
		}
		if !is || last.Facts == nil { // what came before it is out of sight
			continue
		}
		t.Last.Facts = last.Facts
		last = t.Last
		for _, f := range t.Facts {
			last.Facts[f.ID] = f.Revision
		}
	}
	last.Begun = true
	return last
}

// LastOf is the newest checkpoint of a run, which has the messages that the run left; empty if it has none.
func (m *Mine) LastOf(ctx context.Context, run string) (checkpoint string, err error) {
	err = m.db.Read(ctx, "lastofrun", func(row database.Row) (bool, error) { return false, row.Scan(&checkpoint) }, run)
	return checkpoint, err
}

// Why are the facts that a run knew of at the end of messages: those that it was told, and those that runs before it
// were. How each stands now is said beside it; of one that was forgotten nothing else is.
func (m *Mine) Why(ctx context.Context, msgs []message.Message) ([]Told, error) {
	list := []Told{}
	for _, msg := range msgs {
		t, is := toldIn(msg)
		if is && t.Whole {
			list = []Told{}
		}
		for _, f := range t.Facts {
			f.Run = t.Run
			list = append(slices.DeleteFunc(list, func(o Told) bool { return o.ID == f.ID }), f)
		}
	}
	for i := range list {
		t := &list[i]
		found, err := m.read(ctx, "fact", t.ID)
		switch {
		case err != nil:
			return nil, fmt.Errorf("tell why: %w", err)
		case len(found) == 0:
			t.Content, t.Now = "", "forgotten"
		case found[0].Status == Active && found[0].Revision != t.Revision:
			t.Now = "changed"
		default:
			t.Now = found[0].Status
		}
	}
	return list, nil
}
