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
	m := &Memory{cfg: Config{Settings: func() config.Memory { return set }, NewID: func() string { n++; return fmt.Sprint("new", n) }}}
	e := &edit{all: m, now: moment, facts: make(map[string]*Fact)}
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
			m := message.New(map[string]message.Role{"human": message.Human, "ai": message.AI, "tool": message.Tool}[who], text)
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
			for key, def := range map[string]any{"scope": "user", "durability": "durable", "authority": "descriptive", "confidence": 0.9, "category": "context"} {
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

// TestWhatMayBecomeAFact: what a model calls durable is not, if it is a permission, an order for one task, a secret, other people's, or
// an instruction from elsewhere; and what no human has said waits for a yes.
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
			l := lesson{answer: a, heard: heard{turns: turnsOf(msgs), tools: results(msgs)}, thread: "t", folder: s.Folder, batch: "b", set: set.Backend}
			l.apply(e)
			var kept, proposed, refused []string
			for _, f := range e.facts {
				switch f.Status {
				case Active:
					kept = append(kept, f.Content)
					if f.Mark != "" || !slices.ContainsFunc(e.sources, func(s Source) bool { return s.fact == f.ID && s.Words != "" }) {
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
