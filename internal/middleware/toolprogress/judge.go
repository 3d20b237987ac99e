package toolprogress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
)

// judge returns the tool after one more result, and a hint for the model, if there is one to give.
func (m *Middleware) judge(t track, meta toolmeta.Meta, res message.Message,
	msgs []message.Message) (next track, hint string) {
	if meta.Status == toolmeta.StatusError && !meta.Recoverable && meta.Next == toolmeta.NextStop {
		t.Phase, t.Problems = phaseBlocked, t.Problems+1
		t.Reason = fmt.Sprintf("%s cannot work in this run (%s). %s", res.Name, kindOf(meta), goOn)
		return t, ""
	}
	repeated := meta.Status == toolmeta.StatusSuccess && m.repeats(&res, t.Last, msgs)
	if meta.Status != toolmeta.StatusError {
		t.Last = append(slices.Clone(t.Last), res.ID)
		t.Last = t.Last[max(0, len(t.Last)-mostLast):]
	}
	if meta.Status == toolmeta.StatusSuccess && !repeated {
		return track{Last: t.Last}, ""
	}
	t.Problems++
	over := t.Problems - m.cfg.StagnationThreshold
	if over < 0 {
		return t, ""
	}
	t.Phase = phaseWarned
	if over >= m.cfg.WarnEscalation && !meta.Recoverable {
		t.Phase = phaseBlocked
		t.Reason = fmt.Sprintf("%s failed %d times in a row (%s). %s", res.Name, t.Problems, kindOf(meta), goOn)
		return t, ""
	}
	if over%m.cfg.WarnEscalation != 0 {
		return t, ""
	}
	return t, hintFor(res.Name, t.Problems, meta, repeated)
}

// goOn ends every reason for which a tool is blocked.
const goOn = "It is blocked until the run ends: go on without it, and say in your answer what could not be done."

func hintFor(name string, problems int, meta toolmeta.Meta, repeated bool) string {
	switch {
	case repeated:
		return fmt.Sprintf("The last %d results of %s brought nothing new. Ask for something else, or go on with "+
			"what you have.", problems, name)
	case meta.Status == toolmeta.StatusPartial:
		return fmt.Sprintf("The last %d results of %s were incomplete or empty. Ask more precisely, or go on with "+
			"what you have.", problems, name)
	}
	return fmt.Sprintf("%s had no success %d times in a row (%s). %s", name, problems, kindOf(meta), advice(meta.Next))
}

func advice(next string) string {
	switch next {
	case toolmeta.NextRewriteQuery:
		return "Change what you ask for instead of trying again."
	case toolmeta.NextSummarize:
		return "Work with what you have by now."
	}
	return "Use another tool or another way."
}

func kindOf(meta toolmeta.Meta) string { return cmp.Or(meta.Kind(), "no success") }

// mostCompared bounds the part of a result that is compared, in bytes.
const mostCompared = 8192

// repeats reports whether a result says nearly the same as one of the results with the ids.
func (m *Middleware) repeats(res *message.Message, ids []string, msgs []message.Message) bool {
	words := wordSet(res.Text())
	if len(words) < m.cfg.MinWords {
		return false
	}
	return slices.ContainsFunc(ids, func(id string) bool {
		for i := range slices.Backward(msgs) {
			if msgs[i].ID == id {
				return similarity(words, wordSet(msgs[i].Text())) >= m.cfg.Similarity
			}
		}
		return false // it was summarized away
	})
}

// wordSet is the words of a text's beginning that have three letters or more, in lower case.
func wordSet(text string) map[string]bool {
	if len(text) > mostCompared {
		text = strings.ToValidUTF8(text[:mostCompared], "")
	}
	words := make(map[string]bool)
	for w := range strings.FieldsFuncSeq(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if long(w) {
			words[w] = true
		}
	}
	return words
}

func long(word string) bool {
	n := 0
	for range word {
		if n++; n == 3 {
			return true
		}
	}
	return false
}

// similarity is the share of the words of both sets that are in each (the Jaccard index), from 0 to 1.
func similarity(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	all := len(a) + len(b) - both
	if all == 0 {
		return 1
	}
	return float64(both) / float64(all)
}
