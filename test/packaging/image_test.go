//go:build linux && image

package packaging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pudu-ai/pudu/test/server"
)

// daemon starts a Docker of its own in a temporary folder, and returns the variable by which clients find it. The flags
// are those of a machine that forbids much: no rules of the packet filter, and a storage that copies.
func daemon(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pudu-docker-")
	server.Must(t, err)
	socket := "unix://" + filepath.Join(dir, "socket")
	log, err := os.Create(filepath.Join(dir, "log"))
	server.Must(t, err)
	cmd := exec.Command("dockerd", "--data-root", dir+"/data", "--exec-root", dir+"/exec", "--pidfile", dir+"/pid",
		"--host", socket,
		"--iptables=false", "--ip6tables=false", "--storage-driver=vfs")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("install docker.io and docker-compose (scripts/setup docker), and run this as root: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("Docker said:\n%s", said)
		}
		_ = log.Close()
		_ = os.RemoveAll(dir)
	})
	server.Eventually(t, "Docker answers", func() bool {
		ask := exec.Command("docker", "version")
		ask.Env = append(os.Environ(), "DOCKER_HOST="+socket)
		return ask.Run() == nil
	})
	return "DOCKER_HOST=" + socket
}

// bridge is the address of this machine that containers reach: that of Docker's bridge, which need not be told by a
// network whose bridge was there before its daemon.
func bridge(t *testing.T) string {
	t.Helper()
	docker0, err := net.InterfaceByName("docker0")
	server.Must(t, err)
	addrs, err := docker0.Addrs()
	server.Must(t, err)
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	t.Fatalf("docker0 has no address of version 4: %v", addrs)
	return ""
}

// vendor is a model that runs one command, and then says what came of it.
func vendor(t *testing.T, address string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	server.Must(t, err)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		delta := `{"content":"done"}`
		if !bytes.Contains(body, []byte(`"role":"tool"`)) {
			args, _ := json.Marshal(`{"description":"look","command":"echo $((6*7)) from $(python3 -c 'print(\"python\")'); ls /var/lib/pudu 2>&1 | head -1"}`)
			delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"bash","arguments":%s}}]}`, args)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w,
			"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", delta)
	}))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// TestImage builds the image, starts it with compose.yaml, and has a run do a command in its sandbox.
func TestImage(t *testing.T) {
	docker := daemon(t)
	env := []string{docker, "PUDU_TOKEN=secret", "OPENAI_API_KEY=none", "OPENAI_MODEL=test", "OPENAI_BASE_URL=" +
		vendor(t, bridge(t))}
	program := filepath.Join(t.TempDir(), "pudu")
	run(t, env, "make", "build", "OUT="+program)
	run(t, env, "make", "image", "OUT="+program)
	compose := []string{"-f", "packaging/compose.yaml", "-p", "pudu-test"}
	run(t, env, "docker-compose", append(compose, "up", "-d")...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the container said:\n%s", run(t, env, "docker-compose", append(compose, "logs")...))
		}
		run(t, env, "docker-compose", append(compose, "down", "-v")...)
	})
	const url = "http://127.0.0.1:2026"
	server.Eventually(t, "the server in the container is ready", func() bool {
		res, err := http.Get(url + "/ready")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/runs/wait",
		strings.NewReader(`{"assistant_id":"lead_agent","on_completion":"keep","input":{"messages":"what is six times seven?"}}`))
	server.Must(t, err)
	req.Header.Set("X-Api-Key", "secret")
	res, err := http.DefaultClient.Do(req)
	server.Must(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	server.Must(t, err)
	if res.StatusCode != http.StatusOK || !bytes.Contains(raw, []byte("42 from python")) ||
		!bytes.Contains(raw, []byte("No such file")) {
		t.Errorf("status %d: the sandboxed command did not do what it should: %s", res.StatusCode, raw)
	}
	status := run(t, env, "docker-compose", append(compose, "exec", "-T", "pudu", "cat", "/proc/1/status")...)
	for _, want := range []string{"Uid:\t1000\t1000\t1000\t1000", "CapPrm:\t0000000000000000",
		"CapEff:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(status, want) {
			t.Errorf("the server's process has more rights than it should: no %q in %s", want, status)
		}
	}
	server.Eventually(t, "Docker finds it healthy", func() bool {
		return strings.Contains(run(t, env, "docker", "ps"), "(healthy)")
	})
}
