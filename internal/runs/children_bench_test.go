package runs_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// bench is a process whose runs hand as many parts to runs below as their words say, and whose model takes its time for
// each of its words.
type bench struct {
	m    *runs.Manager
	data store.UserData

	mu   sync.Mutex
	over []time.Duration // what a call took beyond the time of its child
}

func newBench(b *testing.B, places, words int, word time.Duration) *bench {
	b.Helper()
	st, err := sqlstore.Open(b.Context(), sqlstore.Config{Dir: b.TempDir(), After: []store.After{runs.After}})
	if err != nil {
		b.Fatal(err)
	}
	bn := &bench{data: st.For(user())}
	robot := fakeModel(func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		last := req.Messages[len(req.Messages)-1]
		if n, ok := strings.CutPrefix(last.Text(), "split "); ok && last.Role == message.Human {
			c := message.Chunk{FinishReason: "tool_calls"}
			for i := range len(n) {
				c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i, ID: fmt.Sprint("c", i), Name: "split",
					Args: "{}"})
			}
			return chunks(c)
		}
		if last.Role == message.Tool {
			return chunks(message.Chunk{Text: "done", FinishReason: "stop"})
		}
		return func(yield func(message.Chunk, error) bool) {
			for range words {
				if time.Sleep(word); !yield(message.Chunk{Text: "word "}, nil) {
					return
				}
			}
			yield(message.Chunk{FinishReason: "stop"}, nil)
		}
	})
	bn.m = runs.NewManager(runs.Config{Store: st, Owner: "bench", Parallel: places,
		Build: func(_ context.Context, job runs.Job) (runs.Built, error) {
			a, err := agent.New(agent.Config{Model: robot, Tools: []tool.Tool{bn.split(job.Children)}})
			return runs.Built{Agent: a, Close: func() error { return nil }}, err
		}})
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { bn.m.Serve(ctx, nil) })
	b.Cleanup(func() {
		stop()
		serving.Wait()
		if err := st.Close(); err != nil {
			b.Error(err)
		}
	})
	return bn
}

// split hands a part to a run below, and notes what the call took beyond that run's own time.
func (bn *bench) split(below *runs.Children) tool.Tool {
	spec := tool.Spec{Name: "split", Description: "Has a run do it.", Effect: tool.Idempotent}
	return tool.MustNew(spec, func(ctx context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
		began := time.Now()
		child, err := below.Start(ctx, c.ID,
			runs.Request{Input: []message.Message{message.New(message.Human, "do it")}})
		if err != nil {
			return nil, err
		}
		out, err := child.Wait(ctx, nil)
		took := time.Since(began) - out.Run.UpdatedAt.Sub(out.Run.CreatedAt)
		bn.mu.Lock()
		defer bn.mu.Unlock()
		bn.over = append(bn.over, took)
		return tool.Text(out.Run.Status), err
	})
}

// give has n parents give that many tasks each, and returns when all have ended.
func (bn *bench) give(b *testing.B, n, tasks int) time.Duration {
	b.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			req := ordered("split " + strings.Repeat("x", tasks))
			req.ThreadID = fmt.Sprintf("thread-%d-%d", i, time.Now().UnixNano())
			run, err := bn.m.For(user()).Submit(b.Context(), req)
			for ; err == nil && run.Active(); time.Sleep(time.Millisecond) {
				run, err = bn.data.Run(b.Context(), run.ID)
			}
			if err != nil || run.Status != event.StatusSuccess {
				b.Errorf("run is %s (%s): %v", run.Status, run.Error, err)
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// BenchmarkTask is one task at a time: what giving it and waiting for it adds to its own time, in the middle of all.
func BenchmarkTask(b *testing.B) {
	bn := newBench(b, 10, 10, time.Millisecond)
	bn.give(b, 1, 1)
	bn.over = nil
	for b.Loop() {
		bn.give(b, 1, 1)
	}
	slices.Sort(bn.over)
	b.ReportMetric(float64(bn.over[len(bn.over)/2].Microseconds())/1000, "ms-added-p50")
}

// BenchmarkTasksAtOnce compares four tasks of a run with one, with a model of 20 ms a token.
func BenchmarkTasksAtOnce(b *testing.B) {
	bn := newBench(b, 10, 50, 20*time.Millisecond)
	var one, four time.Duration
	for b.Loop() {
		one += bn.give(b, 1, 1)
		four += bn.give(b, 1, 4)
	}
	b.ReportMetric(float64(four)/float64(one), "x-of-one")
}

// BenchmarkManyTasks is 200 tasks of 50 runs at once: the memory of each while all are at work.
func BenchmarkManyTasks(b *testing.B) {
	bn := newBench(b, 2000, 50, 20*time.Millisecond)
	var most uint64
	for b.Loop() {
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		time.AfterFunc(700*time.Millisecond, func() {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
		})
		bn.give(b, 50, 4)
	}
	b.ReportMetric(float64(most)/200/1024, "KiB/task")
}

// TestFiftyParentsOnFourPlaces: 200 tasks of 50 runs at once come to their end on four places, and each is there once.
func TestFiftyParentsOnFourPlaces(t *testing.T) {
	f := newFamily(t)
	m := f.process(f.store, "a", 4)
	var all []store.Run
	for i := range 50 {
		req := ordered("split a + b + c + d")
		req.ThreadID = fmt.Sprint("thread-", i)
		all = append(all, f.submit(m, req))
	}
	for _, run := range all {
		f.wants(run, event.StatusSuccess)
		if n := len(f.below(f.store, run)); n != 4 {
			t.Errorf("run %s has %d below", run.ID, n)
		}
	}
	if n := f.most.Load(); n > 4 {
		t.Errorf("%d runs worked at once", n)
	}
}
