package load

import (
	"bytes"
	"fmt"
	"time"
)

// Plan is what the model does in one run. It travels in the text of the user's message, so that any server can hand it
// on to the model without knowing of it. The zero value is one answer of one token.
type Plan struct {
	// Steps is how many tool calls come, one per model call, before the answer. From 0 to [MaxSteps].
	Steps int
	// Tokens is the length of the answer, from 1 to [MaxTokens].
	Tokens int
	// Delay is the time from one token to the next, in whole milliseconds; 0 means as fast as they can be sent. At most
	// a minute.
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

const (
	planFormat = "steps=%d tokens=%d delay=%dms batch=%d"
	longest    = 200 // bytes of a plan
)

// String is the plan as it stands in a message, such as "steps=5 tokens=200 delay=20ms batch=1".
func (p Plan) String() string {
	p = p.bounded()
	return fmt.Sprintf(planFormat, p.Steps, p.Tokens, p.Delay.Milliseconds(), p.Batch)
}

func (p Plan) bounded() Plan {
	p.Steps = min(max(p.Steps, 0), MaxSteps)
	p.Tokens = min(max(p.Tokens, 1), MaxTokens)
	p.Delay = min(max(p.Delay, 0), maxDelay)
	p.Batch = min(max(p.Batch, 1), maxBatch)
	return p
}

// readPlan returns the last plan in a model request and what comes after its beginning. Without a plan, as in a request
// for a title, ok is false. Of a plan that is cut off the first numbers count.
func readPlan(body []byte) (p Plan, rest []byte, ok bool) {
	at := bytes.LastIndex(body, []byte("steps="))
	if at < 0 {
		return p.bounded(), body, false
	}
	rest = body[at:]
	var delay int32
	_, _ = fmt.Sscanf(string(rest[:min(len(rest), longest)]), planFormat, &p.Steps, &p.Tokens, &delay, &p.Batch)
	p.Delay = time.Duration(delay) * time.Millisecond
	return p.bounded(), rest, true
}
