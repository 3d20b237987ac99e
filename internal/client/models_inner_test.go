package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/model/probe"
)

// TestResultsComeAsTheyAreKnown, from a server that tells each by itself and from one that tells them together; a test
// that broke off is none.
func TestResultsComeAsTheyAreKnown(t *testing.T) {
	const first, second = `{"task":"answers","outcome":"pass","ms":7}`,
		`{"task":"tool","outcome":"fail","detail":"none"}`
	whole := `{"name":"x","verdict":"too weak to be an agent","ms":12,"results":[` + first + `,` + second + `]}`
	for what, sent := range map[string]string{"lines": first + "\n\n" + second + "\n" + whole + "\n",
		"together": "\n\n" + whole} {
		var told []string
		x, err := results(strings.NewReader(sent),
			func(r probe.Result) { told = append(told, fmt.Sprint(r.Task, " ", r.Outcome)) })
		if err != nil || x.Verdict != probe.TooWeak || x.Millis != 12 ||
			fmt.Sprint(told) != "[answers pass tool fail]" {
			t.Errorf("%s: %+v, %v, %q", what, x, err, told)
		}
	}
	for _, sent := range []string{"", first + "\n", first + "\n{\"ver", "[]", "<html>"} {
		if x, err := results(strings.NewReader(sent), func(probe.Result) {}); !errors.Is(err, errGarbled) {
			t.Errorf("%q: %+v, %v", sent, x, err)
		}
	}
}
