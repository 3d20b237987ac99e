// Package replay turns a finished run into a regression test, and runs such a test. It stands beside the lead agent: it
// reads runs from the log and plays them through a manager of runs, whose agent, middlewares, tools and sandbox are
// the real ones; the model alone is a [Player] of the turns that were recorded.
//
//	Record: the run's log -> Recording -> Encode -> a file that people can read and edit
//	Play:   Parse -> a fresh thread with the state and files from before the run -> the run again -> Record -> Compare
//
// # What is compared
//
// The run that was played is recorded in the same way and the two recordings are compared from the start: how many
// messages the conversation had when the model was asked, the answer as it entered the state, each call of the answer
// in the order of the answer (whether it was answered, with which status, text and artifact), then how the run
// ended (status, error, stop reason, questions to a human), the final conversation and the channels that clients know.
// A request to the model is not in the log; of it is checked that the input, and then the results of the last
// calls, are in it. What people said to the run while it worked is said to it again, while the model gives the answer
// before the one that it was read for. Not compared are events, chunk boundaries, the tools that were offered, and
// additional_kwargs.
//
// # What varies by nature
//
// The thread, the run, the input and the answers keep their ids, so that names derived from them stay. What is left,
// before recordings are compared or written:
//   - a string of an artifact, a question or a channel that is a time in RFC 3339, and nothing else, reads "<time>";
//   - the channels "sandbox", "thread_data" and "background_tasks" say where a thread lives, and are left out, as are
//     private ones.
//
// Nothing else is: what a command prints of clocks, process numbers or chance is a difference. Who knows that deletes
// the result's "text" and "sha256" from the file; then only its status and artifact are compared. Files that a command
// made before the run and that changed since are not in the recording, nor are processes that still ran.
package replay

import (
	"strings"
	"time"

	"github.com/pudu-ai/pudu/message"
)

// Version is the version of the file format.
const Version = 1

// Bounds of a recording.
const (
	// MaxSize bounds a file, in bytes.
	MaxSize = 64 << 20
	// maxText bounds a result that is kept whole, in bytes; of a longer one there is the start and a hash.
	maxText = 64 << 10
	// startOfText is how much of a longer result is kept for people, in bytes.
	startOfText = 2 << 10
	// maxFile and maxFiles bound the content of one file and of all files, in bytes; larger ones are only named.
	maxFile  = 1 << 20
	maxFiles = 16 << 20
)

// Recording is a finished run as a test.
type Recording struct {
	Version int `yaml:"pudu_replay"`
	// Thread and Run are where it was recorded.
	Thread string `yaml:"thread"`
	Run    string `yaml:"run"`
	// Model is "provider/model" of the recorded turns.
	Model    string `yaml:"model"`
	MaxSteps int    `yaml:"max_steps,omitempty"`
	// At is when the run was admitted, in the zone where it was; a replay's clock begins there. The zero time is that
	// of the replay.
	At time.Time `yaml:"at,omitempty"`
	// Config and Context are those of the run's request: what the client chose.
	Config  Value `yaml:"config,omitempty"`
	Context Value `yaml:"context,omitempty"`
	// Before is the thread's state when the run began, by channel.
	Before map[string]Value `yaml:"before,omitempty"`
	// Input are the messages that the run added to the conversation.
	Input []Value `yaml:"input"`
	Turns []Turn  `yaml:"turns"`
	After After   `yaml:"after"`
	// Files are the thread's files when the run began.
	Files []File `yaml:"files,omitempty"`
}

// Turn is one call of the model and what came of it.
type Turn struct {
	// ID is that of the answer's message; empty takes a new one.
	ID string `yaml:"id,omitempty"`
	// Said are the messages that people said to the run while it worked, and that it read right before it asked the
	// model.
	Said []Value `yaml:"said,omitempty"`
	// Sees is how many messages the conversation had when the model was asked.
	Sees      int `yaml:"sees"`
	Reasoning Str `yaml:"reasoning,omitempty"`
	Text      Str `yaml:"text,omitempty"`
	// Content is the answer part by part, where Reasoning and Text cannot say it: signed or redacted reasoning.
	Content []Part `yaml:"content,omitempty"`
	Calls   []Call `yaml:"calls,omitempty"`
	// FinishReason is the provider's word for why the answer ended.
	FinishReason string `yaml:"finish_reason,omitempty"`
	Usage        *Usage `yaml:"usage,omitempty,flow"`
	// Metadata and Kwargs are the rest of response_metadata and additional_kwargs: JSON objects.
	Metadata Value `yaml:"metadata,omitempty"`
	Kwargs   Value `yaml:"kwargs,omitempty"`
	// Error says that the call failed.
	Error *Failure `yaml:"error,omitempty"`
	// Cancelled says that the run was cancelled during this call; Text is what had come until then.
	Cancelled bool `yaml:"cancelled,omitempty"`
}

