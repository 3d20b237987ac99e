package pudu_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/test/server"
)

// TestMain runs the tests, and removes the examples that they built.
func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(examples.dir)
	os.Exit(code)
}

// example runs the go command in a folder, without a network, and returns its output.
func example(t *testing.T, dir string, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, err := command(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return stdout, stderr
}

func command(ctx context.Context, dir string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// Compiled as for make build, what serves the one serves the other; without what a debugger reads, it is linked in
	// two thirds of the time.
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0",
		"GOFLAGS=-mod=readonly -trimpath -buildvcs=false '-ldflags=-s -w'")
	var out, told strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		return "", "", fmt.Errorf("go %s in %s: %w (if a go.mod is to be updated: run go mod tidy there)\n%s%s",
			strings.Join(args, " "), dir, err, &out, &told)
	}
	return out.String(), told.String(), nil
}

func TestTheExampleOfAPlainAgentRuns(t *testing.T) {
	const script = "dialogues:\n  - turns:\n      - tool_calls: [{name: weather, args: {City: Oslo}}]\n      - text: 'It says: {{.LastToolResult}}'\n"
	out, told := ran(t, "embed", configured(t, script, ""))
	if out != "It says: Sunny in Oslo" || !strings.Contains(told, `weather {"City":"Oslo"}`) {
		t.Errorf("got %q\n%s", out, told)
	}
}

func TestTheExampleOfWhatAToolMayUseRuns(t *testing.T) {
	const script = `dialogues:
  - match: Remember
    turns:
      - tool_calls: [{name: remember, args: {title: deer, text: The deer come at dawn.}}]
      - text: "Done."
  - turns:
      - tool_calls: [{name: recall, args: {About: dawn}}]
      - text: "There."
`
	out, told := ran(t, "env", configured(t, script, ""))
	out = strings.Replace(out, "uncounted", "5", 1) // on a machine without a sandbox
	if out != "remember: Noted, 5 words.\nrecall: deer: The deer come at dawn.\n" {
		t.Errorf("got %q\n%s", out, told)
	}
}

func TestTheExampleOfAJobThatFollowsAToolRuns(t *testing.T) {
	const script = "dialogues:\n  - turns:\n      - tool_calls: [{name: send_report, args: {to: Ada, text: All is well.}}]\n      - text: Done.\n"
	out, told := ran(t, "jobs", configured(t, script, ""))
	if out != "try 2 for the user default: to Ada: All is well.\n" ||
		!strings.Contains(told, "the mail server is down") {
		t.Errorf("got %q\n%s", out, told)
	}
}

func TestTheExampleOfTheWholeAgentRuns(t *testing.T) {
	const script = `dialogues:
  - turns:
      - tool_calls: [{name: write_todos, args: {todos: [{content: look, status: in_progress}]}}, {name: stock, args: {product: Tent}}]
      - tool_calls:
          - {name: write_file, args: {description: Note, path: /mnt/user-data/outputs/best.md, content: 'Tent: {{.LastToolResult}}'}}
          - {name: write_todos, args: {todos: [{content: look, status: completed}]}}
      - text: "Written."
`
	out, told := ran(t, "program", configured(t, script, ""))
	if out != "Written.\n\nTent: There are 12 pieces of Tent." || !strings.Contains(told, "stock: There are 12") {
		t.Errorf("got %q\n%s", out, told)
	}
}

// TestAMiddlewareInAModuleOfItsOwnRuns builds, checks and runs what a third party would write.
func TestAMiddlewareInAModuleOfItsOwnRuns(t *testing.T) {
	const dir = "examples/middleware"
	example(t, dir, "test", "-vet=off", "./...") // scripts/lint looks at it
	const script = `dialogues:
  - turns:
      - tool_calls: [{name: read_file, args: {description: Look, path: /mnt/user-data/uploads/people.txt}}]
      - text: "It says: {{.LastToolResult}}"
`
	people := filepath.Join(t.TempDir(), "people.txt")
	if err := os.WriteFile(people, []byte("Ada ada@example.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, told := example(t, dir, "run", "./mypudu", "run", "--config", configured(t, script, ""), "--data", t.TempDir(),
		"--file", people, "Who is there?")
	if !strings.Contains(out, "Ada [e-mail address]") || strings.Contains(out, "ada@") {
		t.Errorf("got %q\n%s", out, told)
	}
}

func TestTheExampleOfAToolThatAsksRuns(t *testing.T) {
	const script = "dialogues:\n  - turns:\n      - tool_calls: [{name: buy, args: {product: tent, pieces: 3}}]\n      - text: 'It says: {{.LastToolResult}}'\n"
	ask := program(t, "ask")
	for answer, want := range map[string]string{"yes": "It says: Ordered: 3 of tent.",
		"no": "It says: The person said no. Nothing was ordered."} {
		cmd := ask(configured(t, script, ""))
		cmd.Stdin = strings.NewReader(answer + "\n")
		var told strings.Builder
		cmd.Stderr = &told
		out, err := cmd.Output()
		if err != nil || string(out) != want || !strings.Contains(told.String(), "Order 3 of tent? [yes/no]") {
			t.Errorf("%s: got %q, %v\n%s", answer, out, err, &told)
		}
	}
}

func TestTheExampleOfAChannelAndEventsOfItsOwnRuns(t *testing.T) {
	const script = `dialogues:
  - match: Lunch
    turns:
      - tool_calls: [{name: spend, args: {what: lunch, euro: 12}}, {name: spend, args: {what: train, euro: 30}}]
      - text: "Noted."
  - match: coffee
    turns:
      - tool_calls: [{name: spend, args: {what: coffee, euro: 5}}]
      - text: "Noted."
`
	cmd := program(t, "channel")(configured(t, script, ""))
	var told strings.Builder
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil || string(out) != "lunch: 12.00\ntrain: 30.00\ncoffee: 5.00\n" {
		t.Errorf("got %q, %v\n%s", out, err, &told)
	}
	for _, want := range []string{`"type":"expense"`, `"what":"train"`, `{"type":"known","entries":2}`} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("no event %s:\n%s", want, &told)
		}
	}
}

