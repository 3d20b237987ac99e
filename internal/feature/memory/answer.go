package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// answer is what a model says is to become of the memory. It is not trusted: gates decide.
type answer struct {
	User        map[string]summaryAnswer `json:"user"`
	History     map[string]summaryAnswer `json:"history"`
	Facts       []factAnswer             `json:"newFacts"`
	Reinforce   []idAnswer               `json:"factsToReinforce"`
	Remove      []idAnswer               `json:"factsToRemove"`
	Stale       []idAnswer               `json:"staleFactsToRemove"`
	Extend      []idAnswer               `json:"staleFactsToExtend"`
	Consolidate []consolidation          `json:"factsToConsolidate"`
}

type summaryAnswer struct {
	Summary   string `json:"summary"`
	Update    bool   `json:"shouldUpdate"`
	Scope     string `json:"scope"`
	Authority string `json:"authority"`
}

type factAnswer struct {
	Content     string  `json:"content"`
	Category    string  `json:"category"`
	Confidence  float64 `json:"confidence"`
	ValidDays   float64 `json:"expected_valid_days"`
	Scope       string  `json:"scope"`
	Durability  string  `json:"durability"`
	Authority   string  `json:"authority"`
	SourceError string  `json:"sourceError"`
	// Quote is where the user said it, in his words.
	Quote string `json:"quote"`
}

type idAnswer struct {
	ID     string `json:"id"`
	Scope  string `json:"scope"`
	Reason string `json:"reason"`
	// Replacement is the index of the new fact that takes its place; nil is none.
	Replacement *int    `json:"replacementFactIndex"`
	Days        float64 `json:"extend_by_days"`
}

type consolidation struct {
	Sources []string   `json:"sourceIds"`
	Into    factAnswer `json:"consolidated"`
}

// maxAnswer bounds an answer, in bytes, and maxItems what it has of a kind.
const (
	maxAnswer = 256 << 10
	maxItems  = 100
)

// UnmarshalJSON takes a sentence alone too, and then knows no more than that.
func (f *factAnswer) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &f.Content) == nil {
		return nil
	}
	type plain factAnswer
	var p plain
	err := lenient(b, &p)
	*f = factAnswer(p)
	return err
}

// UnmarshalJSON takes an id alone too.
func (i *idAnswer) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &i.ID) == nil {
		return nil
	}
	type plain idAnswer
	var p plain
	err := lenient(b, &p)
	*i = idAnswer(p)
	return err
}

// lenient reads an object whose members may be of a wrong type: those are left out.
func lenient(b []byte, into any) error {
	err := json.Unmarshal(b, into)
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong &&
		bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		return nil
	}
	return err
}

var (
	thoughts = regexp.MustCompile(`(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|\z)`)
	errBlind = errors.New("the model's answer has no JSON object in it")
)

// parseAnswer reads an answer, with thoughts, words or a fence around it. A section that cannot be read is empty, an
// item that cannot is left out.
func parseAnswer(text string) (a answer, err error) {
	if len(text) > maxAnswer {
		text = text[:maxAnswer]
	}
	var members map[string]json.RawMessage
	if err := firstObject(thoughts.ReplaceAllString(text, ""), &members); err != nil {
		return a, err
	}
	a.User, a.History = summariesIn(members["user"]), summariesIn(members["history"])
	a.Facts = items[factAnswer](members["newFacts"])
	a.Reinforce, a.Remove = items[idAnswer](members["factsToReinforce"]), items[idAnswer](members["factsToRemove"])
	a.Stale, a.Extend = items[idAnswer](members["staleFactsToRemove"]), items[idAnswer](members["staleFactsToExtend"])
	a.Consolidate = items[consolidation](members["factsToConsolidate"])
	return a, nil
}

// firstObject reads the first JSON object of a text.
func firstObject(text string, into any) error {
	const most = 50 // braces that begin none
	for range most {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			break
		}
		text = text[i:]
		if json.NewDecoder(strings.NewReader(text)).Decode(into) == nil {
			return nil
		}
		text = text[1:]
	}
	return errBlind
}

// items are those of a list that can be read. Each keeps its place, for others refer to it: one that cannot be read is
// the zero value.
func items[T any](raw json.RawMessage) []T {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	out := make([]T, min(len(list), maxItems))
	for i := range out {
		var v T
		if json.Unmarshal(list[i], &v) == nil {
			out[i] = v
		}
	}
	return out
}

func summariesIn(raw json.RawMessage) map[string]summaryAnswer {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	out := make(map[string]summaryAnswer)
	for name, raw := range members {
		var s summaryAnswer
		if lenient(raw, &s) == nil {
			out[name] = s
		}
	}
	return out
}
