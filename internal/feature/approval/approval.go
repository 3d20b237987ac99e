// Package approval asks a person whether a tool may be called. The question stops the run before the call has done
// anything; the answer, which may come days later and to another process, is given to the same call. An answer with a
// scope is also a [Grant], a row by which later calls like it are allowed without asking, until it is revoked.
//
// Question and answer have the shape of LangChain's human-in-the-loop requests, so that its clients can show them: one
// question for each call, with one action in it. Each name is there in the spelling of LangChain for Python, which its
// chat UI reads, and in that for JavaScript; an answer may use either.
//
//	{"action_requests":[{"name":"bash","args":{...},"description":"..."}],
//	 "review_configs":[{"action_name":"bash","allowed_decisions":["approve","edit","reject"],
//	                    "actionName":"bash","allowedDecisions":["approve","edit","reject"]}],
//	 "actionRequests":[...],"reviewConfigs":[...]}
//
// Where the run can use secrets, "secrets" names those that the answer is to bring again:
// [{"name":"API_KEY"},{"name":"REGION","optional":true}].
//
//	{"decisions":[{"type":"approve"}]}
//	{"decisions":[{"type":"approve","scope":"thread"}]}
//	{"decisions":[{"type":"approve","scope":"always","pattern":"git status*"}]}
//	{"decisions":[{"type":"edit","editedAction":{"name":"bash","args":{...}}}]}
//	{"decisions":[{"type":"reject","message":"no way"}]}
package approval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/tool"
)

// Kind is what was decided.
type Kind string

// The kinds.
const (
	Approve Kind = "approve"
	Edit    Kind = "edit"   // the call runs with other arguments
	Reject  Kind = "reject" // it does not run
)

// Decision is the answer to one question.
type Decision struct {
	Kind Kind
	// Name and Args are the changed call of Edit; an empty Name is the call's own.
	Name string
	Args json.RawMessage
	// Message is what the person says to the model with Reject; it may be empty.
	Message string
	// Scope says for which calls Approve is, and Pattern which these are; empty is the call's own.
	Scope   Scope
	Pattern string
}

// maxArgs bounds the arguments in the description; the question holds all of them once more.
const maxArgs = 4000

// callIntro stands between why a question is asked and the call that it is about.
const callIntro = "\n\nTool: "

// Ask returns the error that pauses the run until somebody has decided about the call. reason says why it is asked;
// problem, if not empty, why an answer that was given could not be used.
func Ask(call tool.Call, reason, problem string) *tool.InterruptError {
	return ask(call, reason, problem, false)
}

// AskWithScopes is Ask of one that looks for grants before it asks: the answer may have a scope.
func AskWithScopes(call tool.Call, reason, problem string) *tool.InterruptError {
	return ask(call, reason, problem, true)
}

func ask(call tool.Call, reason, problem string, scopes bool) *tool.InterruptError {
	text := "Tool execution requires approval"
	if reason != "" {
		text += ": " + reason
	}
	if problem != "" {
		text = "The answer could not be used: " + problem + "\n\n" + text
	}
	text += callIntro + call.Name + "\nArgs: " + pretty(call.Args)
	args := call.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	action := rawjson.Begin(nil)
	action.String("name", call.Name)
	action.Raw("args", args)
	action.String("description", text)
	one, err := action.End()
	if err != nil { // arguments that are no JSON reach no tool
		return questioned(json.RawMessage("null"))
	}
	own, err := PatternOf(call.Name, args)
	if !scopes || err != nil {
		return questioned(question(one, reviewOf(call.Name, nil)))
	}
	return questioned(question(one, reviewOf(call.Name, &own)))
}

func questioned(value json.RawMessage) *tool.InterruptError {
	return &tool.InterruptError{Questions: []tool.Question{{Value: value}}}
}

// reviewOf says which decisions there are about a tool, and with a pattern which scopes.
func reviewOf(name string, own *Pattern) []byte {
	o := rawjson.Begin(nil)
	for _, keys := range [][2]string{{"action_name", "allowed_decisions"}, {"actionName", "allowedDecisions"}} {
		o.String(keys[0], name)
		o.Raw(keys[1], json.RawMessage(`["approve","edit","reject"]`))
	}
	if own != nil {
		offer(&o, *own)
	}
	review, _ := o.End()
	return review
}

