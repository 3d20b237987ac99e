package prompts

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/units"
)

const (
	fixedRow = "%-38s %7s %8s %8s %6s %8s  %-8s%s\n"
	turnRow  = "%-38s %7s %10s %8s %8s  %-8s%s\n"
	lineRow  = "  %-36s %s\n"
)

// Print writes the report down.
func (r *Report) Print(out io.Writer) {
	fmt.Fprintf(out,
		"\nfixed prompt: the request after \"hi\", in tokens by our own guess; o200k_base counts about 13 %% less\n"+
			fixedRow,
		"", "tools", "system", "schemas", "rest", "total", "goal", "")
	for _, f := range r.Fixed {
		goal := ""
		if f.Goal > 0 {
			goal = "≤ " + strconv.Itoa(f.Goal)
		}
		fmt.Fprintf(out, fixedRow, "  "+f.Name, strconv.Itoa(f.Tools), strconv.Itoa(f.System), strconv.Itoa(f.Schemas),
			strconv.Itoa(f.Rest),
			strconv.Itoa(f.Total), goal, mark(goal, f.Met()))
	}
	for _, v := range []*Conversation{&r.Long, &r.Changing} {
		v.print(out)
	}
}

func (v *Conversation) print(out io.Writer) {
	fmt.Fprintf(out,
		"\n%s: bytes as sent, tools first; reuse: how much begins like the request before, at best and really\n",
		v.Name)
	fmt.Fprintf(out, turnRow, "", "calls", "sent", "best", "real", "goal", "")
	for _, t := range v.Turns {
		printTurn(out, t, "", "")
	}
	printTurn(out, Total("the turns behind the first", v.Turns[min(1, len(v.Turns)):]), "", "")
	goal := ""
	if v.Goal > 0 {
		goal = fmt.Sprintf("≥ %g %%", v.Goal)
	}
	printTurn(out, Total("all", v.Turns), goal, mark(goal, v.reused()))
	if v.SideCalls > 0 {
		fmt.Fprintf(out, lineRow, "beside it, for summaries",
			fmt.Sprintf("%d calls, %s", v.SideCalls, units.Bytes(float64(v.SideBytes))))
	}
	fmt.Fprintf(out, lineRow, "in it", strings.Join(v.Notes, ", "))
	v.printBreaks(out)
}

func printTurn(out io.Writer, t Turn, goal, mark string) {
	fmt.Fprintf(out, turnRow, "  "+t.Name, strconv.Itoa(t.Requests), units.Bytes(float64(t.Sent)),
		percent(t.Ideal, t.Sent), percent(t.Real, t.Sent), goal, mark)
}

// reused reports whether the goal of the reuse is met; true if there is none.
func (v *Conversation) reused() bool {
	all := Total("", v.Turns)
	return 100*float64(all.Real) >= v.Goal*float64(all.Sent)
}

func (v *Conversation) printBreaks(out io.Writer) {
	fmt.Fprintf(out, "\nbreaks: requests that do not begin with the one before\n"+turnRow, "", "call", "lost", "of", "",
		"goal", "")
	for _, b := range v.Breaks {
		fmt.Fprintf(out, turnRow, "  "+b.Cause, strconv.Itoa(b.Call), units.Bytes(float64(b.Lost)),
			units.Bytes(float64(b.At+b.Lost)), "", "", "")
		if b.Cause == Undeclared {
			fmt.Fprintf(out, "    was %q\n    is  %q\n", b.Was, b.Is)
		}
	}
	n := len(v.undeclared())
	fmt.Fprintf(out, turnRow, "  not declared", strconv.Itoa(n), "", "", "", "0", mark("0", n == 0))
}

// undeclared are the breaks that should not be.
func (v *Conversation) undeclared() (list []Break) {
	for _, b := range v.Breaks {
		if b.Cause == Undeclared {
			list = append(list, b)
		}
	}
	return list
}

// Missed counts the goals that were missed. They mean the same on every machine.
func (r *Report) Missed() int {
	n := 0
	for _, f := range r.Fixed {
		if !f.Met() {
			n++
		}
	}
	for _, v := range []*Conversation{&r.Long, &r.Changing} {
		if len(v.undeclared()) > 0 {
			n++
		}
		if !v.reused() {
			n++
		}
	}
	return n
}

func percent(part, whole int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(whole, 1)))
}

func mark(goal string, met bool) string {
	switch {
	case goal == "":
		return ""
	case met:
		return "✓"
	}
	return "✗"
}
