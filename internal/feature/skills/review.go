package skills

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

//go:embed review.md
var reviewPrompt string

// The decisions.
const (
	Allow = "allow"
	Warn  = "warn"
	block = "block"
)

// reviewTimeout bounds the answer to one file.
const reviewTimeout = 60 * time.Second

// ReviewError refuses what a model has refused, or what no model could look at.
type ReviewError struct{ Text string }

// Error implements error.
func (e *ReviewError) Error() string { return e.Text }

// review has a model look at the files. what names what is refused: a skill, or an edit.
func (m *Mine) review(ctx context.Context, p *packed, what string) (Verdict, error) {
	sum := Verdict{Decision: Allow, Findings: p.found}
	if sum.Findings == nil {
		sum.Findings = []Finding{}
	}
	if p.skipped && m.all.cfg.Settings().FailClosed {
		return sum,
			&ReviewError{fmt.Sprintf("Security scan blocked %s: it has more to read than a model is asked to review: "+
				"%d files of at most %d KiB",
				what, maxReviewed, maxReview>>10)}
	}
	for _, f := range p.reviewed {
		v := m.ask(ctx, p, f)
		switch {
		case v.Decision == block:
			return sum, &ReviewError{fmt.Sprintf("Security scan blocked %s: %s", what, v.Reason)}
		case v.Decision == Warn && f.code:
			return sum, &ReviewError{fmt.Sprintf("Security scan rejected executable %s/%s: %s", p.head.Name, f.name,
				v.Reason)}
		case v.Decision == Warn, sum.Reason == "":
			sum.Decision, sum.Reason = v.Decision, v.Reason
		}
		if err := ctx.Err(); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// ask has a model look at one file. What is no answer counts as a refusal.
func (m *Mine) ask(ctx context.Context, p *packed, f reviewed) Verdict {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	var text strings.Builder
	fmt.Fprintf(&text, "Skill: %s\nDescription: %s\nFile: %s\n", p.head.Name, p.head.Description, f.name)
	for _, found := range p.found {
		if found.File != nil && *found.File == f.name {
			fmt.Fprintf(&text, "A scan has found: %s (%s) at %s\n", found.Rule, found.Severity, found.Where())
		}
	}
	const line = "----------------------------------------"
	fmt.Fprintf(&text, "%s\n%s\n%s\n", line, strings.ReplaceAll(f.text, line, line[:20]), line)
	answer, err := m.all.cfg.Ask(ctx, reviewPrompt, text.String())
	switch {
	case errors.Is(err, ErrNoModel) && !m.all.cfg.Settings().FailClosed:
		return Verdict{Decision: Allow, Reason: "Not reviewed: there is no model that could."}
	case err != nil && !m.all.cfg.Settings().FailClosed:
		return Verdict{Decision: Warn, Reason: "Not reviewed: the model did not answer."}
	case errors.Is(err, ErrNoModel):
		return Verdict{Decision: block,
			Reason: "there is no model to review it; name one in skill_evolution.moderation_model_name, " +
				"or let skills be installed without a review: skill_evolution.security_fail_closed: false"}
	case err != nil:
		return Verdict{Decision: block, Reason: "the model that reviews skills did not answer; try again"}
	}
	return parseVerdict(answer)
}

// parseVerdict reads the answer of a model.
func parseVerdict(answer string) Verdict {
	var v struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	at, end := strings.Index(answer, "{"), strings.LastIndex(answer, "}")
	if at < 0 || end < at || json.Unmarshal([]byte(answer[at:end+1]), &v) != nil {
		return Verdict{Decision: block, Reason: "Security scan produced unparseable output; manual review required."}
	}
	v.Decision = strings.ToLower(strings.TrimSpace(v.Decision))
	if v.Decision != Allow && v.Decision != Warn && v.Decision != block {
		return Verdict{Decision: block, Reason: "Security scan produced unparseable output; manual review required."}
	}
	const most = 300 // characters of a reason
	return Verdict{Decision: v.Decision, Reason: excerpt.First(strings.Map(visible, v.Reason), most)}
}
