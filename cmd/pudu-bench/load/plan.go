package load

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// Plan is what the model does in one run. It travels in the text of the user's message, so that any server can hand it
// on to the model without knowing of it. The zero value is one answer of one token.
type Plan struct {
	// Steps is how many tool calls come, one per model call, before the answer. From 0 to [MaxSteps].
	Steps int
	// Tokens is the length of the answer, from 1 to [MaxTokens].
	Tokens int
	// Delay is the time from one token to the next; 0 means as fast as they can be sent. At most a minute.
	Delay time.Duration
	// Batch is how many tokens are sent in one write, from 1 to 1000.
	Batch int
}

// Bounds of a plan. What asks for more gets as much.
const (
	MaxSteps  = 50
	MaxTokens = 50_000
	maxDelay  = time.Minute
	maxBatch  = 1000
)

// String is the plan as it stands in a message, such as "steps=5 tokens=200 delay=20ms batch=1".
func (p Plan) String() string {
	p = p.bounded()
	return fmt.Sprintf("steps=%d tokens=%d delay=%s batch=%d", p.Steps, p.Tokens, p.Delay, p.Batch)
}

func (p Plan) bounded() Plan {
	p.Steps = min(max(p.Steps, 0), MaxSteps)
	p.Tokens = min(max(p.Tokens, 1), MaxTokens)
	p.Delay = min(max(p.Delay, 0), maxDelay)
	p.Batch = min(max(p.Batch, 1), maxBatch)
	return p
}

var planStart = []byte("steps=")

// readPlan returns the last plan in a model request and what comes after it. Without a plan, as in a request for a
// title, ok is false.
func readPlan(body []byte) (p Plan, rest []byte, ok bool) {
	at := bytes.LastIndex(body, planStart)
	if at < 0 {
		return Plan{}.bounded(), body, false
	}
	rest = body[at:]
	for word := rest; ; word = word[1:] { // each turn reads one word and the space after it
		n := bytes.IndexFunc(word, endsWord)
		if n < 0 {
			n = len(word)
		}
		if !p.set(bytes.TrimRight(word[:n], ".")) {
			return p.bounded(), rest, true
		}
		if word = word[n:]; len(word) == 0 || word[0] != ' ' {
			return p.bounded(), rest, true
		}
	}
}

// endsWord is true of everything that no value of a plan holds. Durations may hold a µ or a dot.
func endsWord(r rune) bool {
	return r != '=' && r != '.' && r != 'µ' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
}

// set takes a word such as "steps=5" and says whether it was one.
func (p *Plan) set(word []byte) bool {
	key, value, _ := bytes.Cut(word, []byte("="))
	if string(key) == "delay" {
		d, err := time.ParseDuration(string(value))
		p.Delay = d
		return err == nil
	}
	n, err := strconv.Atoi(string(value))
	switch string(key) {
	case "steps":
		p.Steps = n
	case "tokens":
		p.Tokens = n
	case "batch":
		p.Batch = n
	default:
		return false
	}
	return err == nil
}
