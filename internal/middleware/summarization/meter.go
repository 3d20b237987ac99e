package summarization

import (
	"bytes"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// meterChannel holds what is known of the size of the requests.
var meterChannel = state.LastValue[meter]("compaction_meter").AsPrivate()

// meter knows how large a request is that ends with the message At: what the provider counted, or else our own guess.
// What follows At is guessed message by message, so a step costs no look at the whole conversation.
type meter struct {
	// At is the id of the last message that was counted; empty: none was.
	At string `json:"at,omitempty"`
	// Raw is our guess of everything up to At, Fixed the part of it that is prompt and tools.
	Raw   int `json:"raw,omitempty"`
	Fixed int `json:"fixed,omitempty"`
	// FixedBytes tells whether Fixed still holds.
	FixedBytes int `json:"fixed_bytes,omitempty"`
	// Reported is what the provider counted for the request and the answer At; 0: it has not since the last compaction.
	Reported int `json:"reported,omitempty"`
	// Scale is what the provider counts for each token of ours; 0: unknown.
	Scale float64 `json:"scale,omitempty"`
	// Base is the first count since the last attempt to compact.
	Base int `json:"base,omitempty"`
}

// Without a count of the provider we guess high, and a count for a small request changes that little: it says nothing
// of large tool results. A count that is far off tells of other things than our tokens.
const (
	unknownScale          = 1.1
	prior                 = 1000 // tokens that speak for unknownScale
	leastScale, mostScale = 0.25, 4
)

func (mt *meter) scale() float64 {
	if mt.Scale == 0 {
		return unknownScale
	}
	return mt.Scale
}

// total is the size of a request in the provider's tokens. raw is our guess of what it holds behind At.
func (mt *meter) total(raw int) int {
	if mt.Reported > 0 {
		return mt.Reported + int(mt.scale()*float64(raw))
	}
	return int(mt.scale() * float64(mt.Raw+raw))
}

// whole is the meter of a request that holds raw behind At. Its scale is that of this request: what is planned for it
// must agree with what was counted.
func (mt meter) whole(raw int) meter {
	total := mt.total(raw)
	mt.Raw += raw
	if mt.Raw > 0 {
		mt.Scale = max(mt.scale(), float64(total)/float64(mt.Raw))
	}
	return mt
}

// room is how many of our tokens the messages of a request may have that has at most total of the provider's.
func (mt *meter) room(total int) int {
	return max(int(float64(total)/mt.scale())-mt.Fixed, 0)
}

// behind guesses the messages behind At. false: At is not among them.
func (mt *meter) behind(msgs []message.Message) (int, bool) {
	raw := 0
	for i := len(msgs) - 1; i >= 0 && mt.At != ""; i-- {
		if msgs[i].ID == mt.At {
			return raw, true
		}
		raw += sizeOf(&msgs[i])
	}
	return 0, false
}

// recount makes the meter count the messages from the beginning.
func (mt *meter) recount(msgs []message.Message) {
	mt.At, mt.Reported = "", 0
	mt.Raw = mt.Fixed
	for i := range msgs {
		mt.Raw += sizeOf(&msgs[i])
	}
}

// fix notes the size of prompt and tools, which cost too much to look at before every call.
func (mt *meter) fix(req *agent.ModelRequest) {
	n := len(req.System) + len(req.Tools)
	for i := range req.Tools {
		n += len(req.Tools[i].Description) + len(req.Tools[i].Parameters)
	}
	if n == mt.FixedBytes {
		return
	}
	fixed := tokens.Fixed(req.System, req.Tools)
	mt.Raw += fixed - mt.Fixed
	mt.Fixed, mt.FixedBytes = fixed, n
}

// answered moves the meter on to the answer of a request whose size we guessed as raw.
func (mt *meter) answered(raw int, answer *message.Message) {
	mt.At, mt.Raw = answer.ID, raw+sizeOf(answer)
	mt.Reported = 0
	if u := answer.Usage; u != nil {
		mt.Reported = max(u.TotalTokens, u.InputTokens+u.OutputTokens)
	}
	if mt.Reported > 0 {
		scale := (float64(mt.Reported) + unknownScale*prior) / (float64(mt.Raw) + prior)
		mt.Scale = min(max(scale, leastScale), mostScale)
	}
	if mt.Base == 0 {
		mt.Base = mt.total(0)
	}
}

// sizeOf guesses what a message takes in a request, with the images that a note brings along.
func sizeOf(m *message.Message) int {
	n := tokens.Message(m)
	if refs := m.Kwargs[picture.KeyRefs]; len(refs) > 0 {
		n += bytes.Count(refs, []byte("{")) * tokens.Image
	}
	return n
}
