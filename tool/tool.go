// Package tool is the contract of what an agent can do: a [Tool] has a [Spec] that the model sees and a Run that
// does the work and hands back a [Result]. [New] makes a tool of a Go function and derives the JSON Schema of its
// arguments from a struct; [Schema] checks and repairs what a model sends.
package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Effect says what happens when a call is made a second time after a crash.
type Effect int

// The effects. The zero value is the cautious one.
const (
	// SideEffects: running it twice may do harm. Its intent is made durable before it starts, and a call that a crash
	// cut off is not run again: the model is told that the outcome is unknown.
	SideEffects Effect = iota
	// Idempotent: running it again has the same effect as running it once.
	Idempotent
	// ReadOnly: it changes nothing.
	ReadOnly
)

// Spec describes a tool.
type Spec struct {
	// Name is what the model calls it: ^[A-Za-z0-9_-]{1,64}$.
	Name string
	// Description is the text that the model reads.
	Description string
	// Parameters is the JSON Schema of the arguments, an object schema. Empty means no arguments.
	Parameters json.RawMessage
	Effect     Effect
	// ReturnDirect ends the turn after this tool (and the calls beside it) ran, without another model call.
	ReturnDirect bool
	// Timeout bounds one call; 0 means the agent's default.
	Timeout time.Duration

	schema *Schema // of Parameters, if it was parsed already; see Schema
}

// Schema returns Parameters parsed. That of a tool that [New] made, or of a spec that [MustParse] returned, is parsed
// already; others cost a [ParseSchema], and the error is its.
func (s Spec) Schema() (*Schema, error) {
	if s.schema != nil && bytes.Equal(s.schema.raw, s.Parameters) {
		return s.schema, nil
	}
	return ParseSchema(s.Parameters)
}

// Tool is something a model can call. Run is called from several goroutines at once.
type Tool interface {
	Spec() Spec
	// Run does the work. What the model should see, failures included, is a Result. An error becomes one where a
	// middleware makes it one, as in every agent but that of pudu.New; there it ends the run. An [InterruptError]
	// pauses the run until a human answers.
	Run(ctx context.Context, call *Call) (*Result, error)
}

// Inspector is implemented by a tool with side effects that can look at what is left of a call that a crash cut off.
type Inspector interface {
	// Inspect says for the model what the call started, how far it is known to have come, and how to find out the rest.
	// It changes nothing and returns within seconds; "" means that there is nothing to say.
	Inspect(ctx context.Context, call *Call) string
}

// Ordered is implemented by a tool whose calls must not overtake each other: calls of one message run side by side, but
// those that work on the same thing, such as one file, run in the order in which the model made them.
type Ordered interface {
	// Lane names what the call works on, "" for nothing that others could. Tools share their lanes. The arguments are
	// those that the model sent, checked by nobody yet.
	Lane(args json.RawMessage) string
}

// Call is one request of the model, with what the tool may know of the run.
type Call struct {
	ID   string
	Name string
	// Args is a JSON object that fits the tool's schema.
	Args json.RawMessage
	// State is the thread's state before this step; calls that run side by side see the same.
	State                   state.State
	ThreadID, RunID, UserID string
	// Env is what the tool may use in the run.
	Env Env
	// Answer is the human's answer to this call's interrupt when the run is resumed; nil before that. It lets a tool
	// ask first and act later; see [Call.Ask].
	Answer json.RawMessage
	// Answers are those to questions that the call has handed on from somebody below it, by [Question.ID]; nil if there
	// are none. Questions of the call that are not answered have to be asked again.
	Answers map[string]json.RawMessage
	// Emit shows a JSON object to the clients that follow the run. Never nil.
	Emit func(v any)
	// Progress shows live output. Never nil.
	Progress func(text string)
}

// Check puts Args into a form that fits the schema, as [Schema.Check] does; on an error they stay as they are.
func (c *Call) Check(s *Schema) error {
	args, err := s.Check(c.Args)
	if err == nil {
		c.Args = args
	}
	return err
}

// Ask returns the human's answer to question, or the error that pauses the run until there is one. A tool asks before
// it acts, because everything before the question runs again after the answer.
func (c *Call) Ask(question any) (json.RawMessage, error) {
	if c.Answer != nil {
		return c.Answer, nil
	}
	raw, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	return nil, &InterruptError{Questions: []Question{{Value: raw}}}
}

// InterruptError pauses a run to ask a human. Each of its questions is answered by itself.
type InterruptError struct {
	Questions []Question
}

// Question is what a human is asked.
type Question struct {
	// ID is that of the interrupt, by which it is answered. Empty is the call's own question, of which there is one at
	// most; one that the call hands on from somebody below it, such as a sub-agent, has the id that it has there.
	ID string
	// Value is what clients show.
	Value json.RawMessage
}

func (e *InterruptError) Error() string {
	text := "run paused for a human:"
	for _, q := range e.Questions {
		text += " " + string(q.Value)
	}
	return text
}

// Goto is where the loop goes next. The zero value leaves the loop's own choice.
type Goto string

// Targets of [Goto].
const (
	Model Goto = "model" // the first before_model hook, then the model
	Tools Goto = "tools"
	End   Goto = "end" // the after_agent hooks, then the end
)

// Command is what hooks and tools hand back to the loop: a change of the state, and where to go.
type Command struct {
	Update state.Update
	Goto   Goto
}

// Result is the outcome of a call.
type Result struct {
	// Content is what the model sees; empty content reads as "(no output)".
	Content []message.Part
	// IsError marks a failure that the model can act on.
	IsError bool
	// Artifact is for the UI; it is never sent to a model.
	Artifact json.RawMessage
	// Kwargs become additional_kwargs of the tool message.
	Kwargs message.Fields
	// MessageID is the id of the tool message; empty means one derived from the run, the AI message and the call.
	MessageID string
	// Summary is one line for people who watch; empty means that the content's first line serves.
	Summary string
	// Stored is the virtual path of a file in which a tool that shortened the content itself has kept all of it; empty
	// if there is none. Nobody stores such a result a second time.
	Stored string
	Command
}

// Text makes a result of one text.
func Text(s string) *Result { return &Result{Content: []message.Part{message.Text(s)}} }

// Error makes a result that tells the model what went wrong.
func Error(s string) *Result { r := Text(s); r.IsError = true; return r }

// Text returns the text parts of the result joined.
func (r *Result) Text() string { m := message.Message{Content: r.Content}; return m.Text() }
