package probe

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is what the results come to.
type Verdict string

// The verdicts, in words that finish the sentence "this model is …" well enough.
const (
	Good      Verdict = "good as an agent"
	Works     Verdict = "works, but"
	TooWeak   Verdict = "too weak to be an agent"
	NoVerdict Verdict = "no verdict"
	// Answers is the verdict of a probe that left it at the first task.
	Answers Verdict = "answers"
)

// The windows, in tokens, below which a conversation with tools has no room, or little.
const (
	leastWindow = 8192
	goodWindow  = 16384
)

// Sentence is the verdict with its reason, for people.
func (r *Report) Sentence() string {
	switch {
	case r.Why == "":
		return string(r.Verdict)
	case r.Verdict == Works:
		return string(r.Verdict) + " " + r.Why
	case r.Verdict == Good:
		return string(r.Verdict) + ", " + r.Why
	}
	return string(r.Verdict) + ": " + r.Why
}

func essentials() []string { return []string{taskAnswers, taskTool, taskResults} }

// judge applies the table of the package's comment.
func judge(results []Result, window int) (Verdict, string) {
	failed := func(r Result) bool { return r.Outcome == Fail && !r.Minor }
	if i := slices.IndexFunc(results,
		func(r Result) bool { return r.NoAnswer && slices.Contains(essentials(), r.Task) }); i >= 0 {
		return NoVerdict, "no answer came: " + results[i].Detail
	}
	if i := slices.IndexFunc(results,
		func(r Result) bool { return r.Outcome == NotApplicable && slices.Contains(essentials(), r.Task) }); i >= 0 {
		return NoVerdict, "the probe ended before the task " + results[i].Task
	}
	if why := weakness(results, window); why != "" {
		return TooWeak, why
	}
	var flaws []string
	for _, r := range results {
		if failed(r) {
			flaws = append(flaws, r.Task+": "+r.Detail)
		}
	}
	if window > 0 && window < goodWindow {
		flaws = append(flaws, fmt.Sprintf("its window of %d tokens is soon full", window))
	}
	if len(flaws) > 0 {
		return Works, strings.Join(flaws, "; ")
	}
	if slices.ContainsFunc(results, func(r Result) bool { return r.Outcome == Fail }) {
		return Good, "but dear where tokens cost money, as no cache hits are reported"
	}
	return Good, ""
}

// judgeFirst is the verdict of the first task alone.
func judgeFirst(r Result) (Verdict, string) {
	switch {
	case r.Outcome == Pass:
		return Answers, ""
	case r.NoAnswer:
		return NoVerdict, "no answer came: " + r.Detail
	}
	return TooWeak, r.Task + ": " + r.Detail
}

// weakness is what makes a model unfit; empty if nothing does.
func weakness(results []Result, window int) string {
	failed := map[string]string{}
	for _, r := range results {
		if r.Outcome == Fail {
			failed[r.Task] = r.Task + ": " + r.Detail
		}
	}
	for _, name := range essentials() {
		if why := failed[name]; why != "" {
			return why
		}
	}
	switch {
	case failed[taskSchema] != "" && failed[taskArguments] != "":
		return failed[taskSchema] + "; " + failed[taskArguments]
	case window > 0 && window < leastWindow:
		return fmt.Sprintf("its window of %d tokens has no room for instructions, tools and a task", window)
	}
	return ""
}
