//go:build linux

package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/pudu-ai/pudu/test/server"
)

// logLines reads what a server has printed, all of which must be JSON.
func logLines(t *testing.T, text string) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil || fields["level"] == nil || fields["msg"] == nil {
			t.Errorf("no line of a JSON log: %s", line)
		}
		lines = append(lines, fields)
	}
	return lines
}

// find is the first line with the message.
func find(lines []map[string]any, msg string) map[string]any {
	for _, line := range lines {
		if line["msg"] == msg {
			return line
		}
	}
	return nil
}

// TestEverythingIsJSON that a server prints whose log is to be JSON: the start, runs, refusals, hangups, and why it
// does not come up.
func TestEverythingIsJSON(t *testing.T) {
	t.Parallel()
	p, _ := alone(t)
	env := []string{"PUDU_LOG_FORMAT=json", "PUDU_TOKEN=secret"}
	n := p.launch(t, options{env: env})
	server.Eventually(t, "it is ready", func() bool { return strings.Contains(n.Out.String(), `"msg":"ready"`) })
	n.URL, _ = find(logLines(t, n.Out.String()), "ready")["address"].(string)

	ask := func(path, token, body string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL+path, strings.NewReader(body))
		server.Must(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("X-Request-ID", "from-the-proxy")
		res, err := http.DefaultClient.Do(req)
		server.Must(t, err)
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	if res := ask("/threads", "guess", "{}"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d", res.StatusCode)
	}
	input, err := json.Marshal(plan{Plan: "log"}.text())
	server.Must(t, err)
	res := ask("/runs/wait", "secret", fmt.Sprintf(`{"input":{"messages":%s},"on_completion":"keep"}`, input))
	if id := res.Header.Get("X-Request-ID"); res.StatusCode != http.StatusOK || id != "from-the-proxy" {
		t.Errorf("status %d, request %q", res.StatusCode, id)
	}
	server.Eventually(t, "the end of the run is in the log",
		func() bool { return strings.Contains(n.Out.String(), `"msg":"run ended"`) })
	n.Signal(syscall.SIGHUP)
	server.Eventually(t, "it has heard the hangup", func() bool { return strings.Contains(n.Out.String(), "SIGHUP") })

	lines := logLines(t, n.Out.String())
	for _, msg := range []string{"run started", "run ended"} {
		if line := find(lines, msg); line["request"] != "from-the-proxy" || line["run"] == nil ||
			line["thread"] == nil || line["user"] != "default" {
			t.Errorf("%s: %v", msg, line)
		}
	}
	if line := find(lines, "token refused"); line["request"] != "from-the-proxy" || line["why"] != "wrong" ||
		line["path"] != "/threads" {
		t.Errorf("%v", line)
	}
	refused := logLines(t, p.launch(t, options{env: env}).Refused())
	if line := find(refused, "the server cannot go on"); line["level"] != "ERROR" ||
		!strings.Contains(fmt.Sprint(line["error"]), p.dir) {
		t.Errorf("%v", refused)
	}
	n.Term()
	logLines(t, n.Out.String())
}

// TestTheLevelOfTheLog: warnings leave out what is as it should be.
func TestTheLevelOfTheLog(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]map[string]bool{
		"debug":   {"request answered": true, "run started": true},
		"warning": {"request answered": false, "run started": false},
	} {
		p, _ := alone(t)
		config, err := os.ReadFile(p.config)
		server.Must(t, err)
		server.Must(t, os.WriteFile(p.config, append(config, "log_level: "+level+"\n"...), 0o600))
		n := p.start(t, options{})
		n.succeeds(n.submit("t", plan{Plan: "level"}, nil))
		n.Term()
		for msg, there := range want {
			if strings.Contains(n.Out.String(), msg) != there {
				t.Errorf("level %s: %q is there: %v\n%s", level, msg, !there, n.Out)
			}
		}
	}
}
