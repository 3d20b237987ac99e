package memory

import (
	"bytes"
	"context"
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

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/internal/lib/words"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// ask asks the model a question.
func (l *lesson) ask(ctx context.Context, m model.ChatModel, prompt string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	off := false
	var b message.Builder
	size := 0
	for c, err := range m.Stream(ctx, &model.Request{Messages: []message.Message{message.New(message.Human, prompt)},
		Settings: model.Settings{Thinking: &off}}) {
		if err != nil {
			return "", fmt.Errorf("ask the model what to remember: %w", err)
		}
		b.Add(c)
		if size += len(c.Text) + len(c.Reasoning); size > maxAnswer {
			return "", fmt.Errorf("ask the model what to remember: %w: its answer has more than %d bytes",
				store.ErrTooLarge, maxAnswer)
		}
	}
	answer := b.Message()
	if answer.Usage != nil {
		l.spend(m.Name(), *answer.Usage)
	}
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

// A model is shown at most maxShown facts: first those that have words of the person in common, of the oldest a few,
// which may have outlived their time, and then the newest.
const (
	maxShown  = 200
	maxOldest = 40
	maxAlike  = 100
	// maxTerms bounds the words that are looked for, maxAsked those of which is asked whether facts have them; common
	// is how many facts are too many for a word.
	maxTerms = 100
	maxAsked = 5000
	common   = 500
)

// prompt is the question to the model.
func (l *lesson) prompt(e *edit, hints []string) (string, error) {
	list := l.inScope(e)
	if e.err != nil {
		return "", e.err
	}
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
		stale = append(stale, fmt.Sprintf("%s, of %s: %s", f.ID, f.since().Format(time.DateOnly),
			untrusted.Line(f.Content)))
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

// inScope are the active facts that are told to the thread, the oldest first; of many those that matter.
func (l *lesson) inScope(e *edit) []*Fact {
	told := func(f *Fact) bool {
		return f.Status == Active && (f.Agent == "" || f.Agent == l.agent) && (f.Folder == "" || f.Folder == l.folder)
	}
	const newest, oldest = -1, 1
	terms, _ := json.Marshal(l.terms(e)) // of strings it never fails
	e.look("alike", l.agent, l.folder, string(terms), maxAlike)
	first := e.those(told, "ordered", l.agent, l.folder, oldest, maxOldest)
	list := e.those(told, "ordered", l.agent, l.folder, newest, maxShown)
	over := len(list) - maxShown
	return slices.DeleteFunc(list, func(f *Fact) bool {
		if over <= 0 || slices.Contains(first, f) {
			return false
		}
		over--
		return true
	})
}

// terms are the words of the person that not too many facts have.
func (l *lesson) terms(e *edit) []string {
	said := make(map[string]bool)
	asked, found := []string{}, []string{}
	for _, t := range l.heard.turns {
		if !t.Human {
			continue
		}
		for _, term := range words.Index(t.Own) {
			if !said[term] && len(asked) < maxAsked {
				said[term], asked = true, append(asked, term)
			}
		}
	}
	list, _ := json.Marshal(asked) // of strings it never fails
	e.read("uncommon", func(r database.Row) (bool, error) {
		var term string
		err := r.Scan(&term)
		found = append(found, term)
		return true, err
	}, string(list), common, maxTerms)
	return found
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
		text, err = l.ask(ctx, m, prompt)
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
