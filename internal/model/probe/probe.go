// Package probe finds out whether a model is good enough to be an agent: ten tiny tasks, which need nothing but
// [model.ChatModel], and a verdict. It stands above the contract of models and below the command line: the assembly
// hands in the model that is to be examined, with what the configuration says of it, and `pudu doctor model` prints
// the [Report].
//
// The tasks, in their order (tasks.go):
//
//	answers    says the word it is asked for                                  essential
//	streams    sends its answer in pieces, as they are made                   important
//	tool       calls a tool with the right argument                           essential
//	parallel   calls a tool three times in one answer                         important
//	schema     fills a nested schema with an enum, integers and a list        important
//	arguments  writes a file of 200 lines, with quotes and Unicode, into one  important
//	results    needs the result of one tool to call the next one              essential
//	image      names the two colours of a picture                             important if the configuration says that it sees
//	thinking   thinks when it is to, takes its thoughts back, and stops       important if the configuration says that it thinks
//	cache      reports usage and cached tokens, known stop reasons, and calls important; cached tokens alone are not
//	           no tool when that is forbidden
//
// The verdict is the first row that fits (verdict.go):
//
//	no verdict   an essential task got no answer: an outage, a rate limit, a refused key, a time-out
//	too weak     an essential task failed, or schema and arguments both did, or the window is below 8,192 tokens
//	works, but   an important task failed, or the window is below 16,384 tokens
//	good         anything else; that no cached tokens are reported costs money, not ability, and is only mentioned
//
// Everything is bounded: a call has a deadline, a number of tokens that grows once when an answer was cut off, at most
// three attempts and 256 KiB; the whole probe has a deadline. Nothing that the model writes is carried out.
package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// The bounds of a probe unless its [Config] says otherwise.
const (
	DefaultTimeout = 60 * time.Second
	DefaultTotal   = 10 * time.Minute
)

// Declared is what the configuration says of a model.
type Declared struct {
	Vision, Thinking, Effort bool
	// Window is in tokens; 0 means unknown.
	Window int
	// MaxTokens bounds an answer; 0 means that nothing does.
	MaxTokens int
}

// Config says what is probed. Only Model is needed.
type Config struct {
	Model    model.ChatModel
	Declared Declared
	// Variant makes the same model with more fields in the body of each request, to find the switch of its thinking;
	// nil means that there is no such model.
	Variant func(body json.RawMessage) (model.ChatModel, error)
	// Learn asks the server for the model's window in tokens; 0 means that it does not say. Nil means not to ask.
	Learn func(ctx context.Context) int
	// First leaves it at the first task, which says whether the model answers at all.
	First bool
	// Timeout bounds each call and Total the whole probe; 0 means the defaults.
	Timeout, Total time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Done gets each result as soon as it is known; nil means that nobody waits for it.
	Done func(Result)
}

// Outcome is how a task ended.
type Outcome string

// The outcomes.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	// NotApplicable is what the model does not claim to do, or what was not tried.
	NotApplicable Outcome = "n/a"
)

// Result is what became of one task.
type Result struct {
	Task    string  `json:"task"`
	Outcome Outcome `json:"outcome"`
	// Detail is one line for people: what was seen. It may quote the model or the provider.
	Detail string `json:"detail"`
	// NoAnswer says that the task failed because no answer came, which says nothing about the model's ability.
	NoAnswer bool `json:"no_answer,omitempty"`
	// Minor says that a failure costs money or comfort, not ability.
	Minor  bool  `json:"minor,omitempty"`
	Millis int64 `json:"ms"`
}

// Option is a line that the model's entry in the configuration should have.
type Option struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	Why   string          `json:"why"`
}

// Report is what a probe found out.
type Report struct {
	Model   string   `json:"model"`
	Results []Result `json:"results"`
	Verdict Verdict  `json:"verdict"`
	// Why is the verdict's reason in one line.
	Why     string   `json:"why"`
	Options []Option `json:"options"`
	// Advice is what cannot be said as an option.
	Advice []string `json:"advice"`
	// Window is what the server said, else what the configuration says; 0 if neither does.
	Window int   `json:"context_window"`
	Calls  int   `json:"calls"`
	Millis int64 `json:"ms"`
	// Usage is the sum of all calls, as far as the provider counted them.
	Usage message.Usage `json:"-"`
	// Err is why the probe stopped before its end; nil if it did not.
	Err error `json:"-"`
}

