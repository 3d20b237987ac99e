package load

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// lastToken ends every answer: a client that finds it in the state knows that the run came to its end.
const lastToken = "load-done"

const (
	frameHead = `data: {"id":"chatcmpl-`
	frameDone = "data: [DONE]\n\n"
	argsPiece = 4 // letters of arguments per frame, about a token
)

// hole is where the id of the completion goes. Servers take it for the id of the message, so each answer needs its own.
const hole = "000000000000"

// frames are the server-sent events of every answer, made once, each with its [hole].
type frames struct {
	role   []byte     // the first frame of every answer
	tokens [][]byte   // token i of an answer
	last   []byte     // its last token
	calls  [][][]byte // tool call i, in pieces as models send them
	whole  []string   // the same in one piece
	stop   []byte     // the end of an answer
	called []byte     // the end of a tool call
	usage  []byte     // what comes after either
}

// makeFrames renders the frames for tool calls with those arguments, in which %d is the number of the step.
func makeFrames(tool, args string) *frames {
	f := &frames{
		role:   render(`{"role":"assistant","content":""}`, "null"),
		last:   render(`{"content":"`+lastToken+`"}`, "null"),
		stop:   render(`{}`, `"stop"`),
		called: render(`{}`, `"tool_calls"`),
		usage:  renderUsage(),
		tokens: make([][]byte, MaxTokens-1),
	}
	for i := range f.tokens {
		f.tokens[i] = render(`{"content":"`+tokenText(i)+`"}`, "null")
	}
	for i := range MaxSteps {
		args := strings.ReplaceAll(args, "%d", strconv.Itoa(i+1))
		f.calls = append(f.calls, callPieces(tool, args, i))
		f.whole = append(f.whole, callStart(tool, i)+quote(args)+"}}")
	}
	return f
}

// tokenText is token i of an answer, but for its last.
func tokenText(i int) string { return fmt.Sprintf("t%05d ", i) }

// answerText is the whole text of an answer of n tokens.
func answerText(n int) string {
	var b strings.Builder
	for i := range n - 1 {
		b.WriteString(tokenText(i))
	}
	return b.String() + lastToken
}

// token is frame i of an answer of n tokens.
func (f *frames) token(i, n int) []byte {
	if i == n-1 {
		return f.last
	}
	return f.tokens[i]
}

func callPieces(tool, args string, step int) [][]byte {
	pieces := [][]byte{render(`{"tool_calls":[`+callStart(tool, step)+`""}}]}`, "null")}
	for piece := range slices.Chunk([]rune(args), argsPiece) {
		pieces = append(pieces, render(`{"tool_calls":[{"index":0,"function":{"arguments":`+quote(string(piece))+`}}]}`, "null"))
	}
	return pieces
}

func callStart(tool string, step int) string {
	return `{"index":0,"id":"call_` + strconv.Itoa(step) + `","type":"function","function":{"name":` + quote(tool) + `,"arguments":`
}

func quote(s string) string { return string(rawjson.AppendString(nil, s)) }

func renderUsage() []byte {
	return []byte(frameHead + hole + `","object":"chat.completion.chunk","created":1767323045,"model":"load","choices":[],` +
		`"usage":{"prompt_tokens":1200,"completion_tokens":20,"total_tokens":1220}}` + "\n\n")
}

func render(delta, finish string) []byte {
	return []byte(frameHead + hole + `","object":"chat.completion.chunk","created":1767323045,"model":"load",` +
		`"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}` + "\n\n")
}
