package golden

import (
	"fmt"
	"regexp"
	"slices"
)

// Rule is a line of a table: exchanges of a recording, and why they are treated otherwise than the rest.
type Rule struct {
	// Recording is the name of the recording, and N are the numbers of its exchanges: no line is for a family.
	Recording string
	N         []int
	// Status is, in the table of what is answered otherwise, the status that we answer with; 0 leaves the recorded one.
	Status int
	// From is the recorded status that the rule is for; 0 means any.
	From int
	// Finds is, in the table of what is excused, a regular expression on what does not fit: "body.next: is number, want
	// string".
	Finds  string
	Reason string
}

// fits tells whether the rule is for an exchange.
func (r *Rule) fits(recording string, e *Exchange) bool {
	return r.Recording == recording && slices.Contains(r.N, e.N) && (r.From == 0 || r.From == e.Status)
}

// find returns the first rule for an exchange, or -1.
func find(rules []Rule, recording string, e *Exchange) int {
	return slices.IndexFunc(rules, func(r Rule) bool { return r.fits(recording, e) })
}

// IsLeftOut tells whether an exchange is not replayed.
func IsLeftOut(recording string, e *Exchange) bool { return find(leftOut(), recording, e) >= 0 }

// excuse splits what does not fit into what no rule excuses and the rules that excuse the rest.
func excuse(recording string, e *Exchange, found []string) (open []string, rules []int) {
	table := excused()
	for _, f := range found {
		i := slices.IndexFunc(table, func(r Rule) bool { return r.fits(recording, e) && whole(r.Finds).MatchString(f) })
		if i >= 0 {
			rules = append(rules, i)
		} else {
			open = append(open, f)
		}
	}
	return open, rules
}

// whole makes an expression that fits whole texts, of several lines too.
func whole(expr string) *regexp.Regexp { return regexp.MustCompile("(?s)^(?:" + expr + ")$") }

// uses are the exchanges, by number, that each line of a table was needed for.
type uses map[int]map[int]bool

func (u uses) add(rule int, e *Exchange) {
	if u[rule] == nil {
		u[rule] = map[int]bool{}
	}
	u[rule][e.N] = true
}

// idle returns what of a table was for nothing: lines and numbers in them.
func (u uses) idle(table []Rule) (list []string) {
	for i, rule := range table {
		if len(u[i]) == 0 {
			list = append(list, fmt.Sprintf("line %d, %+v", i, rule))
			continue
		}
		for _, n := range rule.N {
			if !u[i][n] {
				list = append(list, fmt.Sprintf("line %d, exchange %d, %+v", i, n, rule))
			}
		}
	}
	return list
}
