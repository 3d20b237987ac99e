package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutputFindsTheAddress(t *testing.T) {
	o := NewOutput()
	for _, piece := range []string{"time=1 msg=hello url=http://127.0.0.1:9\nPudu is ready at http://127.0.", "0.1:4",
		"711", "/ now\n", "ready at http://127.0.0.1:1 later\n"} {
		if len(o.Address()) > 0 && piece != "ready at http://127.0.0.1:1 later\n" {
			t.Fatalf("an address before its line was whole: %s", <-o.Address())
		}
		fmt.Fprint(o, piece)
	}
	if got := <-o.Address(); got != "http://127.0.0.1:4711" {
		t.Errorf("got %s", got)
	}
	fmt.Fprint(o, strings.Repeat("x", 2*keptOutput))
	if got := len(o.String()); got != keptOutput {
		t.Errorf("%d bytes are kept", got)
	}
}

func TestEnvironment(t *testing.T) {
	got := Environment([]string{"PATH=/bin", "PUDU_TOKEN=x", "OPENAI_API_KEY=x", "DEER_FLOW_HOME=/x", "HOME=/root"})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/root"}, got); diff != "" {
		t.Error(diff)
	}
}
