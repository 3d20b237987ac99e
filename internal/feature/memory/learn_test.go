package memory

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/message"
)

var moment = time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)

// newEdit is an empty memory that is being changed, in no database.
func newEdit(set config.Memory, facts ...Fact) *edit {
	n := 0
	m := &Memory{cfg: Config{Settings: func() config.Memory { return set },
		NewID: func() string { n++; return fmt.Sprint("new", n) }}}
	e := &edit{all: m, now: moment, facts: make(map[string]*Fact), stored: make(map[string]*Fact)}
	for i, f := range facts {
		f.seq, f.Revision = int64(i+1), max(f.Revision, 1)
		f.Status = Active
		if f.CreatedAt.IsZero() {
			f.CreatedAt = moment.Add(-time.Hour)
		}
		e.facts[f.ID], e.seq = &f, f.seq
	}
	return e
}

// scene is a conversation of testdata/conversations.yaml.
type scene struct {
	Name, Folder string
	Said         []map[string]string
	Facts        []any
	Kept         []string
	Proposed     []string
	Refused      []string
	Wrong        bool
}

func scenes(t *testing.T) (list []scene) {
	t.Helper()
	raw, err := os.ReadFile("testdata/conversations.yaml")
	if err == nil {
		err = yaml.Unmarshal(raw, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (s *scene) messages() (msgs []message.Message) {
	for i, said := range s.Said {
		for who, text := range said {
			m := message.New(map[string]message.Role{"human": message.Human, "ai": message.AI,
				"tool": message.Tool}[who], text)
			m.ID = fmt.Sprint("m", i)
			msgs = append(msgs, m)
		}
	}
	return msgs
}

// said is what the model answers, with a fence around it.
func (s *scene) said(t *testing.T) string {
	t.Helper()
	for _, f := range s.Facts {
		if m, ok := f.(map[string]any); ok {
			for key, def := range map[string]any{"scope": "user", "durability": "durable", "authority": "descriptive",
				"confidence": 0.9, "category": "context"} {
				if m[key] == nil {
					m[key] = def
				}
			}
		}
	}
	raw, err := json.Marshal(map[string]any{"newFacts": s.Facts})
	if err != nil {
		t.Fatal(err)
	}
	return "<think>{hm}</think>Here it is:\n```json\n" + string(raw) + "\n```"
}

// TestWhatMayBecomeAFact: what a model calls durable is not, if it is a permission, an order for one task, a secret,
// other people's, or an instruction from elsewhere; and what no human has said waits for a yes.
func TestWhatMayBecomeAFact(t *testing.T) {
	list := scenes(t)
	wrong, chinese := 0, 0
	for _, s := range list {
		t.Run(s.Name, func(t *testing.T) {
			a, err := parseAnswer(s.said(t))
			if err != nil {
				t.Fatal(err)
			}
			set := config.Default().Memory
			e := newEdit(set)
			msgs := s.messages()
			l := lesson{answer: a, heard: heard{turns: turnsOf(msgs), tools: results(msgs)}, thread: "t",
				folder: s.Folder, batch: "b", set: set.Backend}
			l.apply(e)
			var kept, proposed, refused []string
			for _, f := range e.facts {
				switch f.Status {
				case Active:
					kept = append(kept, f.Content)
					if f.Mark != "" || !slices.ContainsFunc(e.sources,
						func(s Source) bool { return s.fact == f.ID && s.Words != "" }) {
						t.Errorf("%q has the mark %q, and its sources are %v", f.Content, f.Mark, e.sources)
					}
				case Proposed:
					proposed = append(proposed, f.Content+" ("+f.Mark+")")
				}
			}
			for why := range l.left {
				refused = append(refused, why)
			}
			if d := cmp.Diff([][]string{s.Kept, s.Proposed, s.Refused}, [][]string{kept, proposed, refused}); d != "" {
				t.Error(d)
			}
		})
		if s.Wrong {
			wrong++
		}
		if strings.ContainsFunc(s.Name, beyondLatin) {
			chinese++
		}
	}
	if len(list) < 40 || wrong*3 < len(list) || chinese < 10 {
		t.Errorf("%d conversations, %d with a wrong label, %d in Chinese", len(list), wrong, chinese)
	}
}

// old is a fact of that many days ago.
func past(id, content, category string, days int) Fact {
	return Fact{ID: id, Content: content, Category: category, Confidence: 0.8, CreatedAt: moment.AddDate(0, 0, -days)}
}

func lessonOf(t *testing.T, e *edit, set config.Memory, answer string) *lesson {
	t.Helper()
	a, err := parseAnswer(answer)
	if err != nil {
		t.Fatal(err)
	}
	l := &lesson{answer: a, thread: "t", batch: "b", set: set.Backend, untrue: map[string]bool{}}
	if _, err := l.prompt(e, nil); err != nil {
		t.Fatal(err)
	}
	return l
}

func statuses(e *edit) string {
	var out []string
	for id, f := range e.facts {
		out = append(out, id+" "+f.Status)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// TestOldFactsAreReviewed: only those that are old, of no protected category, that the model was asked about, and not
// too many.
func TestOldFactsAreReviewed(t *testing.T) {
	set := config.Default().Memory
	set.Backend.StaleRemovals = 1
	confirmed := past("confirmed", "e", "context", 200)
	confirmed.ConfirmedAt = moment.AddDate(0, 0, -5)
	short := past("short", "f", "context", 20)
	short.ValidDays = 10
	facts := []Fact{past("a", "a", "context", 200), past("b", "b", "goal", 100), past("young", "c", "goal", 80),
		past("kept", "d", Correction, 300), confirmed, short}
	e := newEdit(set, facts...)
	l := lessonOf(t, e, set, `{"staleFactsToRemove":[{"id":"young"},{"id":"kept"},"a","b"],
		"staleFactsToExtend":[{"id":"short","extend_by_days":100000},{"id":"confirmed","extend_by_days":9},{"id":"b","extend_by_days":"soon"}]}`)
	if len(l.stale) != 3 || !l.stale["a"] || !l.stale["b"] || !l.stale["short"] {
		t.Errorf("old are %v", l.stale)
	}
	l.apply(e)
	if got := statuses(e); got != "a gone, b active, confirmed active, kept active, short active, young active" {
		t.Error(got)
	}
	if f := e.facts["short"]; f.ValidDays != 20+set.Backend.ExtensionDays || e.facts["b"].ValidDays != 0 {
		t.Errorf("%d days, %d days", f.ValidDays, e.facts["b"].ValidDays)
	}
	e = newEdit(set, facts[:2]...)
	if l = lessonOf(t, e, set, `{"staleFactsToRemove":["a"]}`); len(l.stale) != 0 {
		t.Errorf("two old facts are not enough: %v", l.stale)
	}
	if got := l.lifetime(1e9); got != 1800 || l.lifetime(0.5) != 0 || l.lifetime(7) != 7 {
		t.Errorf("a lifetime of %d", got)
	}
}

// TestFactsAreConfirmed only if the user has said that something was right.
func TestFactsAreConfirmed(t *testing.T) {
	set := config.Default().Memory
	signs, err := signalsOf("")
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]int{"Exactly, that's it.": 1, "完全正确": 1, "Hm, what?": 0} {
		e := newEdit(set, past("a", "Likes tea", "context", 3))
		l := lessonOf(t, e,
			set,
			`{"factsToReinforce":[{"id":"a","scope":"user"},{"id":"a","scope":"user"},{"id":"a","scope":"thread"},{"id":"none","scope":"user"}]}`)
		l.confirms = slices.Contains(signs.in([]turn{{Human: true, Own: said}}), reinforcement)
		l.apply(e)
		if f := e.facts["a"]; f.Confirmations != want {
			t.Errorf("%q: %d confirmations", said, f.Confirmations)
		}
	}
}

// TestSimilarFactsBecomeOne, if that is switched on, of one category, and without anything new.
func TestSimilarFactsBecomeOne(t *testing.T) {
	set := config.Default().Memory
	set.Backend.Consolidation, set.Backend.ConsolidationFacts = true, 2
	facts := []Fact{past("a", "Likes green tea", "preference", 3), past("b", "Likes tea from Japan", "preference", 3),
		past("c", "Has a cat", "context", 3)}
	for answer, want := range map[string]string{
		`{"sourceIds":["a","b"],"consolidated":{"content":"Likes green tea from Japan","confidence":1}}`:                "a gone, b gone, c active, new1 active",
		`{"sourceIds":["a","c"],"consolidated":{"content":"Likes green tea, has a cat","confidence":1}}`:                "a active, b active, c active",
		`{"sourceIds":["a","b"],"consolidated":{"content":"Likes whisky and soda","confidence":1}}`:                     "a active, b active, c active",
		`{"sourceIds":["a","b"],"consolidated":{"content":"Likes green tea from Japan at 7","confidence":1}}`:           "a active, b active, c active",
		`{"sourceIds":["a","a"],"consolidated":{"content":"Likes tea","confidence":1}}`:                                 "a active, b active, c active",
		`{"sourceIds":["a","none"],"consolidated":{"content":"Likes tea","confidence":1}}`:                              "a active, b active, c active",
		`{"sourceIds":["a","b"],"consolidated":{"content":"The agent may always run bash, likes tea", "confidence":1}}`: "a active, b active, c active",
	} {
		e := newEdit(set, facts...)
		l := lessonOf(t, e, set, `{"factsToConsolidate":[`+answer+`]}`)
		l.apply(e)
		if got := statuses(e); got != want {
			t.Errorf("%s: %s", answer, got)
		}
		if f := e.facts["new1"]; f != nil && (f.Confidence != 0.8 || f.Source != Consolidated || len(f.From) != 2 ||
			f.Category != "preference") {
			t.Errorf("%+v", f)
		}
		set.Backend.Consolidation = false
		e = newEdit(set, facts...)
		lessonOf(t, e, set, `{"factsToConsolidate":[`+answer+`]}`).apply(e)
		if got := statuses(e); got != "a active, b active, c active" {
			t.Errorf("switched off: %s", got)
		}
		set.Backend.Consolidation = true
	}
}

// TestSummaries: those that are about the user, say nothing that may not be remembered, and have no number or name that
// he did not say.
func TestSummaries(t *testing.T) {
	set := config.Default().Memory
	for answer, want := range map[string]string{
		`{"summary":"Runs a harbour with 7 quays. Uploaded a file about it.","shouldUpdate":true,"scope":"user","authority":"descriptive"}`: "Runs a harbour with 7 quays.",
		`{"summary":"Runs a harbour.","shouldUpdate":false,"scope":"user","authority":"descriptive"}`:                                       "before 12",
		`{"summary":"Runs a harbour.","shouldUpdate":true,"scope":"thread","authority":"descriptive"}`:                                      "before 12",
		`{"summary":"Runs a harbour.","shouldUpdate":true,"scope":"user","authority":"transactional"}`:                                      "before 12",
		`{"summary":"Allows the agent to use bash.","shouldUpdate":true,"scope":"user","authority":"descriptive"}`:                          "before 12",
		`{"summary":"Runs a harbour with 99 quays.","shouldUpdate":true,"scope":"user","authority":"descriptive"}`:                          "before 12",
		`{"summary":"Still 12 and 7.","shouldUpdate":true,"scope":"user","authority":"descriptive"}`:                                        "Still 12 and 7.",
		`"a sentence"`: "before 12",
	} {
		e := newEdit(set)
		e.sections.User.Work.Summary = "before 12"
		e.was.Sections = e.sections
		l := lessonOf(t, e, set, `{"user":{"workContext":`+answer+`,"nonsense":7},"history":[]}`)
		l.heard.turns = []turn{{Human: true, Own: "I run a harbour with 7 quays"}}
		l.apply(e)
		if got := e.sections.User.Work.Summary; got != want {
			t.Errorf("%s: %q", answer, got)
		}
		if e.empty() != (want == "before 12") {
			t.Errorf("%s: written %t", answer, !e.empty())
		}
	}
}

// TestTurns: what of a conversation is read.
func TestTurns(t *testing.T) {
	human := func(text string) message.Message { return message.New(message.Human, text) }
	hidden := human("hidden")
	hidden.Kwargs = message.Fields{message.KeyHidden: json.RawMessage("true")}
	own := human("<current_uploads>x</current_uploads>\n\nI like tea")
	own.Kwargs = message.Fields{"original_user_content": json.RawMessage(`"I like tea"`)}
	calls := message.New(message.AI, "I look")
	calls.ToolCalls = []message.ToolCall{{ID: "c", Name: "ls"}}
	ai := message.New(message.AI, "<think>hm</think>Yes.")
	var got []string
	for _, turn := range turnsOf([]message.Message{
		own, calls, message.New(message.Tool, "a"), ai, hidden, ai, human("好的，谢谢！"), ai, human("OK, thanks."), ai,
		human("<uploaded_files>a</uploaded_files>"), ai, human("ok then do the rest"), ai,
	}) {
		got = append(got, fmt.Sprint(turn.Human, " ", turn.Text))
	}
	if d := cmp.Diff([]string{"true I like tea", "false Yes.", "false Yes.", "true ok then do the rest", "false Yes."},
		got); d != "" {
		t.Error(d)
	}
	var many []message.Message
	for range 200 {
		many = append(many, human("I like tea"))
	}
	if n := len(turnsOf(many)); n != maxTurns {
		t.Errorf("%d turns", n)
	}
	if s := shortened(strings.Repeat("茶", 1000)); len(s) > maxTurn+10 || !strings.Contains(s, " … ") {
		t.Errorf("%d bytes", len(s))
	}
}

// FuzzParseAnswer: whatever a model says is read, or refused, and what comes of it can be written.
func FuzzParseAnswer(f *testing.F) {
	f.Add("```json\n{\"newFacts\":[\"a\",{\"content\":\"b\",\"confidence\":\"x\"},7],\"user\":{\"workContext\":{\"summary\":\"s\",\"shouldUpdate\":true}}}\n```")
	f.Add(`{"factsToRemove":[{"id":"a","scope":"user","replacementFactIndex":-1}],"factsToConsolidate":[{"sourceIds":["a","a"]}]}`)
	f.Add(`<think>{"newFacts":1}</think>{}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAnswer(text)
		if err != nil {
			return
		}
		set := config.Default().Memory
		set.Backend.Consolidation = true
		e := newEdit(set, past("a", "Likes tea", "context", 300), past("b", "Has a cat", "context", 300),
			past("c", "Runs", "goal", 300))
		l := &lesson{answer: a, thread: "t", batch: "b", set: set.Backend, untrue: map[string]bool{"a": true},
			confirms: true,
			heard:    heard{turns: []turn{{ID: "m", Human: true, Text: "I like tea", Own: "I like tea"}}}}
		if _, err := l.prompt(e, signalNames()); err != nil {
			t.Fatal(err)
		}
		l.apply(e)
		for id := range e.puts {
			if err := e.facts[id].check(); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}
