package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// The names of the tasks that others speak of.
const (
	taskAnswers   = "answers"
	taskTool      = "tool"
	taskSchema    = "schema"
	taskArguments = "arguments"
	taskResults   = "results"
)

// task is one of the ten.
type task struct {
	name string
	do   func(*prober, context.Context) finding
}

// tasks is the list, in order. The first one tells whether it makes sense to go on.
func tasks() []task {
	return []task{
		{taskAnswers, (*prober).answers},
		{"streams", (*prober).streams},
		{taskTool, (*prober).tool},
		{"parallel", (*prober).parallel},
		{taskSchema, (*prober).schema},
		{taskArguments, (*prober).arguments},
		{taskResults, (*prober).results},
		{"image", (*prober).image},
		{"thinking", (*prober).thinking},
		{"cache", (*prober).cache},
	}
}

// finding is what a task comes to.
type finding struct {
	outcome Outcome
	detail  string
	minor   bool
	err     error // no answer came
}

func pass(format string, args ...any) finding {
	return finding{outcome: Pass, detail: fmt.Sprintf(format, args...)}
}

func fail(format string, args ...any) finding {
	return finding{outcome: Fail, detail: fmt.Sprintf(format, args...)}
}

func none(format string, args ...any) finding {
	return finding{outcome: NotApplicable, detail: fmt.Sprintf(format, args...)}
}

// lost is the finding of a call that failed. To refuse the request is an answer.
func lost(err error) finding {
	f := fail("%s", describe(err))
	if !refused(err) && err != errTooLong {
		f.err = err
	}
	return f
}

// ask is a request of one user message.
func ask(text string, tools ...model.Tool) model.Request {
	return model.Request{Messages: []message.Message{human(text)}, Tools: tools}
}

func human(text string) message.Message {
	m := message.New(message.Human, text)
	m.ID = "probe"
	return m
}

func (p *prober) answers(ctx context.Context) finding {
	a, err := p.call(ctx, ask("Answer with this one word and nothing else: pudu"), shortRoom)
	if err != nil {
		f := lost(err)
		f.err = err // a refusal of the simplest request says nothing about the model
		return f
	}
	if !strings.Contains(strings.ToLower(a.Text()), "pudu") {
		return fail("was asked for the word pudu and said %s", quote(a.Text()))
	}
	return pass("%s", seconds(a.took))
}

// A stream of fewer pieces is none; one whose pieces come within burst after longPause was held back on its way.
const (
	leastPieces = 3
	burst       = 20 * time.Millisecond
	longPause   = time.Second
)

func (p *prober) streams(ctx context.Context) finding {
	a, err := p.call(ctx, ask("Write the numbers from one to thirty as words, separated by commas, and nothing else."),
		shortRoom)
	switch {
	case err != nil:
		return lost(err)
	case a.pieces == 0:
		return fail("wrote nothing")
	case a.pieces < leastPieces:
		p.advise("the answer does not come in pieces: a person who watches sees nothing until its end. Look for a " +
			"setting of the server, or a proxy that buffers")
		return fail("the whole answer came in %d piece(s), after %s", a.pieces, seconds(a.first))
	case a.last-a.first < burst && a.first > longPause:
		p.advise("all pieces of an answer come at once: turn off the buffering of the proxy in between")
		return fail("%d pieces, but all of them together after %s", a.pieces, seconds(a.first))
	}
	return pass("%d pieces, the first after %s", a.pieces, seconds(a.first))
}

func weather() model.Tool {
	return model.Tool{Name: "get_weather", Description: "Tells the weather of a city.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string","description":"name of the city, in English"}},` +
			`"required":["city"],"additionalProperties":false}`)}
}

// cityOf is the city that a call asks for, in lower case.
func cityOf(c message.ToolCall) string {
	var args struct {
		City string `json:"city"`
	}
	_ = json.Unmarshal(c.Args, &args) // arguments of another shape name no city
	return strings.ToLower(args.City)
}

func (p *prober) tool(ctx context.Context) finding {
	a, err := p.call(ctx, ask("What is the weather in Paris? Use the tool.", weather()), shortRoom)
	if err != nil {
		return lost(err)
	}
	call, problem := p.only(&a, "get_weather")
	switch city := cityOf(call); {
	case problem != "":
		return fail("%s", problem)
	case !strings.Contains(city, "paris"):
		return fail("called it with %s", quote(string(call.Args)))
	}
	return pass("called it")
}

// only is the first call of the tool, or what is wrong with the answer.
func (p *prober) only(a *answer, tool string) (message.ToolCall, string) {
	for _, c := range a.ToolCalls {
		if c.Name == tool {
			return c, ""
		}
	}
	switch {
	case len(a.ToolCalls) > 0:
		return message.ToolCall{}, "called a tool that does not exist: " + quote(a.ToolCalls[0].Name)
	case len(a.InvalidToolCalls) > 0:
		c := a.InvalidToolCalls[0]
		return message.ToolCall{}, fmt.Sprintf("the arguments are no JSON object: %s", quote(c.Args))
	case writtenAsText(a.Text(), tool):
		p.advise("it writes its calls into the text, and neither the server nor the provider reads them there: turn " +
			"on the server's parser " +
			"(vLLM: --enable-auto-tool-choice --tool-call-parser NAME; SGLang: --tool-call-parser NAME; llama.cpp: " +
			"--jinja), or name the provider that it is")
		return message.ToolCall{}, "wrote the call into its text: " + quote(a.Text())
	case a.Truncated():
		return message.ToolCall{}, "was cut off before it called a tool"
	}
	return message.ToolCall{}, "did not call the tool, it said " + quote(a.Text())
}

// writtenAsText recognises a call in a text: the tool's name beside the brackets or tags of the usual formats.
func writtenAsText(text, tool string) bool {
	return strings.Contains(text, tool) && strings.ContainsAny(text, "{<[")
}

func (p *prober) parallel(ctx context.Context) finding {
	a, err := p.call(ctx,
		ask("What is the weather in Paris, Rome and Oslo? Call the tool three times, all in one answer.", weather()),
		shortRoom)
	if err != nil {
		return lost(err)
	}
	if _, problem := p.only(&a, "get_weather"); problem != "" {
		return fail("%s", problem)
	}
	cities, ids := map[string]bool{}, map[string]bool{}
	for _, c := range a.ToolCalls {
		cities[cityOf(c)], ids[c.ID] = true, true
	}
	switch n := len(a.ToolCalls); {
	case n == 1:
		return fail("one call at a time: a task takes more turns")
	case len(ids) < n:
		return fail("%d calls share an id", n)
	case len(cities) != 3 || n != 3:
		return fail("%d calls for %d of three cities", n, len(cities))
	}
	return pass("three calls in one answer")
}
