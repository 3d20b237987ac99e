// Package event names what happens in a run. Events are the run's log: the owner of the run numbers them, the store
// keeps them, and every view of a run (the terminal, a stream mode, a history page) is a projection of them.
//
// An event is either durable, then readers see it only after the transaction that wrote it, or live ([Chunk],
// [Progress]): pieces of a step that is still running, kept in the memory of the run's owner and never stored.
package event

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ID orders the events of a run: by attempt, then by number. It is written "<attempt>-<n>" and never used twice.
type ID struct {
	Attempt int
	N       int64
}

// String returns "<attempt>-<n>".
func (id ID) String() string {
	b := strconv.AppendInt(make([]byte, 0, 24), int64(id.Attempt), 10)
	return string(strconv.AppendInt(append(b, '-'), id.N, 10))
}

// ParseID reads what [ID.String] wrote: two decimal numbers without sign or leading zeros. Every id has one spelling.
func ParseID(s string) (ID, error) {
	attempt, n, _ := strings.Cut(s, "-")
	a, errA := parseNumber(attempt, strconv.IntSize)
	b, errB := parseNumber(n, 64)
	if errA != nil || errB != nil {
		return ID{}, fmt.Errorf("event id %.60q is not of the form <attempt>-<number>", s)
	}
	return ID{Attempt: int(a), N: b}, nil
}

