package app

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
)

// examples are commands that try a server, for another terminal of its machine. They can be typed as they are, in any
// folder; where the server asks for a token, PUDU_TOKEN must hold it.
func (e *engine) examples(address string, token bool) []string {
	m := e.now().model
	demo, task, header, key := "", `"Write a haiku about small deer into deer.md"`, "", ""
	if m.missing != nil {
		demo = `,"context":{"model_name":"` + config.Demo + `"}`
	}
	if m.missing != nil || m.entry.IsDemo() {
		task = "--model " + config.Demo
	}
	if token {
		header, key = ` -H "Authorization: Bearer $PUDU_TOKEN"`, `, api_key=os.environ["PUDU_TOKEN"]`
	}
	order := `{"assistant_id":"lead_agent","input":{"messages":"hello"}` + demo
	return []string{
		programName() + " run" + e.whereabouts(address) + " " + task,
		fmt.Sprintf(`curl -N %s/runs/stream%s -H 'Content-Type: application/json' -d '%s,`+
			`"stream_mode":"messages-tuple"}'`, address, header, order),
		"python3 -m venv /tmp/langgraph && /tmp/langgraph/bin/pip install -q langgraph-sdk",
		fmt.Sprintf(`/tmp/langgraph/bin/python -c 'import os; from langgraph_sdk import get_sync_client as c; `+
			`print(c(url="%s"%s).runs.wait(None, **%s}))'`,
			address, key, order),
	}
}

// whereabouts are the flags by which pudu run finds the server: none if that holds the folder that is chosen without
// flags.
func (e *engine) whereabouts(address string) string {
	if e.shared { // it listens at no socket
		return " --server " + address
	}
	others := config.EnvFrom(func(name string) (string, bool) { // another terminal has what every session has
		if name == "HOME" || name == "XDG_DATA_HOME" {
			return os.LookupEnv(name)
		}
		return "", false
	})
	if usual, err := config.DataDir(others, os.Getuid()); err == nil && usual == e.dir {
		return ""
	}
	return " --data " + cli.Quote(e.dir)
}

// programName is how this program is called from any folder: its name, if the path leads to it, else its place.
func programName() string {
	self, err := os.Executable()
	if err != nil {
		return "pudu"
	}
	if found, err := exec.LookPath("pudu"); err == nil && sameFile(found, self) {
		return "pudu"
	}
	return cli.Quote(self)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, errOther := os.Stat(b)
	return err == nil && errOther == nil && os.SameFile(one, two)
}
