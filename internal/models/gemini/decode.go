package gemini

import (
	"cmp"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// event is one GenerateContentResponse, or an error in its place. Its values share the memory of what was read.
type event struct {
	candidate candidate
	answers   bool // there are candidates, or a word about the prompt
	blocked   []byte
	usage     usage // so far: of this event and those before it
	counted   bool  // there is a usage
	failure   []byte
	id, by    []byte
}

// candidate is one answer. Only the first one is asked for.
type candidate struct {
	index, reason, explanation []byte
	parts                      []part
}

// part is one piece of an answer: text, a thought or a call.
type part struct {
	text, signature []byte
	thought         bool
	called          bool
	id, name, args  []byte // of a call
}

// usage counts tokens. Every event may bring it, as a total so far or in part.
type usage struct{ prompt, tools, answer, thoughts, cached, total int }

// decode reads data into ev, whose memory and usage it uses again, and reports whether it is valid JSON. A value of
// another kind than the API's is stepped over.
func (ev *event) decode(data []byte) bool {
	*ev = event{candidate: candidate{parts: ev.candidate.parts[:0]}, usage: ev.usage}
	s := rawjson.Scan(data)
	if !begins(&s, '{') {
		return s.End()
	}
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "candidates":
			ev.candidates(&s)
		case "promptFeedback":
			ev.feedback(&s)
		case "usageMetadata":
			ev.usage.decode(&s)
			ev.counted = true
		case "error":
			if raw := s.Value(); !rawjson.IsNull(raw) {
				ev.failure = raw
			}
		case "responseId":
			ev.id = s.Value()
		case "modelVersion":
			ev.by = s.Value()
		default:
			s.Value()
		}
	}
	return s.End()
}

// begins reports whether a value begins with a bracket; one that does not is stepped over.
func begins(s *rawjson.Scanner, bracket byte) bool {
	if s.Peek() == bracket {
		return true
	}
	s.Value()
	return false
}

func (ev *event) candidates(s *rawjson.Scanner) {
	if !begins(s, '[') {
		return
	}
	ev.answers = true
	first := false
	for more := s.List(); more; more = s.More() {
		one := candidate{parts: ev.candidate.parts}
		one.decode(s)
		if !first && (len(one.index) == 0 || string(one.index) == "0") {
			first, ev.candidate = true, one
		}
	}
}

func (ev *event) feedback(s *rawjson.Scanner) {
	if !begins(s, '{') {
		return
	}
	ev.answers = true
	for key := s.Object(); key != nil; key = s.Next() {
		if value := s.Value(); string(key) == "blockReason" {
			ev.blocked = value
		}
	}
}

func (one *candidate) decode(s *rawjson.Scanner) {
	if !begins(s, '{') {
		return
	}
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "index":
			one.index = s.Value()
		case "content":
			one.content(s)
		case "finishReason":
			one.reason = s.Value()
		case "finishMessage":
			one.explanation = s.Value()
		default:
			s.Value()
		}
	}
}

func (one *candidate) content(s *rawjson.Scanner) {
	if !begins(s, '{') {
		return
	}
	for key := s.Object(); key != nil; key = s.Next() {
		if string(key) != "parts" {
			s.Value()
			continue
		}
		if !begins(s, '[') {
			continue
		}
		for more := s.List(); more; more = s.More() {
			one.parts = append(one.parts, part{})
			one.parts[len(one.parts)-1].decode(s)
		}
	}
}

func (p *part) decode(s *rawjson.Scanner) {
	if !begins(s, '{') {
		return
	}
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "text":
			p.text = s.Value()
		case "thought":
			p.thought = string(s.Value()) == "true"
		case "thoughtSignature":
			p.signature = s.Value()
		case "functionCall":
			p.call(s)
		default:
			s.Value()
		}
	}
}

func (p *part) call(s *rawjson.Scanner) {
	if !begins(s, '{') {
		return
	}
	p.called = true
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "id":
			p.id = s.Value()
		case "name":
			p.name = s.Value()
		case "args":
			p.args = s.Value()
		default:
			s.Value()
		}
	}
}

// decode takes over the counters that are told.
func (u *usage) decode(s *rawjson.Scanner) {
	if !begins(s, '{') {
		return
	}
	for key := s.Object(); key != nil; key = s.Next() {
		n := count(s.Value())
		switch string(key) {
		case "promptTokenCount":
			u.prompt = cmp.Or(n, u.prompt)
		case "toolUsePromptTokenCount":
			u.tools = cmp.Or(n, u.tools)
		case "candidatesTokenCount":
			u.answer = cmp.Or(n, u.answer)
		case "thoughtsTokenCount":
			u.thoughts = cmp.Or(n, u.thoughts)
		case "cachedContentTokenCount":
			u.cached = cmp.Or(n, u.cached)
		case "totalTokenCount":
			u.total = cmp.Or(n, u.total)
		}
	}
}

// counts has thoughts as output, and what server-side tools gave the model as input. Cached tokens are part of the
// prompt's already.
func (u *usage) counts() *message.Usage {
	c := &message.Usage{InputTokens: u.prompt + u.tools, OutputTokens: u.answer + u.thoughts, CacheRead: u.cached,
		Reasoning: u.thoughts}
	c.TotalTokens = max(u.total, c.InputTokens+c.OutputTokens)
	return c
}

// count reads a number of tokens; anything else, such as the tokens by modality, is 0.
func count(raw []byte) int {
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' || n > 1<<40 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// text is a JSON string's content, empty for anything else.
func text(raw []byte) string {
	s, _ := rawjson.String(raw)
	return s
}
