package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/redact"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// lonely is a space that has a sandbox for one command alone.
type lonely struct {
	*space

	opened, closed int
}

func (l *lonely) Alone(context.Context) (sandbox.Sandbox, error) {
	l.opened++
	return alone{l}, nil
}

type alone struct{ *lonely }

func (a alone) Close() error { a.closed++; return nil }

const hush = "hush-hush-4711"

func withSecret(s sandbox.Space) Config {
	return Config{Space: s, Redact: redact.New([]string{hush}),
		Secrets: func(context.Context, *tool.Call) ([]string, error) {
			return []string{"K=" + hush}, nil
		}}
}

// TestACommandWithSecretsIsAlone: in a sandbox that ends with it, and with what it left in the background.
func TestACommandWithSecretsIsAlone(t *testing.T) {
	s, _ := newSpace(t)
	l := &lonely{space: s}
	var got sandbox.Command
	s.command = func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
		got = c
		_, _ = io.WriteString(c.Stdout, "so\n")
		return sandbox.Result{Background: 2}, nil
	}
	res := must(t, withSecret(l))
	if want := "so\n\n2 process(es) that it left in the background were ended with it"; !strings.HasPrefix(res.Text(),
		want) || len(res.Update) > 0 {
		t.Errorf("%q, %v", res.Text(), res.Update)
	}
	if l.opened != 1 || l.closed != 1 || fmt.Sprint(got.Secrets, got.Env) != "[K="+hush+"] []" {
		t.Errorf("%d opened, %d closed, %+v", l.opened, l.closed, got.Env)
	}
	c := withSecret(l)
	c.Secrets = func(context.Context, *tool.Call) ([]string, error) { return nil, nil }
	if text := must(t, c).Text(); l.opened != 1 || !strings.Contains(text, "still run") {
		t.Errorf("without secrets: %q, %d opened", text, l.opened)
	}
	if res := must(t, withSecret(s)); !res.IsError || len(got.Secrets) > 0 && l.opened != 1 ||
		!strings.Contains(res.Text(), "cannot be run here") {
		t.Errorf("where none is alone: %q", res.Text())
	}
	c.Secrets = func(context.Context, *tool.Call) ([]string, error) { return nil, errors.New("no database") }
	if _, err := run(t, c, t.Context()); err == nil || !strings.Contains(err.Error(), "no database") {
		t.Errorf("%v", err)
	}
}

// TestOutputIsRedacted: in the result, in what people see meanwhile, and in the file that has all of it, however it is
// cut.
func TestOutputIsRedacted(t *testing.T) {
	s, host := newSpace(t)
	synctest.Test(t, func(t *testing.T) {
		var log string
		s.command = func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
			for _, piece := range []string{"a " + hush[:5], hush[5:] + " b\n" + hush, "\nthe end, hu"} {
				_, _ = io.WriteString(c.Stdout, piece)
				time.Sleep(time.Second) // on the bubble's clock: it is in the file by now, and was shown
			}
			_, _ = io.WriteString(c.Stderr, strings.Repeat(hush+"\n", 100))
			time.Sleep(time.Second)
			names, _ := filepath.Glob(filepath.Join(host, ".tool-results", "*"))
			for _, name := range names {
				raw, _ := os.ReadFile(name)
				log += string(raw)
			}
			return sandbox.Result{}, nil
		}
		shown := ""
		c := withSecret(&lonely{space: s})
		c.MaxChars = 300
		args := []byte(`{"description":"test","command":"x"}`)
		res, err := New(c).Run(t.Context(),
			&tool.Call{ID: "c", RunID: "r", Args: args, Progress: func(text string) { shown += text + "\n" }})
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"the result": res.Text() + res.Summary, "what was shown": shown,
			"the file": log} {
			if !strings.Contains(text, redact.Mark) || strings.Contains(text, "hush-") {
				t.Errorf("%s: %q", what, text)
			}
		}
		if !strings.HasPrefix(res.Text(), "a [redacted] b\n[redacted]\nthe end, hu") {
			t.Errorf("%q", res.Text())
		}
	})
}