func parseNumber(s string, bits int) (int64, error) {
	if s == "" || s[0] < '0' || s[0] > '9' || s[0] == '0' && len(s) > 1 { // a sign or a leading zero
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(s, 10, bits)
}

// Compare orders ids.
func (id ID) Compare(o ID) int {
	switch {
	case id == o:
		return 0
	case id.Attempt < o.Attempt, id.Attempt == o.Attempt && id.N < o.N:
		return -1
	}
	return 1
}

// Event is one thing that happened in a run.
type Event struct {
	ID   ID
	Time time.Time
	// Node is where it happened: "model", "tools", "TitleMiddleware.after_model"; empty for the run itself.
	Node string
	// Namespace is the path of sub-agents that it happened in; empty in the lead agent.
	Namespace []string
	// Open is the number of the first chunk of the oldest message that was being streamed when a durable event was
	// numbered; 0 if none was. Who reads the log knows by it that chunks from there on are still to come, with the
	// Message. Readers of a run need not look at it.
	Open int64
	Data Data
}

// Kind tells the events apart; it is the "kind" of the JSON form.
type Kind string

// The kinds of events, each with its own [Data] type.
const (
	KindRun       Kind = "run"        // Run: the run's status changed
	KindState     Kind = "state"      // State: a node updated the thread's state
	KindMessage   Kind = "message"    // Message: a streamed message is complete
	KindDiscard   Kind = "discard"    // Discard: streamed text is withdrawn
	KindToolStart Kind = "tool_start" // ToolStart: a tool call begins (the intent)
	KindToolEnd   Kind = "tool_end"   // ToolEnd: a tool call has its result
	KindInterrupt Kind = "interrupt"  // Interrupt: the run waits for a human
	KindCustom    Kind = "custom"     // Custom: anything a tool or middleware says
	KindChild     Kind = "child"      // Child: a run below has committed something
	KindCall      Kind = "call"       // Call: a call of the model is over, and no Message tells of it
	KindChunk     Kind = "chunk"      // Chunk: live piece of a message
	KindProgress  Kind = "progress"   // Progress: live output of a tool
)

// Data is what an event carries: one of the types below, by value.
type Data interface{ Kind() Kind }

// Run statuses, as LangGraph names them.
const (
	StatusPending     = "pending"
	StatusRunning     = "running"
	StatusSuccess     = "success"
	StatusError       = "error"
	StatusInterrupted = "interrupted"
)

// Run says that the run has a new status.
type Run struct {
	Status string `json:"status"`
	// Error is for people: what failed and what to do. Set only with StatusError.
	Error string `json:"error,omitempty"`
	// StopReason tells why a run ended other than by its own decision, such as "turn_capped" or "cancelled".
	StopReason string `json:"stop_reason,omitempty"`
}

// State is one node's update of the thread's state, in the encoding of state.Update.
type State struct {
	Writes json.RawMessage `json:"writes,omitempty"`
	// Checkpoint is the id of the checkpoint that holds the update, Next the node that the run goes on with after it.
	Checkpoint string `json:"checkpoint,omitempty"`
	Next       string `json:"next,omitempty"`
	// Last says that the checkpoint holds no later update: the state is the checkpoint's now.
	Last bool `json:"last,omitempty"`
	// Update is what Writes encodes, for readers in the process that made it: they need not decode it. It is nil in an
	// event that was read from the log or came from another process. All readers share it, and nobody may change it.
	Update Update `json:"-"`
}

// Update is an update of a thread's state that is not encoded: a state.Update, which this package does not know.
type Update interface {
	// AppendJSON appends the form that [State.Writes] has.
	AppendJSON(b []byte) ([]byte, error)
}

// Message says that a message which was streamed in chunks is complete and in the state. Chunks holds what each live
// [Chunk] carried, so that a reader who was cut off can be served from the same place.
type Message struct {
	MessageID string `json:"message_id"`
	// First is the number of the event id of the first chunk; the others follow it, see [Cut.Skip].
	First  int64 `json:"first,omitempty"`
	Chunks []Cut `json:"chunks,omitempty"`
	// Call is the call that the message answers, where what calls are sent is kept.
	Call *Call `json:"call,omitempty"`
}

// Call tells how a call of the model went: its last try, and those before it that came to nothing.
type Call struct {
	Try

	// MessageID is the answer, in an event of its own; empty if there is none.
	MessageID string `json:"message_id,omitempty"`
	Before    []Try  `json:"tries,omitempty"`
	// Sent is what the model was given, as who keeps it writes it.
	Sent json.RawMessage `json:"sent,omitempty"`
}

// Try is one try of a call. Times are in milliseconds.
type Try struct {
	// Model is the configured name of the one that was asked.
	Model string `json:"m,omitempty"`
	// Began is since 1970; First is the time until the first piece came, 0 if none did; Took is that of all of it.
	Began int64 `json:"b"`
	First int64 `json:"f,omitempty"`
	Took  int64 `json:"t"`
	// Class and Error say why there is no whole answer.
	Class string `json:"c,omitempty"`
	Error string `json:"e,omitempty"`
}

// Cut is the boundary of one chunk: how many bytes of reasoning, of text and of each tool call's arguments it carried.
// The first piece of a call also has its id and name.
type Cut struct {
	Reasoning int   `json:"r,omitempty"`
	Text      int   `json:"t,omitempty"`
	Args      []int `json:"a,omitempty"` // pairs: index of the call, bytes
	// Skip counts the events of others that were numbered between the chunk before and this one.
	Skip int `json:"s,omitempty"`
	// Piece is the chunk itself, without MessageID, where the message does not hold it as it was shown: its calls were
	// dropped or got other ids, a call's name came late, ... The numbers above are then 0.
	Piece *Chunk `json:"p,omitempty"`
}

// Discard withdraws the chunks of a message that will never be committed (a retried or failed model call).
type Discard struct {
	MessageID string `json:"message_id"`
	Reason    string `json:"reason,omitempty"`
}

// ToolStart is the intent of a tool call. For a tool with side effects it is durable before the tool starts.
type ToolStart struct {
	CallID    string          `json:"call_id"`
	MessageID string          `json:"message_id"` // the AI message that asked
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args,omitempty"`
}

// ToolEnd is the result of a tool call, also of one that never started because its arguments were wrong or a middleware
// answered it: the update that it will make when its step is committed, in the encoding of
// state.Update, so that a resumed run need not call the tool again.
type ToolEnd struct {
	CallID    string          `json:"call_id"`
	MessageID string          `json:"message_id"`
	Tool      string          `json:"tool"`
	IsError   bool            `json:"is_error,omitempty"`
	Writes    json.RawMessage `json:"writes,omitempty"`
	Goto      string          `json:"goto,omitempty"`
	// Summary is one line for people.
	Summary string `json:"summary,omitempty"`
	// Millis is how long the call took.
	Millis int64 `json:"millis"`
}

// Interrupt says that the run stopped to ask a human.
type Interrupt struct {
	InterruptID string          `json:"interrupt_id"`
	CallID      string          `json:"call_id,omitempty"`
	Value       json.RawMessage `json:"value,omitempty"`
}

// Custom is a JSON object that a tool or a middleware wants clients to see.
type Custom struct {
	Value json.RawMessage `json:"value,omitempty"`
}

// Child says that a run below this one, named by the event's namespace, has committed a message, or its end. What that
// is stands in the child's own log, as the event of the id; those between it and the one before that was told of belong
// to it.
type Child struct {
	RunID   string `json:"run_id"`
	Attempt int    `json:"attempt"`
	N       int64  `json:"n"`
}

// At is the id of the child's event.
func (d Child) At() ID { return ID{d.Attempt, d.N} }

// Chunk is a live piece of the message that a model is writing.
type Chunk struct {
	MessageID string          `json:"message_id"`
	Text      string          `json:"text,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
	ToolCalls []ToolCallChunk `json:"tool_calls,omitempty"`
}

// ToolCallChunk is a live piece of a tool call.
type ToolCallChunk struct {
	Index int    `json:"index"`
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Args  string `json:"args,omitempty"`
}

// Progress is live output of a running tool.
type Progress struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
}

// Unknown is an event of a kind that this version does not know, such as one that a newer version stored. It is
// carried through unchanged.
type Unknown struct {
	KindName Kind
	Raw      json.RawMessage // the event's data
}

// Kind implementations.
func (Run) Kind() Kind       { return KindRun }
func (State) Kind() Kind     { return KindState }
func (Message) Kind() Kind   { return KindMessage }
func (Discard) Kind() Kind   { return KindDiscard }
func (ToolStart) Kind() Kind { return KindToolStart }
func (ToolEnd) Kind() Kind   { return KindToolEnd }
func (Interrupt) Kind() Kind { return KindInterrupt }
func (Custom) Kind() Kind    { return KindCustom }
func (Child) Kind() Kind     { return KindChild }
func (Call) Kind() Kind      { return KindCall }
func (Chunk) Kind() Kind     { return KindChunk }
func (Progress) Kind() Kind  { return KindProgress }
func (u Unknown) Kind() Kind { return u.KindName }

// Live reports whether events of the kind are shown while they happen and never stored.
func (k Kind) Live() bool { return k == KindChunk || k == KindProgress }
