package gemini

import "github.com/pudu-ai/pudu/message"

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

// decode reads data, which must be valid JSON, into ev, whose memory it uses again.
func (ev *event) decode(data []byte) {
	*ev = event{candidate: candidate{parts: ev.candidate.parts[:0]}}
	c := cursor{data}
	if !c.enter('{') {
		return
	}
	for c.more() {
		switch string(c.key()) {
		case "candidates":
			ev.candidates(&c)
		case "promptFeedback":
			ev.feedback(&c)
		case "usageMetadata":
			ev.usage, ev.counted = decodeUsage(&c), true
		case "error":
			if raw := c.value(); string(raw) != "null" {
				ev.failure = raw
			}
		case "responseId":
			ev.id = c.value()
		case "modelVersion":
			ev.by = c.value()
		default:
			c.value()
		}
	}
}

func (ev *event) candidates(c *cursor) {
	if !c.enter('[') {
		return
	}
	ev.answers = true
	for c.more() {
		one := candidate{parts: ev.candidate.parts}
		one.decode(c)
		if len(one.index) == 0 || string(one.index) == "0" {
			ev.candidate = one
		}
	}
}

func (ev *event) feedback(c *cursor) {
	if !c.enter('{') {
		return
	}
	ev.answers = true
	for c.more() {
		if string(c.key()) == "blockReason" {
			ev.blocked = c.value()
		} else {
			c.value()
		}
	}
}

func (one *candidate) decode(c *cursor) {
	if !c.enter('{') {
		return
	}
	for c.more() {
		switch string(c.key()) {
		case "index":
			one.index = c.value()
		case "content":
			one.content(c)
		case "finishReason":
			one.reason = c.value()
		case "finishMessage":
			one.explanation = c.value()
		default:
			c.value()
		}
	}
}

func (one *candidate) content(c *cursor) {
	if !c.enter('{') {
		return
	}
	for c.more() {
		if string(c.key()) != "parts" {
			c.value()
			continue
		}
		if !c.enter('[') {
			continue
		}
		for c.more() {
			var p part
			p.decode(c)
			one.parts = append(one.parts, p)
		}
	}
}

func (p *part) decode(c *cursor) {
	if !c.enter('{') {
		return
	}
	for c.more() {
		switch string(c.key()) {
		case "text":
			p.text = c.value()
		case "thought":
			p.thought = string(c.value()) == "true"
		case "thoughtSignature":
			p.signature = c.value()
		case "functionCall":
			p.call(c)
		default:
			c.value()
		}
	}
}

func (p *part) call(c *cursor) {
	if !c.enter('{') {
		return
	}
	p.called = true
	for c.more() {
		switch string(c.key()) {
		case "id":
			p.id = c.value()
		case "name":
			p.name = c.value()
		case "args":
			p.args = c.value()
		default:
			c.value()
		}
	}
}

// decodeUsage counts thoughts as output, and what server-side tools gave the model as input. Cached tokens are part of
// the prompt's already.
func decodeUsage(c *cursor) (u message.Usage) {
	if !c.enter('{') {
		return u
	}
	var prompt, tools, answer int
	for c.more() {
		key := c.key()
		n := count(c.value())
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
