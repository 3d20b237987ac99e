package todo

import (
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
)

// Bounds of what a note repeats of the plan.
const (
	maxNamed = 10  // open items that are named at the end of a turn
	maxShown = 200 // characters of an item
)

// open are the items that are not completed.
func open(todos []threadstate.Todo) []threadstate.Todo {
	var left []threadstate.Todo
	for _, t := range todos {
		if t.Status != threadstate.TodoCompleted {
			left = append(left, t)
		}
	}
	return left
}

// outOfSight shows the plan again.
func outOfSight(todos []threadstate.Todo) string {
	var b strings.Builder
	b.WriteString("Your plan, as you wrote it last with write_todos:\n")
	for _, t := range todos {
		fmt.Fprintf(&b, "- %s: %s\n", untrusted.Line(t.Status), shown(t))
	}
	b.WriteString("Go on with it and keep it up to date.")
	return b.String()
}

// unfinished names the open items.
func unfinished(left []threadstate.Todo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Your plan still has %d open:\n", len(left))
	for _, t := range left[:min(len(left), maxNamed)] {
		fmt.Fprintf(&b, "- %s\n", shown(t))
	}
	if more := len(left) - maxNamed; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	b.WriteString("Do them now, or correct the plan with write_todos if they are done or not needed. Then give your " +
		"final answer.")
	return b.String()
}

// shown is an item in a line. Its words may come from outside.
func shown(t threadstate.Todo) string {
	return excerpt.Clip(untrusted.Line(t.Content), maxShown)
}
