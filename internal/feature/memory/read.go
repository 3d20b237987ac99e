package memory

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
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
}

// jobRead is the kind of the jobs; their key is the thread's id.
const jobRead = "memory-read"

// How a thread is read: longest bounds a try, asking one question to the model. What fails is tried again, later each time.
const (
	longest  = 5 * time.Minute
	asking   = 2 * time.Minute
	readings = 5
	pause    = 30 * time.Second
	// keeps is how many times the wait a reading is put off at most by runs that go on.
	keeps = 20
)

// After is what follows the end of a run, by the settings: its thread is read after a while, unless another of its runs ends meanwhile.
// It is for the store to call.
func After(set config.Memory) store.After {
	return func(run store.Run) []store.NewJob {
		if !set.On() || run.Parent != "" {
			return nil
		}
		at := run.UpdatedAt
		return []store.NewJob{{Kind: jobRead, Key: run.ThreadID, NotBefore: at.Add(set.Wait()), Latest: at.Add(keeps * set.Wait())}}
	}
}

// Kinds are the jobs, for a [job.Runner].
func (r *Reader) Kinds() []job.Kind {
	return []job.Kind{{
		Name: jobRead, Slots: 2, Tries: readings, Timeout: longest, Wait: pause,
		Run: func(ctx context.Context, j job.Job) (func(job.Tx) error, error) {
			write, err := r.read(ctx, j.User, j.Key)
			if err != nil || write == nil {
				return nil, err
			}
			return func(tx job.Tx) error { return write(tx.Of(name)) }, nil
		},
	}}
}

// read reads a thread, and returns what is to be written because of it.
func (r *Reader) read(ctx context.Context, u access.User, thread string) (func(database.Tx) error, error) {
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
	now := reading{Thread: thread, Read: lastIDs(talk.Messages)}
	uses := usesIn(fresh)
	e, err := r.learn(ctx, m, &talk, fresh, lesson{thread: thread, agent: talk.Agent, folder: at.folder, batch: "reading_" + rand.Text()})
	if err != nil {
		return nil, fmt.Errorf("read thread %.40q for the memory: %w", thread, err)
	}
	moment := r.cfg.Now().UTC()
	return func(tx database.Tx) error {
		var err error
		if e != nil && !e.empty() {
			err = e.write(tx)
		}
		for _, id := range uses {
			err = exec(err, tx, "use", id, thread, instant(moment))
			err = exec(err, tx, "used", id, instant(moment))
		}
		return now.write(err, tx, moment)
	}, nil
}

// learn asks the model what there is to remember, and decides what becomes of it. Nil is nothing.
func (r *Reader) learn(ctx context.Context, m *Mine, talk *Talk, fresh []message.Message, l lesson) (*edit, error) {
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
	e, err := m.whole(ctx)
	if err != nil {
		return nil, err
	}
	prompt, err := l.prompt(e, hints)
	if err != nil {
		return nil, err
	}
	said, err := ask(ctx, talk.Model, prompt)
	if err == nil {
		l.answer, err = parseAnswer(said)
	}
	if err == nil {
		l.untrue, err = l.second(ctx, e, talk.Model)
	}
	if err != nil {
		return nil, err
	}
	if e, err = m.whole(ctx); err != nil { // the model took its time
		return nil, err
	}
	l.apply(e)
	if r.Left != nil && len(l.left) > 0 {
		r.Left(m.user, l.thread, l.left)
	}
	return e, nil
}

// ask asks the model a question.
func ask(ctx context.Context, m model.ChatModel, prompt string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	off := false
	var b message.Builder
	size := 0
	for c, err := range m.Stream(ctx, &model.Request{Messages: []message.Message{message.New(message.Human, prompt)}, Settings: model.Settings{Thinking: &off}}) {
		if err != nil {
			return "", fmt.Errorf("ask the model what to remember: %w", err)
		}
		b.Add(c)
		if size += len(c.Text) + len(c.Reasoning); size > maxAnswer {
			return "", fmt.Errorf("ask the model what to remember: %w: its answer has more than %d bytes", store.ErrTooLarge, maxAnswer)
		}
	}
	answer := b.Message()
	return answer.Text(), nil
}

//go:embed extract.md
var extractText string

//go:embed second.md
var secondText string

var (
	extractPrompt = template.Must(template.New("extract.md").Parse(extractText))
	secondPrompt  = template.Must(template.New("second.md").Parse(secondText))
)

// knownJSON is what a model is shown of a fact.
type knownJSON struct {
	ID         string  `json:"id"`
	Category   string  `json:"category"`
	Content    string  `json:"content"`
	Confidence float64 `json:"confidence"`
}

// maxShown bounds the facts that a model is shown, the newest.
const maxShown = 200

