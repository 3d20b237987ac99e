package app

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// BenchmarkRuns is what one streamed run on a new thread takes, without the network: the request goes into the gateway
// of an engine with a real store and sandbox, the model answers at once.
func BenchmarkRuns(b *testing.B) {
	for _, steps := range []int{0, 5} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			g := benchGateway(b, steps)
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				benchRun(b, g)
			}
			b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpuTime is what this process has taken of the processors, in nanoseconds.
func cpuTime(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func benchGateway(b *testing.B, steps int) http.Handler {
	b.Helper()
	dir := b.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path,
		[]byte("models:\n- {name: load, provider: openai, model: load, base_url: \"http://127.0.0.1:9\", api_key: none}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	cfg, _, err := config.Load(config.LoadOptions{Path: path, Env: func(string) (string, bool) { return "", false },
		Cwd: dir})
	if err != nil {
		b.Fatal(err)
	}
	e, err := App{}.assemble(b.Context(), cfg, filepath.Join(dir, "data"), cli.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := e.newSettings(cfg, chosen{model: benchModel{steps}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	e.current.Store(s)
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { e.manager.Serve(ctx, nil) })
	g := gateway.New(e.gatewayConfig(e.session(nil), config.Server{Addr: "127.0.0.1:0"}))
	e.report = g.Report
	b.Cleanup(func() {
		g.Stop()
		stop()
		serving.Wait()
		if err := e.close(); err != nil {
			b.Error(err)
		}
	})
	return g
}

func benchRun(b *testing.B, g http.Handler) {
	b.Helper()
	body := `{"assistant_id":"lead_agent","input":{"messages":[{"type":"human","content":"go"}]},"config":{"recursion_limit":1000},` +
		`"stream_mode":["messages-tuple","values"],"on_disconnect":"continue","if_not_exists":"create"}`
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/threads/"+id.New(time.Now())+"/runs/stream",
		strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := &benchClient{header: make(http.Header)}
	g.ServeHTTP(w, r)
	if !strings.Contains(string(w.last), "event: end") {
		b.Fatalf("the stream ended with %.2000s", w.last)
	}
}

// benchClient keeps the last thing that it was sent.
type benchClient struct {
	header http.Header
	last   []byte
}

func (c *benchClient) Header() http.Header { return c.header }
func (c *benchClient) WriteHeader(int)     {}
func (c *benchClient) Flush()              {}
func (c *benchClient) Write(p []byte) (int, error) {
	c.last = append(c.last[:0], p...)
	return io.Discard.Write(p)
}

// benchModel calls a tool in each of its steps, in the pieces in which models do, and then answers.
type benchModel struct{ steps int }

func (benchModel) Name() string { return "bench/model" }

func (m benchModel) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	step := 0
	for _, msg := range req.Messages {
		if msg.Role == message.AI {
			step++
		}
	}
	return func(yield func(message.Chunk, error) bool) {
		if step >= m.steps {
			for i := range 20 {
				if !yield(message.Chunk{Text: fmt.Sprintf("word%d ", i)}, nil) {
					return
				}
			}
			yield(message.Chunk{FinishReason: "stop"}, nil)
			return
		}
		call := message.ToolCallChunk{ID: fmt.Sprintf("call_%d", step), Name: "ls"}
		args := fmt.Sprintf(`{"description": "look, step %d", "path": "/mnt/user-data/workspace"}`, step)
		for n := 0; n < len(args); n += 4 {
			call.Args = args[n:min(n+4, len(args))]
			if !yield(message.Chunk{ToolCalls: []message.ToolCallChunk{call}}, nil) {
				return
			}
			call = message.ToolCallChunk{}
		}
		yield(message.Chunk{FinishReason: "tool_calls"}, nil)
	}
}