func TestTheExampleOfAServerInAProgramRuns(t *testing.T) {
	cmd := program(t, "server")(configured(t, "dialogues:\n  - turns:\n      - text: 'From within.'\n", ""))
	cmd.Env = append(cmd.Env, "EXAMPLE_PASSWORD=open sesame")
	out := server.NewOutput()
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var at string
	select {
	case at = <-out.Address():
	case err := <-ended:
		t.Fatalf("%v\n%s", err, out)
	}
	for _, r := range []struct {
		method, path, user, body string
		status                   int
		want                     string
	}{
		{http.MethodGet, "/hello", "", "", http.StatusOK, "Hello."},
		{http.MethodGet, "/agent/info", "", "", http.StatusUnauthorized, "who are you?"},
		{http.MethodPost, "/agent/runs/wait", "me:open%20sesame@",
			`{"assistant_id":"lead_agent","input":{"messages":"Hello."}}`, http.StatusOK, "From within."},
	} {
		if status, body := ask(t, r.method, strings.Replace(at, "http://", "http://"+r.user, 1)+r.path,
			r.body); status != r.status || !strings.Contains(body, r.want) {
			t.Errorf("%s: %d %s", r.path, status, body)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || !strings.Contains(out.String(), `"msg":"run ended"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTheExampleOfAProgramWithASectionOfItsOwnRuns(t *testing.T) {
	const script = "dialogues:\n  - turns:\n      - tool_calls: [{name: stock, args: {product: tent}}]\n      - text: 'It says: {{.LastToolResult}}'\n"
	stock := filepath.Join(t.TempDir(), "stock.csv")
	if err := os.WriteFile(stock, []byte("lamp,3\ntent,12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inventory := program(t, "inventory")
	for _, tt := range []struct{ section, out, told string }{
		{"inventory: {file: " + stock + "}\n", "It says: 12 pieces of tent\n", "tools were called 1 times"},
		{"inventory: {fiel: x}\n", "", `inventory: unknown field "fiel"`},
		{"", "", `config.yaml has no "file" in its section "inventory"`},
	} {
		cmd := inventory(configured(t, script, tt.section), "run", "How many tents are there?")
		var told strings.Builder
		cmd.Stderr = &told
		out, err := cmd.Output()
		if (err == nil) != (tt.out != "") || string(out) != tt.out || !strings.Contains(told.String(), tt.told) {
			t.Errorf("%q: got %q, %v\n%s", tt.section, out, err, &told)
		}
	}
}

// examples are all of them as programs, by their names in a folder, once one was asked for.
var examples struct {
	build sync.Once
	dir   string
	err   error
}

// program returns a maker of commands that run an example on a configuration, each with a data folder of its own.
func program(t *testing.T, name string) func(config string, args ...string) *exec.Cmd {
	t.Helper()
	examples.build.Do(func() {
		if examples.dir, examples.err = os.MkdirTemp("", "pudu-examples-"); examples.err == nil {
			_, _, examples.err = command(context.Background(), ".", "build", "-o", examples.dir, "./examples/...")
		}
	})
	if examples.err != nil {
		t.Fatal(examples.err)
	}
	return func(config string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), filepath.Join(examples.dir, name), args...)
		cmd.Env = append(server.Environment(os.Environ()), "PUDU_CONFIG="+config, "PUDU_DATA="+t.TempDir())
		return cmd
	}
}

// ran runs an example, and returns its output.
func ran(t *testing.T, name, config string) (stdout, stderr string) {
	t.Helper()
	cmd := program(t, name)(config)
	var out, told strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, &out, &told)
	}
	return out.String(), told.String()
}
