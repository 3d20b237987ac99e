package history

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/message"
)

// vendor is a provider's rules, as it would state them, and the check of its documentation.
type vendor struct {
	name  string
	rules Rules
	check func([]message.Message) error
}

func vendors() []vendor {
	word := Shape{Min: 1, Max: 64, Chars: Chars("a-zA-Z0-9_-")}
	return []vendor{
		{"openai", Rules{IDs: Shape{Max: 64}, Tools: word, Images: ImagesInUser,
			RawTypes: []string{"file", "input_audio"}, Speakers: word}, OpenAI},
		{"anthropic", Rules{System: SystemFirst, UserFirst: true, NoPrefill: true, Blank: BlankDropped,
			Images: ImagesInResults, RawTypes: []string{"document"},
			IDs: Shape{Chars: Chars("a-zA-Z0-9_-")}, UniqueIDs: true, Tools: word}, Anthropic},
		{"gemini", Rules{UserFirst: true, Alternate: true, NoPrefill: true, Blank: BlankDropped,
			Images: ImagesInResults, RawTypes: []string{},
			Tools: Shape{Min: 1, Max: 64, Chars: Chars("a-zA-Z0-9_.:-"), WordFirst: true}}, Gemini},
		{"mistral", Rules{System: SystemFirst, UserFirst: true, AnswerResults: true, NoPrefill: true,
			Blank: BlankDropped, Images: ImagesInUser, RawTypes: []string{},
			IDs: Shape{Min: 9, Max: 9, Chars: Chars("a-zA-Z0-9")}, UniqueIDs: true, Tools: word}, Mistral},
	}
}

// anyRules are rules that no vendor need have.
var anyRules = rapid.Custom(func(t *rapid.T) *Rules {
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	shapes := rapid.SampledFrom([]Shape{
		{}, {Max: 40}, {Min: 9, Max: 9, Chars: Chars("a-zA-Z0-9")}, {Max: 12, Chars: Chars("a-zA-Z0-9_-")},
		{Min: 30, Chars: Chars("a-zA-Z0-9_"), WordFirst: true},
	})
	return &Rules{
		System: System(rapid.IntRange(0, 2).Draw(t, "system")), UserFirst: flag("user first"),
		Alternate: flag("alternate"), AnswerResults: flag("answer results"), NoPrefill: flag("no prefill"),
		Blank:    Blank(rapid.IntRange(0, 2).Draw(t, "blank")),
		Images:   Images(rapid.IntRange(0, 3).Draw(t, "images")),
		RawTypes: rapid.SampledFrom([][]string{nil, {}, {"file", "document"}}).Draw(t, "raw"),
		IDs:      shapes.Draw(t, "ids"), UniqueIDs: flag("unique"), Tools: shapes.Draw(t, "tools"),
		Speakers: shapes.Draw(t, "speakers"),
	}
})

// TestEveryVendorAcceptsEveryHistory is what the package is for.
func TestEveryVendorAcceptsEveryHistory(t *testing.T) {
	for _, v := range vendors() {
		t.Run(v.name, rapid.MakeCheck(func(t *rapid.T) {
			msgs := Messages(t)
			out := v.rules.Apply(msgs)
			if err := v.check(out); err != nil && (v.rules.NoPrefill || len(out) > 0) {
				t.Fatalf("%v\nin  %s\nout %s", err, dump(msgs), dump(out))
			}
		}))
	}
}

// TestTheModelChangesBackAndForth: what one vendor's rules made of a history, the next one's take, in any order.
func TestTheModelChangesBackAndForth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := Messages(t)
		for range rapid.IntRange(2, 5).Draw(t, "changes") {
			v := rapid.SampledFrom(vendors()).Draw(t, "vendor")
			msgs = v.rules.Apply(append(slices.Clone(msgs), Turn(t)...))
			if err := v.check(msgs); err != nil {
				t.Fatalf("%s: %v\n%s", v.name, err, dump(msgs))
			}
		}
	})
}

