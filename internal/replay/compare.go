package replay

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

// Difference is the first place where a run did not do what was recorded.
type Difference struct {
	// Where is the step, such as "turn 2, call 1 of 2: bash (call_7)"; What is wrong there.
	Where, What string
	// Want and Got are the two texts, if it is a text that differs.
	Want, Got string
}

// String is the difference for people, on several lines.
func (d *Difference) String() string {
	s := d.Where + ": " + d.What
	if d.Want != d.Got {
		s += "\n" + lines(d.Want, d.Got)
	}
	return strings.TrimRight(s, " \n")
}

// compare finds the first difference, in the order in which a run goes on.
func compare(want, got *Recording, p *Player) *Difference {
	for i := range want.Turns {
		where := fmt.Sprintf("turn %d", i+1)
		if i >= len(got.Turns) {
			return &Difference{Where: where, What: "the model was not asked any more; the run ended before",
				Want: want.After.ending(), Got: got.After.ending()}
		}
		if p.lacks != "" && p.lacksAt == i {
			return &Difference{Where: where, What: "the request to the model lacks " + p.lacks}
		}
		if d := compareTurn(where, &want.Turns[i], &got.Turns[i]); d != nil {
			return d
		}
	}
	if p.extra != "" {
		return &Difference{Where: "the end",
			What: fmt.Sprintf("the model is asked once more than the %d recorded times, with %s", len(want.Turns),
				p.extra)}
	}
	if len(got.Turns) > len(want.Turns) {
		return &Difference{Where: "the end", What: fmt.Sprintf("there are %d answers of the model, recorded are %d",
			len(got.Turns), len(want.Turns))}
	}
	return compareAfter(&want.After, &got.After)
}

func compareTurn(where string, want, got *Turn) *Difference {
	switch {
	case want.Sees != got.Sees:
		return &Difference{Where: where, What: "the model was asked with another number of messages",
			Want: strconv.Itoa(want.Sees), Got: strconv.Itoa(got.Sees)}
	case want.answer() != got.answer():
		return &Difference{Where: where, What: "the answer changed on its way into the conversation",
			Want: want.answer(), Got: got.answer()}
	}
	for j := range want.Calls {
		w, g := &want.Calls[j], &got.Calls[j]
		at := fmt.Sprintf("%s, call %d of %d: %s (%s)", where, j+1, len(want.Calls), w.Tool, w.ID)
		if d := compareResult(at, w.Result, g.Result); d != nil {
			return d
		}
	}
	return nil
}

// answer is what the model said and called, in full.
func (t *Turn) answer() string {
	var b strings.Builder
	line := func(name string, value any) {
		if s := fmt.Sprint(value); s != "" {
			b.WriteString(name + ": " + s + "\n")
		}
	}
	line("reasoning", t.Reasoning)
	line("text", t.Text)
	for _, p := range t.Content {
		line("text", p.Text)
		line("reasoning", p.Reasoning)
		line("signature", p.Signature)
		line("redacted", p.Redacted)
	}
	for _, c := range t.Calls {
		args := canonical(c.Args)
		if c.RawArgs != nil {
			args = string(*c.RawArgs)
		}
		line("call", strings.Join([]string{c.ID, c.Tool, args, canonical(c.Extra)}, " "))
	}
	line("finish_reason", t.FinishReason)
	if t.Usage != nil {
		line("usage", fmt.Sprintf("%+v", *t.Usage))
	}
	line("metadata", canonical(t.Metadata))
	line("kwargs", canonical(t.Kwargs))
	if t.Error != nil {
		line("error", fmt.Sprintf("%s %d %s %s", t.Error.Class, t.Error.Status, t.Error.Message, t.Error.RetryAfter))
	}
	if t.Cancelled {
		line("cancelled", true)
	}
	return b.String()
}

func compareResult(where string, want, got *Result) *Difference {
	switch {
	case want == nil && got == nil:
		return nil
	case want == nil:
		return &Difference{Where: where, What: "the call is answered, in the recording it is not; the answer:\n" +
			indent(excerpt.Bound(got.text(), 500))}
	case got == nil:
		return &Difference{Where: where, What: "the call is not answered, in the recording it is"}
	case want.Status != got.Status:
		return &Difference{
			Where: where, What: fmt.Sprintf("the status is %q, recorded %q", got.Status, want.Status),
			Want: want.text(), Got: got.text(),
		}
	case want.Text == nil && want.SHA256 == "":
	case want.Text == nil && want.SHA256 == got.SHA256:
	case want.text() != got.text():
		return &Difference{Where: where, What: "the result differs", Want: want.text(), Got: got.text()}
	}
	if w, g := canonical(want.Artifact), canonical(got.Artifact); w != g {
		return &Difference{Where: where, What: "the artifact differs", Want: pretty(want.Artifact),
			Got: pretty(got.Artifact)}
	}
	return nil
}

// text is the result's text, or what is known of it.
func (r *Result) text() string {
	if r.Text != nil {
		return string(*r.Text)
	}
	return fmt.Sprintf("%s\n[%d bytes, sha256 %s]", r.Start, r.Bytes, r.SHA256)
}

func compareAfter(want, got *After) *Difference {
	if want.ending() != got.ending() {
		return &Difference{Where: "the end", What: "the run ended otherwise", Want: want.ending(), Got: got.ending()}
	}
	if w, g := want.questions(), got.questions(); w != g {
		return &Difference{Where: "the end", What: "the questions to a human differ", Want: w, Got: g}
	}
	for i := range max(len(want.Messages), len(got.Messages)) {
		w, g := entryAt(want.Messages, i), entryAt(got.Messages, i)
		if w != g {
			return &Difference{Where: "the end", What: fmt.Sprintf("message %d of the conversation differs", i+1),
				Want: w, Got: g}
		}
	}
	names := slices.Collect(maps.Keys(want.Channels))
	names = slices.AppendSeq(names, maps.Keys(got.Channels))
	slices.Sort(names)
	for _, name := range names {
		if w, g := want.Channels[name], got.Channels[name]; canonical(w) != canonical(g) {
			return &Difference{Where: "the end", What: fmt.Sprintf("the channel %q differs", name), Want: pretty(w),
				Got: pretty(g)}
		}
	}
	return nil
}

func (a *After) ending() string {
	s := "status: " + a.Status
	if a.StopReason != "" {
		s += "\nstop_reason: " + a.StopReason
	}
	if a.Error != "" {
		s += "\nerror: " + string(a.Error)
	}
	return s
}

func (a *After) questions() string {
	var b strings.Builder
	for _, q := range a.Questions {
		b.WriteString(q.Call + ": " + pretty(q.Value) + "\n")
	}
	return b.String()
}

func entryAt(list []Entry, i int) string {
	switch {
	case i >= len(list):
		return "(none)"
	case list[i].Ref != "":
		return list[i].Ref
	}
	return list[i].Role + ": " + string(list[i].Text)
}
