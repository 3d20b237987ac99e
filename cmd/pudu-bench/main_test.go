package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/app"
)

// TestMain is pudu, or the model of a measurement, when a measurement starts this program as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(app.Main("test"))
	}
	if len(os.Args) > 1 && os.Args[1] == "model" {
		main()
	}
	os.Exit(m.Run())
}

// TestServe: the load on a server is honest work, however many steps it has: nothing in the agent takes it for a loop.
func TestServe(t *testing.T) {
	t.Chdir(t.TempDir())
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), &out, &errs, []string{"serve", "--pudu", program, "--quick", "--only", "runs", "--clients",
		"1", "--steps", "20"})
	if !regexp.MustCompile(`(?m)^  20 steps, c=1 +[0-9.]+/s +[0-9.]+/s`).MatchString(out.String()) {
		t.Errorf("code %d, %s\n%s", code, errs.String(), out.String())
	}
}

// TestServeNamesTheServer: it does not answer, and the model's address was told before, for whoever starts that server.
func TestServeNamesTheServer(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(t.Context(), &out, &errs, []string{"serve", "--quick", "--only", "runs", "--url", "http://127.0.0.1:1"})
	if code != exitFailed || !strings.Contains(errs.String(), "connection refused") ||
		!strings.Contains(errs.String(), "The model is at http://127.0.0.1:") {
		t.Errorf("code %d, %s\n%s", code, errs.String(), out.String())
	}
}

// TestServeStartsTheProgramNamedFromHere: the server works in a folder of its own, but its name is of this one, as in
// make bench.
func TestServeStartsTheProgramNamedFromHere(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("fake", []byte("#!/bin/sh\necho fake has begun >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	code := run(t.Context(), io.Discard, &errs, []string{"serve", "--quick", "--only", "runs", "--pudu", "./fake"})
	if code != exitFailed || !strings.Contains(errs.String(), "fake has begun") {
		t.Errorf("code %d, %s", code, errs.String())
	}
}

func TestUnknownCommand(t *testing.T) {
	var errs bytes.Buffer
	if code := run(t.Context(), io.Discard, &errs, []string{"walk"}); code != exitUsage ||
		!strings.Contains(errs.String(), `unknown command "walk"`) {
		t.Errorf("code %d, %s", code, errs.String())
	}
}

func TestServeRefusesWhatItCannotMeasure(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"an address without a scheme", []string{"--url", "localhost:2026"}, exitUsage,
			`--url "localhost:2026": write an address such as`},
		{"a measurement that is none", []string{"--only", "walks"}, exitFailed,
			`there is no measurement "walks": choose of runs, streams,`},
		{"steps below 0", []string{"--steps", "-1"}, exitUsage, "--steps -1: write numbers from 0 to"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(t.Context(), &out, &errs, append([]string{"serve"}, test.args...))
			if code != test.code || !strings.Contains(errs.String(), test.want) {
				t.Errorf("code %d, %s", code, errs.String())
			}
		})
	}
}

func TestModelRefusesWhatItCannotPlay(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--addr", "127.0.0.1:none"}, exitFailed, "start model server: listen tcp"},
	} {
		var errs bytes.Buffer
		code := run(t.Context(), io.Discard, &errs, append([]string{"model"}, test.args...))
		if code != test.code || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%v: code %d, %s", test.args, code, errs.String())
		}
	}
}

func TestPromptPrintsItsGoals(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(t.Context(), &out, &errs, []string{"prompt"})
	if code != exitOK || strings.Contains(out.String(), "✗") {
		t.Errorf("code %d: %s\n%s", code, errs.String(), out.String())
	}
	for _, want := range []string{"\nfixed prompt", "\na long conversation", "\none in which much changes", "\nbreaks",
		"≤ 4500  ✓", "≤ 6500  ✓"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