// question asks about one action.
func question(action, review []byte) json.RawMessage {
	actions, reviews := slices.Concat([]byte("["), action, []byte("]")), slices.Concat([]byte("["), review, []byte("]"))
	o := rawjson.Begin(nil)
	for _, keys := range [][2]string{{"action_requests", "review_configs"}, {"actionRequests", "reviewConfigs"}} {
		o.Raw(keys[0], actions)
		o.Raw(keys[1], reviews)
	}
	value, _ := o.End()
	return value
}

func pretty(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, args, "", "  ") != nil {
		return string(args)
	}
	return excerpt.Bound(b.String(), maxArgs)
}

// answer is the answer of a client.
type answer struct {
	Decisions []json.RawMessage `json:"decisions"`
}

type decision struct {
	Type         string          `json:"type"`
	EditedAction *action         `json:"editedAction"`
	EditedPython *action         `json:"edited_action"`
	Args         json.RawMessage `json:"args"`
	Message      string          `json:"message"`
	Scope        string          `json:"scope"`
	Pattern      string          `json:"pattern"`
}

type action struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// listOf takes a list of decisions out of an answer: an object that holds it, or the list by itself.
func listOf(raw json.RawMessage) ([]json.RawMessage, bool) {
	var a answer
	if json.Unmarshal(raw, &a) == nil && a.Decisions != nil {
		return a.Decisions, true
	}
	var list []json.RawMessage
	err := json.Unmarshal(raw, &list)
	return list, err == nil && list != nil
}

// Read reads the answer to one question. The error says for people what is wrong with it.
func Read(raw json.RawMessage) (Decision, error) {
	list, ok := listOf(raw)
	if !ok {
		list = []json.RawMessage{raw} // one decision by itself
	}
	if len(list) != 1 {
		return Decision{}, fmt.Errorf("one call waits for one decision, got %d", len(list))
	}
	var d decision
	if err := json.Unmarshal(list[0], &d); err != nil {
		return Decision{}, errors.New(`a decision is an object such as {"type":"approve"}`)
	}
	out, err := d.read()
	if err == nil {
		err = out.scoped(d.Scope, d.Pattern)
	}
	if err != nil {
		return Decision{}, err
	}
	return out, nil
}

func (d *decision) read() (Decision, error) {
	switch kind := Kind(d.Type); kind {
	case Approve:
		return Decision{Kind: kind}, nil
	case Reject:
		return Decision{Kind: kind, Message: d.Message}, nil
	case Edit:
		edited := cmp.Or(d.EditedAction, d.EditedPython, &action{Args: d.Args})
		if args := bytes.TrimSpace(edited.Args); len(args) == 0 || args[0] != '{' {
			return Decision{}, errors.New(`an edit needs "editedAction" with the "args" as an object`)
		}
		return Decision{Kind: kind, Name: edited.Name, Args: edited.Args}, nil
	}
	return Decision{}, fmt.Errorf("%.40q is no decision: approve, edit or reject", d.Type)
}

// IsQuestion reports whether a question is one of this package.
func IsQuestion(value json.RawMessage) bool {
	var q struct {
		Actions []json.RawMessage `json:"actionRequests"`
	}
	return json.Unmarshal(value, &q) == nil && len(q.Actions) > 0
}

// Split gives each of several questions its decision out of one list of them, in the order of asking. ok is false if
// the answer holds no such list.
func Split(raw json.RawMessage, questions int) (answers []json.RawMessage, ok bool, err error) {
	list, ok := listOf(raw)
	if !ok {
		return nil, false, nil
	}
	if len(list) != questions {
		return nil, true,
			fmt.Errorf("%d calls wait for approval and the answer has %d decisions: give one for each, in the order "+
				"of asking", questions, len(list))
	}
	for _, d := range list {
		answers = append(answers, bytes.Join([][]byte{[]byte(`{"decisions":[`), d, []byte(`]}`)}, nil))
	}
	return answers, true, nil
}
