// Package history makes any list of messages one that a provider accepts. A thread lives longer than the model that
// began it: it is compacted, cut off, edited, and goes on with another vendor, whose wire has rules of its own about
// who may follow whom, what may be empty and what an id looks like. A provider states them as [Rules] and calls
// [Rules.Request] right before it encodes a request. Stored conversations are never changed.
//
// Some things no wire takes, so that they are mended without a rule: each call of an answer has an id of its own and
// the name of a tool, and is followed by its result, in the order of the calls, before anybody else speaks; a call
// without a result gets one that says that the outcome is unknown; arguments that are no JSON object become
// {"invalid_arguments": "..."}; messages of the role remove are gone. A result without its call, as it is left when
// somebody deletes the answer that asked for it, becomes a user's message that says what it is: nothing that was said
// is lost.
//
// Which rules the wires need:
//
//   - OpenAI, chat completions: IDs of at most 64 characters (40 at some compatible servers), Tools of 64 letters,
//     digits, "_" and "-", Images in users' messages, Speakers if names are sent, RawTypes.
//   - OpenAI, Responses: the same with Blank dropped, since a reasoning item must be followed by what it led to; Images
//     may be in results.
//   - Anthropic: SystemFirst (the encoder lifts them out), UserFirst, NoPrefill, Blank dropped, IDs of letters, digits,
//     "_" and "-" that are unique in the request, Tools like OpenAI's, Images in results, RawTypes. Neighbours of one
//     role are joined by the encoder, which also puts results first in their message.
//   - Gemini: as Anthropic, but without demands on ids; Tools may have "." and ":" and begin with a letter or "_".
//     Alternate: a call must follow a user or a result.
//   - Mistral: SystemFirst, UserFirst, AnswerResults, NoPrefill, Blank dropped, IDs of exactly nine letters and digits,
//     Tools like OpenAI's, Images in users' messages, and no RawTypes.
//   - Open models behind templates (llama.cpp, vLLM, Ollama): SystemFirst or SystemNever, UserFirst and Alternate, for
//     templates that refuse anything else; Images nowhere unless the model can see.
//
// The rules are local, so that a growing history keeps its beginning and with it the provider's cache: what becomes of
// a message depends only on those before it and on the results of its own calls. The exceptions stand at the end:
// NoPrefill puts a word behind an answer that stands last, Alternate joins the next user's message to one that stands
// last, and a result that comes late replaces the one that said "unknown".
package history

import (
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Rules is what a provider's wire demands of a list of messages. The zero value is the most liberal wire.
type Rules struct {
	// System says where system messages may stand; elsewhere their text goes out as a user's, where it stands.
	System System
	// UserFirst: the first message that is not the system's must be a user's. A short one is put before an answer.
	UserFirst bool
	// Alternate: users and assistants take turns. Users' messages side by side become one; between two answers comes a
	// short user's message. It implies SystemFirst.
	Alternate bool
	// AnswerResults: only an answer may follow results. A short one is put before a user's message.
	AnswerResults bool
	// NoPrefill: the list must end with a user's message or a result, and must not be empty. Empty answers at the end
	// are dropped, and a short user's message is put behind any other.
	NoPrefill bool
	// Blank says what becomes of texts without a visible character.
	Blank Blank
	// Images says whose messages may show images.
	Images Images
	// RawTypes are the types of the raw parts that the wire knows; nil means all, empty none. Of others a note remains,
	// and their "text", and so it does of those that stand in an answer: no wire takes them there.
	RawTypes []string
	// IDs is what ids of calls look like, UniqueIDs that no two calls of a request share one. Ids that do not fit are
	// replaced, in call and result alike.
	IDs       Shape
	UniqueIDs bool
	// Tools is what names of tools look like, in calls and results.
	Tools Shape
	// Speakers is what names of everybody else look like. A wire whose encoder sends none leaves it open.
	Speakers Shape
}

// System says where system messages may stand.
type System int

// The values of [System].
const (
	SystemAnywhere System = iota
	SystemFirst           // before all other messages
	SystemNever           // the request's own prompt is the only one
)

// Blank says what becomes of texts without a visible character, and of messages without anything else.
type Blank int

// The values of [Blank]. An answer that holds nothing but reasoning counts as blank, one with calls does not; what
// blank texts an answer has beside something else stay, because a model's own words go back as they came.
const (
	BlankKept Blank = iota
	// BlankDropped takes out blank texts, and messages that then are empty; results stay, without content.
	BlankDropped
	// BlankFilled takes out blank texts, and puts a short text into messages and results that then are empty. System
	// messages are dropped.
	BlankFilled
)

// Images says whose messages may show images. Elsewhere a short text names the picture; those of results are shown
// in a user's message behind all results of the answer.
type Images int

// The values of [Images], from the most liberal to a model that cannot see.
const (
	ImagesAnywhere  Images = iota
	ImagesInResults        // of users and tools
	ImagesInUser
	ImagesNowhere // not even users'
)

// Apply returns messages that follow the rules. It changes none of msgs: what must be otherwise is a copy, and a list
// that needs nothing is returned as it came, without an allocation (but one for the ids of more than 512 calls, if
// they must be unique). Applied again it changes nothing, and the same list always gives the same result.
func (r *Rules) Apply(msgs []message.Message) []message.Message {
	out, _ := r.apply(msgs)
	return out
}

// Request is the request with messages that follow the rules: itself, if they do.
func (r *Rules) Request(req *model.Request) *model.Request {
	msgs, changed := r.apply(req.Messages)
	if !changed {
		return req
	}
	out := *req
	out.Messages = msgs
	return &out
}

func (r *Rules) apply(msgs []message.Message) (out []message.Message, changed bool) {
	paired, inTurn := r.check(msgs)
	if paired && inTurn {
		return msgs, false
	}
	if !paired {
		msgs = r.pair(msgs)
	}
	return r.sequence(msgs), true
}

// system is the rule about system messages with what Alternate implies.
func (r *Rules) system() System {
	if r.Alternate && r.System == SystemAnywhere {
		return SystemFirst
	}
	return r.System
}
