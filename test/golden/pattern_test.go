package golden

import (
	"regexp"
	"strings"
)

// fill puts the values of the variables into a text.
func fill(text string, vars Vars) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := vars[name[2:len(name)-1]]; ok {
			return value
		}
		return name
	})
}

var hole = regexp.MustCompile(`\$\{[a-z]\d+\}|\*`)

// match tells whether a text fits a pattern, in which * stands for anything and a variable for its value. A variable
// without a value gets what stands in its place.
func match(pattern, text string, vars Vars) bool {
	pattern = fill(pattern, vars)
	holes := hole.FindAllStringIndex(pattern, -1)
	if len(holes) == 0 {
		return pattern == text
	}
	var expr strings.Builder
	var names []string
	last := 0
	for _, at := range holes {
		expr.WriteString(regexp.QuoteMeta(pattern[last:at[0]]))
		if pattern[at[0]] == '*' {
			expr.WriteString(`(?s:.*)`)
		} else {
			names = append(names, pattern[at[0]+2:at[1]-1])
			expr.WriteString(`([A-Za-z0-9_:-]+)`)
		}
		last = at[1]
	}
	expr.WriteString(regexp.QuoteMeta(pattern[last:]))
	found := regexp.MustCompile("^" + expr.String() + "$").FindStringSubmatch(text)
	if found == nil {
		return false
	}
	for i, name := range names {
		vars[name] = found[i+1]
	}
	return true
}
