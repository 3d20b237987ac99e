package openai

import "github.com/pudu-ai/pudu/internal/model/history"

// What the wires demand of a conversation. Every row has one of these; see package history for what is mended without a
// rule.

// names is what functions may be called.
var names = history.Shape{Min: 1, Max: 64, Chars: history.Chars("a-zA-Z0-9_-")}

// known are the blocks of the protocol beside text and images.
var known = []string{"file", "input_audio"}

// freely is OpenAI's own wire, the most liberal one.
var freely = history.Rules{IDs: history.Shape{Max: 64}, Tools: names, Speakers: names, Images: history.ImagesInUser,
	RawTypes: known}

// plainly is for services whose documentation shows nothing but the usual: one system message, which comes first, and
// no message without a content.
var plainly = history.Rules{
	System: history.SystemFirst, Blank: history.BlankFilled, IDs: history.Shape{Max: 64}, Tools: names, Speakers: names,
	Images: history.ImagesInUser, RawTypes: append([]string{"video_url"}, known...),
}

// inTurns is for servers that put the conversation into a model's template: many templates refuse anything but users
// and assistants who take turns, and a conversation that an answer begins.
var inTurns = history.Rules{
	System: history.SystemFirst, UserFirst: true, Alternate: true, IDs: history.Shape{Max: 64}, Tools: names,
	Speakers: names, Images: history.ImagesInUser, RawTypes: plainly.RawTypes,
}

// geminis is the gateway to Gemini, which refuses what Gemini itself does.
var geminis = history.Rules{
	System: history.SystemFirst, UserFirst: true, Alternate: true, NoPrefill: true, Blank: history.BlankFilled,
	Tools: names, Speakers: names, Images: history.ImagesInUser, RawTypes: []string{},
}

// mistrals is docs.mistral.ai: ids of nine letters and digits, an answer behind results, a user's word at the end.
var mistrals = history.Rules{
	System: history.SystemFirst, UserFirst: true, AnswerResults: true, NoPrefill: true, Blank: history.BlankDropped,
	UniqueIDs: true, IDs: history.Shape{Min: 9, Max: 9, Chars: history.Chars("a-zA-Z0-9")}, Tools: names,
	Speakers: names, Images: history.ImagesInUser, RawTypes: []string{},
}

// inProse is for servers that take nothing but texts.
var inProse = history.Rules{System: history.SystemFirst, UserFirst: true, Alternate: true,
	Images: history.ImagesNowhere, RawTypes: []string{}}
