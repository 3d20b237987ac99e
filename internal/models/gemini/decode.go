package gemini

import (
	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// event is one GenerateContentResponse, or an error in its place. Its values share the memory of what was read.
type event struct {
	candidate candidate
	answers   bool // there are candidates, or a word about the prompt
	blocked   []byte
	usage     message.Usage
	counted   bool // there is a usage
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

// decode reads data into ev, whose memory it uses again, and reports whether it is valid JSON. A value of another kind than
// the API's is stepped over.
func (ev *event) decode(data []byte) bool {
	*ev = event{candidate: candidate{parts: ev.candidate.parts[:0]}}
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
			ev.usage, ev.counted = decodeUsage(&s), true
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
	for more := s.List(); more; more = s.More() {
		one := candidate{parts: ev.candidate.parts}
		one.decode(s)
		if len(one.index) == 0 || string(one.index) == "0" {
			ev.candidate = one
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

// decodeUsage counts thoughts as output, and what server-side tools gave the model as input. Cached tokens are part of
// the prompt's already.
func decodeUsage(s *rawjson.Scanner) (u message.Usage) {
	if !begins(s, '{') {
		return u
	}
	var prompt, tools, answer int
	for key := s.Object(); key != nil; key = s.Next() {
		n := count(s.Value())
		switch string(key) {
		case "promptTokenCount":
			prompt = n
		case "toolUsePromptTokenCount":
			tools = n
		case "candidatesTokenCount":
			answer = n
		case "thoughtsTokenCount":
			u.Reasoning = n
		case "cachedContentTokenCount":
			u.CacheRead = n
		case "totalTokenCount":
			u.TotalTokens = n
		}
	}
	u.InputTokens, u.OutputTokens = prompt+tools, answer+u.Reasoning
	if u.TotalTokens == 0 {
		u.TotalTokens = u.InputTokens + u.OutputTokens
	}
	return u
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
