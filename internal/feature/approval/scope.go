package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// Scope says how long an approval lasts.
type Scope string

// The scopes.
const (
	Once   Scope = ""       // this call; on the wire "once", or nothing
	Thread Scope = "thread" // calls like it, in this thread
	Always Scope = "always" // calls like it, wherever the user works
)

// ErrScope says that the scope of an answer, or its pattern, is none.
var ErrScope = errors.New("the scope of the approval cannot be used")

// ParseScope reads a scope.
func ParseScope(name string) (Scope, error) {
	switch s := Scope(name); s {
	case Once, "once":
		return Once, nil
	case Thread, Always:
		return s, nil
	}
	return Once, fmt.Errorf("%w: %.40q is no scope: once, thread or always", ErrScope, name)
}

// scoped reads the scope of a decision.
func (d *Decision) scoped(scope, pattern string) (err error) {
	if d.Scope, err = ParseScope(scope); err != nil {
		return err
	}
	d.Pattern = pattern
	switch {
	case d.Scope == Once && pattern != "":
		return fmt.Errorf(`%w: a pattern goes with the scope "thread" or "always"`, ErrScope)
	case d.Scope != Once && d.Kind != Approve:
		return fmt.Errorf("%w: %s is for once", ErrScope, d.Kind)
	}
	return nil
}

// HasScope reports whether an answer of any shape has a decision with a scope beyond once, or one with a pattern.
func HasScope(raw json.RawMessage) bool {
	var v any
	return json.Unmarshal(raw, &v) == nil && hasScope(v)
}

func hasScope(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, hasScope)
	case map[string]any:
		decides, widens := false, false
		for name, member := range v {
			text, _ := member.(string)
			switch strings.ToLower(name) { // as encoding/json reads a decision
			case "type":
				decides = true
			case "scope":
				widens = widens || text != "" && text != "once"
			case "pattern":
				widens = widens || text != ""
			}
			if hasScope(member) {
				return true
			}
		}
		return decides && widens
	}
	return false
}

// offer adds to a review which scopes an answer may have, and the pattern that covers the call alone.
func offer(o *rawjson.Object, p Pattern) {
	o.Raw("scopes", json.RawMessage(`["once","thread","always"]`))
	o.String("pattern", p.Text)
}

// Granted is what a decision about a question allows beyond its call. The tool and the arguments are those of the
// question.
func Granted(question json.RawMessage, d Decision) (Grant, error) {
	q, ok := ReadQuestion(question)
	if !ok || !q.Scopes {
		return Grant{}, fmt.Errorf("%w: this question is answered for once", ErrScope)
	}
	own, err := PatternOf(q.Tool, q.Args)
	p := own
	if err == nil && d.Pattern != "" && d.Pattern != own.Text {
		p, err = ParsePattern(q.Tool, d.Pattern)
	}
	if err == nil && !p.Covers(q.Tool, q.Args) {
		err = fmt.Errorf("the pattern %.100q does not cover the call that it answers, %.200q; a command with signs "+
			"of the shell "+
			"is covered by its exact text alone", p.Text, own.Text)
	}
	if err != nil {
		return Grant{}, fmt.Errorf("%w: %w", ErrScope, err)
	}
	return Grant{Tool: q.Tool, Pattern: p}, nil
}