// Part is one part of an answer: text, or reasoning with what the vendor wants back.
type Part struct {
	Text      Str    `yaml:"text,omitempty"`
	Reasoning Str    `yaml:"reasoning,omitempty"`
	Signature string `yaml:"signature,omitempty"`
	Redacted  string `yaml:"redacted,omitempty"`
}

// Call is one tool call of a turn.
type Call struct {
	ID   string `yaml:"id"`
	Tool string `yaml:"tool"`
	// Args is a JSON object; RawArgs are arguments that are none, as the model wrote them.
	Args    Value `yaml:"args,omitempty"`
	RawArgs *Str  `yaml:"raw_args,omitempty"`
	// Extra are provider fields that travel with the call: a JSON object.
	Extra Value `yaml:"extra,omitempty"`
	// Result is nil when the run ended before the call was answered.
	Result *Result `yaml:"result,omitempty"`
}

// Result is the answer to a call.
type Result struct {
	// Status is "success" or "error".
	Status string `yaml:"status"`
	// Text is what the model got. Of one that is too long, Start is the beginning, and SHA256 the hash in hex of all
	// Bytes bytes. Without Text and SHA256 it is not compared.
	Text   *Str   `yaml:"text,omitempty"`
	Start  Str    `yaml:"start,omitempty"`
	Bytes  int    `yaml:"bytes,omitempty"`
	SHA256 string `yaml:"sha256,omitempty"`
	// Artifact is what clients got beside it.
	Artifact Value `yaml:"artifact,omitempty"`
}

// Failure is how a model call failed.
type Failure struct {
	// Class is a model.Class; empty is a failure that is not the provider's and ends the run.
	Class   string `yaml:"class,omitempty"`
	Status  int    `yaml:"status,omitempty"` // of HTTP
	Message Str    `yaml:"message"`
	// RetryAfter is the wait that the provider asked for, in Go's form.
	RetryAfter string `yaml:"retry_after,omitempty"`
}

// Usage are the tokens of one call.
type Usage struct {
	Input         int `yaml:"input"`
	Output        int `yaml:"output"`
	Total         int `yaml:"total"`
	CacheRead     int `yaml:"cache_read,omitempty"`
	CacheCreation int `yaml:"cache_creation,omitempty"`
	Reasoning     int `yaml:"reasoning,omitempty"`
}

// File is a file of the thread. Neither Text nor Base64 means that it is empty, or, with SHA256, that it was too large
// and is missing here.
type File struct {
	Path   string `yaml:"path"` // as the agent sees it
	Text   Str    `yaml:"text,omitempty"`
	Base64 Str    `yaml:"base64,omitempty"`
	Bytes  int64  `yaml:"bytes,omitempty"`
	SHA256 string `yaml:"sha256,omitempty"`
}

// After is how the run ended.
type After struct {
	// Status is "success", "error" or "interrupted".
	Status     string `yaml:"status"`
	Error      Str    `yaml:"error,omitempty"`
	StopReason string `yaml:"stop_reason,omitempty"`
	// Questions are what the run waits for a human to answer.
	Questions []Question `yaml:"questions,omitempty"`
	// Messages is the conversation.
	Messages []Entry `yaml:"messages"`
	// Channels are the other channels that clients know, by name.
	Channels map[string]Value `yaml:"channels,omitempty"`
}

// Question is what a tool asked a human.
type Question struct {
	Call  string `yaml:"call"`
	Value Value  `yaml:"value,omitempty"`
}

// Entry is a message of the conversation: a reference to what stands elsewhere in the recording ("before 1", "input 1",
// "turn 2", "result 2.1" for the first call of turn 2), else its role and text.
type Entry struct {
	Ref  string
	Role string
	Text Str
}

// Calls counts the tool calls.
func (r *Recording) Calls() int {
	n := 0
	for i := range r.Turns {
		n += len(r.Turns[i].Calls)
	}
	return n
}

// Uses reports whether the model called the tool.
func (r *Recording) Uses(tool string) bool {
	for _, t := range r.Turns {
		for _, c := range t.Calls {
			if c.Tool == tool {
				return true
			}
		}
	}
	return false
}

// conversation is the channel of the messages.
const conversation = "messages"

// visible is the text of a message with a stand-in for each part that is none.
func visible(m message.Message) string {
	var b strings.Builder
	for _, p := range m.Content {
		switch p.Type {
		case message.PartText:
			b.WriteString(p.Text)
		case message.PartReasoning:
		case message.PartImage:
			b.WriteString("[image " + digest([]byte(p.URL)) + "]")
		default:
			b.WriteString("[" + string(p.Type) + " " + digest(p.Raw) + "]")
		}
	}
	return b.String()
}
