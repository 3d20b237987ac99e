// Package measure has what the measurements share: the table that they print, medians, and what a process uses.
package measure

import (
	"fmt"
	"io"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/units"
)

// Figure is one line of the table.
type Figure struct {
	Name string
	// Unit writes Value, Beside and the limit of the goal down; nil is a bare number.
	Unit  func(float64) string
	Value float64
	// Beside is what Value is compared with, in the same unit; 0 is nothing.
	Beside float64
	// Goal is nil for a figure that is only told.
	Goal *Goal
	// Note is what went wrong.
	Note string
}

// Goal bounds a figure's value, or the ratio of the value and what stands beside it.
type Goal struct {
	Limit   float64
	Least   bool // at least the limit; else at most
	OfRatio bool
	// Strict goals mean the same on every machine: missing one fails the program.
	Strict bool
}

// Within is a goal for a value that depends on the machine, below one that does not.
func Within(limit float64) *Goal { return &Goal{Limit: limit} }

// Sized is the goal for a size or a number that is the same wherever it is measured.
func Sized(limit float64) *Goal { return &Goal{Limit: limit, Strict: true} }

// AtMost is a goal for the ratio.
func AtMost(limit float64) *Goal { return &Goal{Limit: limit, OfRatio: true, Strict: true} }

// AtLeast is a goal for the ratio.
func AtLeast(limit float64) *Goal {
	return &Goal{Limit: limit, Least: true, OfRatio: true, Strict: true}
}

// Met reports whether the goal is met; true if there is none.
func (f Figure) Met() bool {
	switch g, x := f.Goal, f.Value; {
	case g == nil:
		return true
	case g.OfRatio && g.Least:
		return x/f.Beside >= g.Limit
	case g.OfRatio:
		return x/f.Beside <= g.Limit
	case g.Least:
		return x >= g.Limit
	default:
		return x <= g.Limit
	}
}

// PerSecond writes a rate down.
func PerSecond(v float64) string { return units.Short(v) + "/s" }

// Time is a figure that is a time.
func Time(name string, d, beside time.Duration, g *Goal) Figure {
	return Figure{Name: name, Unit: units.Seconds, Value: d.Seconds(), Beside: beside.Seconds(), Goal: g}
}

// Size is a figure in bytes.
func Size(name string, bytes float64, g *Goal) Figure {
	return Figure{Name: name, Unit: units.Bytes, Value: bytes, Goal: g}
}

// Errors is a figure that counts what failed, with the first reason. The goal is none.
func Errors(name string, n int, first error) Figure {
	f := Figure{Name: name, Value: float64(n), Goal: Sized(0)}
	if first != nil {
		f.Note = first.Error()
	}
	return f
}

// Table prints figures as they come. Beside is the title of what they are compared with.
type Table struct {
	Out    io.Writer
	Beside string
	// Figures are those so far, Missed counts the strict goals that were missed.
	Figures []Figure
	Missed  int
}

const row = "%-52s %11s %11s %8s %11s %s\n"

// Title begins a group of figures.
func (t *Table) Title(group string) {
	fmt.Fprintf(t.Out, "\n"+row, group, "value", t.Beside, "ratio", "goal", "")
}

// Add prints a figure.
func (t *Table) Add(f Figure) {
	if f.Unit == nil {
		f.Unit = units.Short
	}
	beside, ratio, limit, mark := "", "", "", f.Note
	if f.Beside != 0 {
		beside, ratio = f.Unit(f.Beside), units.Times(f.Value/f.Beside)
	}
	if f.Goal != nil {
		limit, mark = f.Goal.text(f.Unit), Mark(f.Met())+" "+f.Note
		if f.Goal.Strict && !f.Met() {
			t.Missed++
		}
	}
	t.Figures = append(t.Figures, f)
	fmt.Fprintf(t.Out, row, "  "+f.Name, f.Unit(f.Value), beside, ratio, limit, mark)
}

func (g Goal) text(unit func(float64) string) string {
	if g.OfRatio {
		unit = units.Times
	}
	if g.Least {
		return "≥ " + unit(g.Limit)
	}
	return "≤ " + unit(g.Limit)
}

// Mark says whether a goal is met.
func Mark(met bool) string {
	if met {
		return "✓"
	}
	return "✗"
}

// Missing says that a figure cannot be measured on this machine.
func (t *Table) Missing(name string, why error) {
	fmt.Fprintf(t.Out, "  %s ✗ cannot be measured here: %v\n", name, why)
}
