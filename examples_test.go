package pudu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// example runs the go command in a folder, without a network, and returns its output.
func example(t *testing.T, dir string, env []string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=readonly")...)
	var out, told strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s in %s: %v (if a go.mod is to be updated: run go mod tidy there)\n%s%s", strings.Join(args, " "), dir, err, &out, &told)
	}
	return out.String(), told.String()
}

func TestTheExampleOfAPlainAgentRuns(t *testing.T) {
	const script = "dialogues:\n  - turns:\n      - tool_calls: [{name: weather, args: {City: Oslo}}]\n      - text: 'It says: {{.LastToolResult}}'\n"
	out, told := example(t, ".", []string{"PUDU_CONFIG=" + configured(t, script, "")}, "run", "./examples/embed")
	if out != "It says: Sunny in Oslo" || !strings.Contains(told, `weather {"City":"Oslo"}`) {
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
	env := []string{"PUDU_CONFIG=" + configured(t, script, ""), "PUDU_DATA=" + t.TempDir()}
	out, told := example(t, ".", env, "run", "./examples/program")
	if out != "Written.\n\nTent: There are 12 pieces of Tent." || !strings.Contains(told, "stock: There are 12") {
		t.Errorf("got %q\n%s", out, told)
	}
}

// TestAMiddlewareInAModuleOfItsOwnRuns builds, checks and runs what a third party would write.
func TestAMiddlewareInAModuleOfItsOwnRuns(t *testing.T) {
	const dir = "examples/middleware"
	example(t, dir, nil, "vet", "./...")
	example(t, dir, nil, "test", "./...")
	const script = `dialogues:
  - turns:
      - tool_calls: [{name: read_file, args: {description: Look, path: /mnt/user-data/uploads/people.txt}}]
      - text: "It says: {{.LastToolResult}}"
`
	people := filepath.Join(t.TempDir(), "people.txt")
	if err := os.WriteFile(people, []byte("Ada ada@example.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, told := example(t, dir, nil, "run", "./mypudu", "run", "--config", configured(t, script, ""), "--data", t.TempDir(), "--file", people, "Who is there?")
	if !strings.Contains(out, "Ada [e-mail address]") || strings.Contains(out, "ada@") {
		t.Errorf("got %q\n%s", out, told)
	}
}