// TestApplyIsSettled: what it made it takes as it is, the same every time, and it changes nothing of what it was given.
func TestApplyIsSettled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, msgs := anyRules.Draw(t, "rules"), Messages(t)
		before := dump(msgs)
		once := r.Apply(msgs)
		made := dump(once)
		twice := r.Apply(once)
		if len(once) != len(twice) || len(once) > 0 && &once[0] != &twice[0] {
			t.Fatalf("applied again\nin  %s\n1st %s\n2nd %s", before, made, dump(twice))
		}
		if again := dump(r.Apply(msgs)); again != made {
			t.Fatalf("another result for the same list\n%s\n%s", made, again)
		}
		if after := dump(msgs); after != before {
			t.Fatalf("the list was changed\n%s\n%s", before, after)
		}
	})
}

// TestRepairIsTheIdentityOnWhatIsValid: a fault further on must not change how the sound beginning is sent.
func TestRepairIsTheIdentityOnWhatIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRules.Draw(t, "rules")
		valid := r.Apply(Messages(t))
		if d := cmp.Diff(valid, r.sequence(r.pair(valid)), cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

// TestTheBeginningStays: a history that grows by whole turns is sent with the same beginning, apart from the word that
// asks for an answer at the end, and from a user's message that the next one is joined to.
func TestTheBeginningStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, msgs := anyRules.Draw(t, "rules"), Messages(t)
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			grown := append(slices.Clone(msgs), Turn(t)...)
			if err := begins(r, r.Apply(msgs), r.Apply(grown)); err != nil {
				t.Fatalf("%v\nrules %+v\nhistory %s\ngrown %s", err, r, dump(msgs), dump(grown))
			}
			msgs = grown
		}
	})
}

func begins(r *Rules, old, grown []message.Message) error {
	d := differs(r, old, grown)
	if n := len(old); d != "" && r.NoPrefill && n > 0 && cmp.Equal(old[n-1], message.New(message.Human, sayContinue)) {
		d = differs(r, old[:n-1], grown)
	}
	if d != "" {
		return errors.New(d)
	}
	return nil
}

func differs(r *Rules, old, grown []message.Message) string {
	n := len(old)
	if n > len(grown) {
		return "it became shorter"
	}
	if r.Alternate && n > 0 && old[n-1].Role == message.Human && grown[n-1].Role == message.Human {
		if !strings.HasPrefix(shown(grown[n-1:n]), strings.TrimSuffix(shown(old[n-1:]), "\x00")) {
			return "the last message does not begin as it did"
		}
		n--
	}
	return cmp.Diff(old[:n], grown[:n], cmpopts.EquateEmpty())
}

// shown is all that the messages show, part by part.
func shown(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		for _, p := range m.Content {
			b.WriteString(p.Text + p.URL + string(p.Raw) + "\x00")
		}
	}
	return b.String()
}

// TestNothingSaidIsLost: neither of users, nor of anybody else; pictures and arguments stay too where the wire takes
// them.
func TestNothingSaidIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, msgs := anyRules.Draw(t, "rules"), Messages(t)
		out := r.Apply(msgs)
		got := shown(out)
		calls, want := 0, 0
		for _, m := range msgs {
			want += len(m.ToolCalls) + len(m.InvalidToolCalls)
			for _, p := range m.Content {
				if p.Type == message.PartText && !blank(p.Text) && !strings.Contains(got, p.Text) {
					t.Fatalf("%s text %q is lost\n%s", m.Role, p.Text, dump(out))
				}
				if p.Type == message.PartImage && r.Images != ImagesNowhere &&
					(m.Role == message.Human || m.Role == message.Tool) && !strings.Contains(got, p.URL) {
					t.Fatalf("%s picture %q is lost\n%s", m.Role, p.URL, dump(out))
				}
			}
		}
		for _, m := range out {
			calls += len(m.ToolCalls)
		}
		if calls != want {
			t.Fatalf("%d calls, want %d\n%s", calls, want, dump(out))
		}
	})
}

// dump writes down all that a list holds.
func dump(msgs []message.Message) string {
	type plain message.Message // without the codec, which refuses arguments that are no object
	out := make([]plain, len(msgs))
	for i := range msgs {
		out[i] = plain(msgs[i])
	}
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		panic(err)
	}
	return string(b)
}
