package goals

import (
	"fmt"
	"io"

	"github.com/pudu-ai/pudu/internal/lib/units"
)

// figure is one line of the report.
type figure struct {
	name string
	unit unit
	// value is what was measured; floor, if not zero, what it is compared with, in the same unit.
	value, floor float64
	// goal is nil for a figure that is only told.
	goal *goal
}

func (f figure) ratio() float64 { return f.value / f.floor }

// goal bounds a figure's value, or the ratio of value and floor.
type goal struct {
	limit   float64
	least   bool // at least the limit; else at most
	ofRatio bool
	// strict goals mean the same on every machine: missing one fails the program.
	strict bool
}

// within is a goal for a value that depends on the machine, below one that does not.
func within(limit float64) *goal { return &goal{limit: limit} }

// sized is the goal for a size in bytes that is the same wherever it is measured.
func sized(limit float64) *goal { return &goal{limit: limit, strict: true} }

// atMost and atLeast are goals for the ratio to the floor.
func atMost(limit float64) *goal { return &goal{limit: limit, ofRatio: true, strict: true} }
func atLeast(limit float64) *goal {
	return &goal{limit: limit, least: true, ofRatio: true, strict: true}
}

func (g goal) met(f figure) bool {
	x := f.value
	if g.ofRatio {
		x = f.ratio()
	}
	if g.least {
		return x >= g.limit
	}
	return x <= g.limit
}

func (g goal) text(u unit) string {
	sign := "≤ "
	if g.least {
		sign = "≥ "
	}
	if g.ofRatio {
		return sign + units.Times(g.limit)
	}
	return sign + u(g.limit)
}

// report prints figures as they come and counts the strict goals that were missed.
type report struct {
	out    io.Writer
	missed int
}

const row = "%-52s %11s %11s %8s %11s %s\n"

func (r *report) title(group string) {
	fmt.Fprintf(r.out, "\n"+row, group, "value", "floor", "ratio", "goal", "")
}

func (r *report) add(f figure) {
	floor, ratio, limit, mark := "", "", "", ""
	if f.floor != 0 {
		floor, ratio = f.unit(f.floor), units.Times(f.ratio())
	}
	if f.goal != nil {
		limit, mark = f.goal.text(f.unit), "✓"
		if !f.goal.met(f) {
			mark = "✗"
			if f.goal.strict {
				r.missed++
			}
		}
	}
	fmt.Fprintf(r.out, row, "  "+f.name, f.unit(f.value), floor, ratio, limit, mark)
}

// missing says that a figure cannot be measured on this machine.
func (r *report) missing(name string, why error) {
	fmt.Fprintf(r.out, "  %s ✗ cannot be measured here: %v\n", name, why)
}

// unit writes a number down.
type unit func(v float64) string

func perSecond(v float64) string { return units.Short(v) + "/s" }