// Examined is a report with what stands beside it for people and programs.
type Examined struct {
	Report

	Name string `json:"name"`
	// Spent is the Usage of the report.
	Spent Spent `json:"usage"`
	// Cost is what the probe cost, in the Currency; nil if the price is not known.
	Cost     *float64 `json:"cost"`
	Currency string   `json:"currency,omitempty"`
	// Problem says why the probe stopped before its end, and Remedy what to do about it.
	Problem string `json:"problem,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
}

// Spent are the tokens of a probe.
type Spent struct {
	Input     int `json:"input_tokens"`
	Output    int `json:"output_tokens"`
	CacheRead int `json:"cache_read"`
	Reasoning int `json:"reasoning"`
}

// Test examines a model; done gets each result as soon as it is known.
type Test func(ctx context.Context, done func(Result)) (Examined, error)

// Run examines the model. It always returns a report, also when ctx ends in the middle: what was not tried says so.
func Run(ctx context.Context, cfg Config) Report {
	cfg.defaults()
	start := cfg.Now()
	whole, cancel := context.WithTimeout(ctx, cfg.Total)
	defer cancel()
	p := &prober{cfg: cfg, total: whole, report: Report{Model: cfg.Model.Name(), Options: []Option{},
		Advice: []string{}, Window: cfg.Declared.Window}}
	list := tasks()
	if cfg.First {
		list = list[:1]
	}
	for i, t := range list {
		p.carryOut(whole, t)
		if i == 0 && p.report.Err == nil {
			p.learn(whole)
		}
	}
	r := p.report
	if r.Verdict, r.Why = judge(r.Results, r.Window); cfg.First {
		r.Verdict, r.Why = judgeFirst(r.Results[0])
	}
	r.Millis = cfg.Now().Sub(start).Milliseconds()
	return r
}

func (c *Config) defaults() {
	c.Timeout, c.Total = cmp.Or(max(c.Timeout, 0), DefaultTimeout), cmp.Or(max(c.Total, 0), DefaultTotal)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Done == nil {
		c.Done = func(Result) {}
	}
}

// prober works through the tasks of one probe.
type prober struct {
	cfg    Config
	total  context.Context // ends when the whole probe must
	report Report
	// warm and unbounded say that the provider takes no temperature, or no bound of the answer.
	warm, unbounded bool
	// reasons are the stop reasons so far, counted; unmetered is the number of answers without usage.
	reasons   map[string]int
	unmetered int
}

// carryOut does a task, unless the probe has come to its end already.
func (p *prober) carryOut(ctx context.Context, t task) {
	f := none("not tried")
	start := p.cfg.Now()
	if p.report.Err == nil {
		f = t.do(p, ctx)
		if f.err != nil && (t.name == taskAnswers || hopeless(f.err) || p.total.Err() != nil) {
			p.report.Err = f.err
		}
	}
	r := Result{Task: t.name, Outcome: f.outcome, Detail: f.detail, NoAnswer: f.err != nil, Minor: f.minor,
		Millis: p.cfg.Now().Sub(start).Milliseconds()}
	p.report.Results = append(p.report.Results, r)
	p.cfg.Done(r)
}

// learn compares the window that the server tells with the one of the configuration.
func (p *prober) learn(ctx context.Context) {
	if p.cfg.Learn == nil {
		return
	}
	n, declared := p.cfg.Learn(ctx), p.cfg.Declared.Window
	if n <= 0 {
		return
	}
	p.report.Window = n
	switch {
	case declared == 0:
		p.option("context_window", n, "the server says so; without it the agent cannot know when to sum up")
	case declared > n:
		p.option("context_window", n, fmt.Sprintf("%d is what Pudu goes by now, and the server says less", declared))
	}
}

// option notes a line for the configuration. The values are numbers, booleans and JSON objects.
func (p *prober) option(key string, value any, why string) {
	raw, err := json.Marshal(value)
	if err != nil {
		return // not reached: the values are those that are said above
	}
	p.report.Options = append(p.report.Options, Option{Key: key, Value: raw, Why: why})
}

// advise notes what a person should do, once.
func (p *prober) advise(text string) {
	if !slices.Contains(p.report.Advice, text) {
		p.report.Advice = append(p.report.Advice, text)
	}
}