// prompt is the question to the model.
func (l *lesson) prompt(e *edit, hints []string) (string, error) {
	list := l.inScope(e)
	l.shown, l.stale = make(map[string]bool), make(map[string]bool)
	var facts []knownJSON
	perKind := make(map[string]int)
	for _, f := range list {
		l.shown[f.ID] = true
		perKind[f.Category]++
		facts = append(facts, knownJSON{f.ID, untrusted.Line(f.Category), untrusted.Line(f.Content), f.Confidence})
	}
	var stale, groups []string
	for _, f := range old(list, l.set, e.now) {
		l.stale[f.ID] = true
		stale = append(stale, fmt.Sprintf("%s, of %s: %s", f.ID, f.since().Format(time.DateOnly), untrusted.Line(f.Content)))
	}
	for kind, n := range perKind {
		if l.set.Consolidation && n >= l.set.ConsolidationFacts {
			groups = append(groups, kind)
		}
	}
	slices.Sort(groups)
	known, err := encode(struct {
		Sections
		Facts []knownJSON `json:"facts"`
	}{e.sections, facts})
	if err != nil {
		return "", err
	}
	turns := make([]turn, len(l.heard.turns))
	for i, t := range l.heard.turns {
		turns[i] = turn{Human: t.Human, Text: untrusted.Text(shortened(t.Text))}
	}
	t, err := promptOf(l.set.Prompts, extractPrompt)
	if err != nil {
		return "", err
	}
	return render(t, struct {
		Known, Hints, Groups string
		Stale                []string
		Turns                []turn
	}{untrusted.Text(known), strings.Join(hints, ", "), strings.Join(groups, ", "), stale, turns})
}

// maxPrompt bounds a prompt of one's own, in bytes.
const maxPrompt = 64 << 10

// promptOf is the program's own prompt, or the file of its name in a folder.
func promptOf(folder string, own *template.Template) (*template.Template, error) {
	if folder == "" {
		return own, nil
	}
	raw, err := os.ReadFile(filepath.Join(folder, own.Name()))
	if errors.Is(err, os.ErrNotExist) {
		return own, nil
	}
	var t *template.Template
	if err == nil {
		if err = database.CheckSize("the prompt", len(raw), maxPrompt); err == nil {
			t, err = template.New(own.Name()).Parse(string(raw))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the prompt of the memory in %s: %w", folder, err)
	}
	return t, nil
}

func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSpace(b.String()), err
}

// inScope are the active facts that are told to the thread, the newest.
func (l *lesson) inScope(e *edit) (list []*Fact) {
	for _, f := range e.facts {
		if f.Status == Active && (f.Agent == "" || f.Agent == l.agent) && (f.Folder == "" || f.Folder == l.folder) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *Fact) int { return int(a.seq - b.seq) })
	return list[max(0, len(list)-maxShown):]
}

// second asks once more, about those facts alone that are to go: which of them are untrue now?
func (l *lesson) second(ctx context.Context, e *edit, m model.ChatModel) (map[string]bool, error) {
	type pair struct {
		Number   int
		Old, New string
	}
	var pairs []pair
	var ids []string
	for _, r := range l.Remove {
		f := l.wanted(e, r.ID)
		if f == nil || r.Scope != ofUserScope || slices.Contains(ids, f.ID) {
			continue
		}
		instead := "(the person has taken it back)"
		if r.Replacement != nil {
			if i := *r.Replacement; i < 0 || i >= len(l.Facts) || l.labelled(&l.Facts[i]) != "" {
				continue
			}
			instead = untrusted.Line(l.Facts[*r.Replacement].Content)
		}
		ids = append(ids, f.ID)
		pairs = append(pairs, pair{len(ids), untrusted.Line(f.Content), instead})
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	var said []string
	for _, t := range l.heard.turns {
		if t.Human && t.Own != "" {
			said = append(said, untrusted.Line(shortened(t.Own)))
		}
	}
	t, err := promptOf(l.set.Prompts, secondPrompt)
	var prompt, text string
	if err == nil {
		prompt, err = render(t, struct {
			Pairs []pair
			Said  []string
		}{pairs, said})
	}
	if err == nil {
		text, err = ask(ctx, m, prompt)
	}
	var verdict struct {
		Untrue []int `json:"untrue"`
	}
	if err == nil {
		err = firstObject(thoughts.ReplaceAllString(text, ""), &verdict)
	}
	out := make(map[string]bool)
	for _, n := range verdict.Untrue {
		if n >= 1 && n <= len(ids) {
			out[ids[n-1]] = true
		}
	}
	return out, err
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

// reading is how far a thread was read.
type reading struct {
	Thread string `json:"-"`
	// Read are the ids of the last messages that were read: when some of them are taken back, an older one still tells the place.
	Read []string `json:"read"`
}

// maxRead is how many ids are kept.
const maxRead = 50

func lastIDs(msgs []message.Message) (ids []string) {
	for _, m := range msgs[max(0, len(msgs)-maxRead):] {
		if !conversation.IsNote(m, NoteName) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (m *Mine) reading(ctx context.Context, thread string) (r reading, err error) {
	err = m.db.Read(ctx, "reading", func(row database.Row) (bool, error) {
		var body string
		err := row.Scan(&body)
		if err == nil {
			err = json.Unmarshal([]byte(body), &r)
		}
		return false, err
	}, thread)
	return r, err
}

// write keeps it, unless the thread is gone, or something went wrong before.
func (r *reading) write(err error, tx database.Tx, now time.Time) error {
	body, bad := json.Marshal(r)
	return exec(errors.Join(err, bad), tx, "read", r.Thread, instant(now), database.Plain(string(body)))
}
