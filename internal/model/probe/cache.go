package probe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// prefixRules is how many rules the long prefix has. They make about 5,000 tokens: the most that a provider wants
// before it caches anything is 4,096.
const (
	prefixRules = 200
	cacheCalls  = 3 // the first fills the cache; a hit may come one later, as providers spread requests over machines
)

// knownReasons are the stop reasons of the wires that are spoken here, in lower case. Another one is treated as an
// ordinary end, which may be wrong.
func knownReasons() []string {
	return []string{
		"stop", "length", "tool_calls", "function_call", "content_filter", // chat completions
		"completed", "incomplete", "max_output_tokens", // responses
		// messages
		"end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "model_context_window_exceeded",
		// Gemini
		"safety", "recitation", "language", "blocklist", "prohibited_content", "spii", "malformed_function_call",
		"model_length", "eos", "eos_token", "insufficient_system_resource", "sensitive",
	}
}

// longPrefix is a system prompt that is the same in each call and each probe.
func longPrefix() string {
	var b strings.Builder
	b.WriteString("You answer questions about the rules of a library.\n")
	for i := 1; i <= prefixRules; i++ {
		fmt.Fprintf(&b,
			"Rule %d: books of shelf %d are lent for %d days, and a reader may have %d of them at a time.\n", i, i,
			7+i%21, 1+i%5)
	}
	return b.String()
}

// cache is about the accounts, and what else the harness relies on without asking the model.
func (p *prober) cache(ctx context.Context) finding {
	req := ask("For how many days are books of shelf 3 lent? Answer with the number alone.")
	req.System = longPrefix()
	read, input := 0, 0
	for n := 0; n < cacheCalls && (n < 2 || read == 0); n++ {
		a, err := p.call(ctx, req, shortRoom)
		if err != nil {
			return lost(err)
		}
		if n > 0 && a.Usage != nil {
			read, input = a.Usage.CacheRead, a.Usage.InputTokens
		}
	}
	problems, err := p.habits(ctx)
	if err != nil {
		return lost(err)
	}
	if read == 0 {
		problems = append(problems, "no cached tokens are reported for a prefix that was sent again")
	}
	if len(problems) == 0 {
		return pass("%d of %d input tokens came from the cache", read, input)
	}
	f := fail("%s", strings.Join(problems, "; "))
	f.minor = read == 0 && len(problems) == 1
	return f
}

// habits lists what is unusual about all answers so far, and about one that must not call a tool.
func (p *prober) habits(ctx context.Context) (problems []string, err error) {
	req := ask("What is the weather in Paris?", weather())
	req.Settings.NoTools = true
	a, err := p.call(ctx, req, shortRoom)
	switch {
	case err != nil && !refused(err):
		return nil, err
	case err != nil:
		problems = append(problems, "refuses to be shown tools that it must not call: "+describe(err))
	case a.AsksForTools():
		problems = append(problems, "calls a tool although tool_choice is none")
	}
	if p.unmetered > 0 {
		problems = append(problems, fmt.Sprintf("%d answer(s) without usage: budgets and summaries work with estimates",
			p.unmetered))
	}
	known := knownReasons()
	for _, r := range slices.Sorted(maps.Keys(p.reasons)) {
		if r != "" && !slices.Contains(known, strings.ToLower(r)) {
			problems = append(problems, "a stop reason that nobody knows: "+quote(r))
		}
	}
	return problems, nil
}
