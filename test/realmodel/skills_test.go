//go:build realmodel

package realmodel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
)

const (
	// tries is how often the model is given each task: at temperature 0 first, then at 0.7.
	tries = 3
	// longest bounds a try; one that takes longer has not succeeded.
	longest = 4 * time.Minute
	// steps bounds the calls of the model and of tools in a try.
	steps = "5"
)

// ran finds the line that the command line has of a call.
var ran = regexp.MustCompile(`(?m)^[^\w\s] bash `)

// chore is a task for a skill whose scripts do the hard part: the model has to find the one command in its text and to
// fill it in.
type chore struct {
	skill, task string
	file, text  string // what is given, below /mnt/user-data/uploads
	made, holds string // what must be there afterwards, below /mnt/user-data/outputs, and what stands in it
}

// chores are of skills that need nothing but Python's standard library.
var chores = []chore{
	{"data-analysis",
		"Write the sum of amount for each region of /mnt/user-data/uploads/sales.csv to /mnt/user-data/outputs/sums.csv.",
		"sales.csv", "region,amount\nNorth,1200\nSouth,2500\nNorth,300\n", "sums.csv", "North,1500"},
	{"report", "Make /mnt/user-data/outputs/report.html of /mnt/user-data/uploads/report.md.",
		"report.md", "# Tea\n\n## Summary\n\nTea sells best.\n\n## Sources\n\n1. sales.csv\n", "report.html",
		"Tea sells best."},
	{"diagrams", "Draw /mnt/user-data/uploads/flow.txt as /mnt/user-data/outputs/flow.svg.",
		"flow.txt", "flow down\ntitle: Orders\nStart(Begin) -> Check{In stock?}\nCheck -> Ship[Ship it]: yes\n",
		"flow.svg", "Ship it"},
	{"web-page", "Pack /mnt/user-data/uploads/index.html into the one file /mnt/user-data/outputs/page.html.",
		"index.html", "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Tea</title></head>\n<body><main><h1>Tea house</h1></main></body>\n</html>\n",
		"page.html", "Tea house"},
}

// TestSkills tells how often the model, with the tool bash alone, does what the skill is for. It is no failure that
// such a model does not; each run must come to its end, and have the text of the skill.
func TestSkills(t *testing.T) {
	var table strings.Builder
	for _, c := range chores {
		ended, called, done := 0, 0, 0
		for n := range tries {
			run := tryChore(t, c, n)
			ended, called, done = ended+count(run.ended), called+count(run.called), done+count(run.done)
		}
		fmt.Fprintf(&table, "%-14s done %d, bash called %d, ended in time %d of %d\n", c.skill, done, called, ended,
			tries)
	}
	t.Logf("skills with %s:\n%s", calling, table.String())
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// tried is what came of a try.
type tried struct{ ended, called, done bool }

func tryChore(t *testing.T, c chore, n int) (came tried) {
	t.Helper()
	dir := t.TempDir()
	temperature := "0"
	if n > 0 {
		temperature = "0.7"
	}
	write(t, filepath.Join(dir, "config.yaml"), strings.NewReplacer(
		"BASE", baseURL, "MODEL", calling, "WINDOW", fmt.Sprint(window), "HEAT", temperature,
	).Replace(`
models:
  - {name: small, provider: mindie, base_url: BASE, model: MODEL, context_window: WINDOW, max_tokens: 160, temperature: HEAT}
title: {enabled: false}
memory: {enabled: false}
`))
	write(t, filepath.Join(dir, c.file), c.text)
	agent := filepath.Join(dir, "data/users/default/agents/small")
	if err := os.MkdirAll(agent, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(agent, "config.yaml"), "name: small\ntool_groups: [bash]\nskills: ["+c.skill+"]\n")
	write(t, filepath.Join(agent, "SOUL.md"),
		"You call bash with the one command that the skill names, and nothing else.\n")
	base := []string{"--config", filepath.Join(dir, "config.yaml"), "--data", filepath.Join(dir, "data")}
	began := time.Now()
	args := []string{"run", "--agent", "small", "--max-steps", steps, "--thread", "t", "--file",
		filepath.Join(dir, c.file), "/" + c.skill + " " + c.task}
	out, err := call(t, append(args, base...)...)
	came.ended = !errors.Is(err, context.DeadlineExceeded)
	if came.ended && err != nil {
		t.Errorf("%s, try %d: the run did not come to its end: %v\n%s", c.skill, n, err, out)
	}
	used, err := call(t, append([]string{"skills", "list", "--json"}, base...)...)
	if err != nil || !strings.Contains(used, `"name":"`+c.skill+`","category":"public","enabled":true,"uses":1`) {
		t.Errorf("%s, try %d: the run had not the text of the skill: %v\n%s", c.skill, n, err, used)
	}
	came.called = ran.MatchString(out)
	found, _ := filepath.Glob(filepath.Join(dir, "data/users/*/threads/t/user-data/outputs", c.made))
	for _, name := range found {
		raw, err := os.ReadFile(name)
		came.done = came.done || err == nil && strings.Contains(string(raw), c.holds)
	}
	t.Logf("%s, try %d, %s: %+v\n%s", c.skill, n, time.Since(began).Round(time.Second), came, out)
	return came
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// call runs the program. The error is context.DeadlineExceeded if it took too long.
func call(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = server.Environment(os.Environ())
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return string(out), err
}
