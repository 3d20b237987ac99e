package load

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/units"
)

// Figure is one line of the report.
type Figure struct {
	// Group is the measurement and Name the line.
	Group string `json:"group"`
	Name  string `json:"name"`
	// Value is what was measured, in Unit: "s", "B", "/s", or empty for a count. Direct is the same for the model calls
	// alone, if not zero, and Ratio their ratio.
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
	Direct float64 `json:"direct,omitempty"`
	Ratio  float64 `json:"ratio,omitempty"`
	// Goal is what Value or Ratio should be, such as "≤ 5 ms", and Met whether it is; empty and nil for a figure that
	// is only told.
	Goal string `json:"goal,omitempty"`
	Met  *bool  `json:"met,omitempty"`
	// Note says why there is no value, or what went wrong.
	Note string `json:"note,omitempty"`
}

// goal bounds a figure's value, or its ratio.
type goal struct {
	limit   float64
	least   bool // at least the limit; else at most
	ofRatio bool
	aim     float64 // what one would like better still; told only
	// strict goals mean the same on every machine: missing one fails the command.
	strict bool
}

func (g *goal) of(f *Figure) {
	x, text := f.Value, written(g.limit, f.Unit)
	if g.ofRatio {
		x, text = f.Ratio, units.Times(g.limit)
	}
	met, sign := x <= g.limit, "≤ "
	if g.least {
		met, sign = x >= g.limit, "≥ "
	}
	f.Met, f.Goal = &met, sign+text
	if g.aim != 0 {
		f.Goal += ", aim " + units.Times(g.aim)
	}
}

// report prints figures as they come.
type report struct {
	out     io.Writer
	json    bool
	group   string
	figures []Figure
	missed  int // strict goals
}

const row = "%-46s %11s %11s %8s  %-19s%s\n"

func (r *report) title(group, about string) {
	r.group = group
	if !r.json {
		fmt.Fprintf(r.out, "\n%s: %s\n"+row, group, about, "", "value", "direct", "ratio", "goal", "")
	}
}

// add takes a figure and its goal, which may be nil.
func (r *report) add(f Figure, g *goal) {
	f.Group = r.group
	if f.Direct != 0 {
		f.Ratio = f.Value / f.Direct
	}
	if g != nil {
		g.of(&f)
		if g.strict && !*f.Met {
			r.missed++
		}
	}
	r.figures = append(r.figures, f)
	if r.json {
		line, _ := json.Marshal(f) //nolint:errchkjson // all numbers are finite
		fmt.Fprintf(r.out, "%s\n", line)
		return
	}
	r.print(f)
}

func (r *report) print(f Figure) {
	if f.Note != "" && f.Met == nil {
		fmt.Fprintf(r.out, "  %-44s %s\n", f.Name, f.Note)
		return
	}
	direct, ratio, mark := "", "", ""
	if f.Direct != 0 {
		direct, ratio = written(f.Direct, f.Unit), units.Times(f.Ratio)
	}
	if f.Met != nil {
		mark = "✗"
		if *f.Met {
			mark = "✓"
		}
	}
	if f.Note != "" {
		mark += " " + f.Note
	}
	fmt.Fprintf(r.out, row, "  "+f.Name, written(f.Value, f.Unit), direct, ratio, f.Goal, mark)
}

// note tells what has no value.
func (r *report) note(name, text string) { r.add(Figure{Name: name, Note: text}, nil) }

func (r *report) duration(name string, d, direct time.Duration, g *goal) {
	r.add(Figure{Name: name, Value: d.Seconds(), Direct: direct.Seconds(), Unit: "s"}, g)
}

// errors counts what failed, with the first reason. The goal is none.
func (r *report) errors(name string, n int, first error) {
	f := Figure{Name: name, Value: float64(n)}
	if first != nil {
		f.Note = first.Error()
	}
	r.add(f, &goal{limit: 0, strict: true})
}

// written writes a value down with its unit.
func written(v float64, unit string) string {
	switch unit {
	case "s":
		return units.Seconds(v)
	case "B":
		return units.Bytes(v)
	}
	return units.Short(v) + unit
}
