package cli

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/loadtest"
)

func TestBenchServeRefusesWhatItCannotMeasure(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"an address without a scheme", []string{"--url", "localhost:2026"}, ExitUsage, `--url "localhost:2026": write an address such as`},
		{"a header without a colon", []string{"--header", "Cookie"}, ExitUsage, `--header "Cookie": write it as 'Name: value'`},
		{"a process of its own server", []string{"--pid", "1"}, ExitUsage, "--pid is of a server at --url"},
		{"a tool without arguments", []string{"--tool", "add"}, ExitUsage, "--tool and --tool-args belong together"},
		{"a measurement that is none", []string{"--only", "walks"}, ExitFailed, `there is no measurement "walks": choose of runs, streams,`},
		{"steps below 0", []string{"--steps", "-1"}, ExitUsage, "--steps -1: write numbers from 0 to"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			stdio := IO{In: strings.NewReader(""), Out: &out, Err: &errs}
			code := Main(t.Context(), nil, "test", stdio, append([]string{"bench", "serve"}, test.args...))
			if code != test.code || !strings.Contains(errs.String(), test.want) {
				t.Errorf("code %d, %s", code, errs.String())
			}
		})
	}
}

func TestBenchModelRefusesWhatItCannotPlay(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--tool", "add"}, ExitUsage, "--tool and --tool-args belong together"},
		{[]string{"--addr", "127.0.0.1:none"}, ExitFailed, "start model server: listen tcp"},
	} {
		var errs bytes.Buffer
		code := Main(t.Context(), nil, "test", IO{Err: &errs}, append([]string{"bench", "model"}, test.args...))
		if code != test.code || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%v: code %d, %s", test.args, code, errs.String())
		}
	}
}

func TestHeadersOfBench(t *testing.T) {
	got, err := parseHeaders([]string{"authorization: Bearer a:b", "X-A:1", "X-A: 2"})
	want := http.Header{"Authorization": {"Bearer a:b"}, "X-A": {"1", "2"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if err := checkBench(loadtest.Config{URL: "https://h/api/langgraph", PID: 7}); err != nil {
		t.Error(err)
	}
}

func TestBenchPromptPrintsItsGoals(t *testing.T) {
	var out, errs bytes.Buffer
	code := Main(t.Context(), nil, "test", IO{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"bench", "prompt"})
	if code != ExitOK || strings.Contains(out.String(), "✗") {
		t.Errorf("code %d: %s\n%s", code, errs.String(), out.String())
	}
	for _, want := range []string{"\nfixed prompt", "\nconversation", "\nbreaks", "≤ 4500  ✓", "≤ 6500  ✓"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
