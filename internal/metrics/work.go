package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/sandbox"
)

// maxNames bounds the models and the tools that have figures of their own; what comes later counts as [others].
const maxNames = 200

const others = "other"

// work are the figures of runs and of what they do.
type work struct {
	waited prometheus.Histogram
	lasted *prometheus.HistogramVec

	calls, callErrors, tokens, cost *prometheus.CounterVec
	callSeconds, firstSeconds       *prometheus.HistogramVec

	tools       *prometheus.CounterVec
	toolSeconds *prometheus.HistogramVec

	commands       *prometheus.CounterVec
	commandSeconds prometheus.Histogram

	copies, copied, notKept, restored prometheus.Counter // of the histories of files

	models, toolNames *names
}

func newWork() work {
	long := prometheus.ExponentialBuckets(0.1, 2, 14) // to 14 minutes
	short := prometheus.ExponentialBuckets(0.005, 4, 9)
	return work{
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "pudu_run_wait_seconds", Help: "Time from a run's admission to its start.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 9),
		}),
		lasted: histograms("pudu_run_seconds", "Time from the start of a run's last attempt to its end, by status.",
			long, "status"),
		calls: counters("pudu_model_calls_total", "Calls of a model that were made, each try counted.", "model"),
		callErrors: counters("pudu_model_errors_total",
			"Calls of a model that gave no whole answer, by the class of the error.", "model", "class"),
		tokens: counters("pudu_model_tokens_total",
			"Tokens of calls, by kind: input, output, and of these cache_read, cache_creation, reasoning.", "model",
			"kind"),
		cost: counters("pudu_model_cost_total",
			"What the tokens cost by the prices that are known, by currency.", "model", "currency"),
		callSeconds: histograms("pudu_model_call_seconds", "Time from a model's request to the end of its answer.",
			long, "model"),
		firstSeconds: histograms("pudu_model_first_chunk_seconds",
			"Time from a model's request to the first piece of its answer.", long, "model"),
		tools: counters("pudu_tool_calls_total",
			"Calls of a tool, by outcome: ok, error, cancelled, asked (a person).", "tool", "outcome"),
		toolSeconds: histograms("pudu_tool_seconds", "Time that a call of a tool took.", short, "tool"),
		commands: counters("pudu_sandbox_commands_total",
			"Commands run in sandboxes, by outcome: ok, failed, timeout, broken, or the limit that ended it, such as "+
				"memory.", "outcome"),
		commandSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "pudu_sandbox_command_seconds",
			Help: "Time that a command took.", Buckets: short}),
		copies: counter("pudu_file_history_copies_total", "Copies of files that were kept for an undo."),
		copied: counter("pudu_file_history_copied_bytes_total", "Their bytes."),
		notKept: counter("pudu_file_history_not_kept_total",
			"Changes of files of which no copy was kept, as they were over a bound."),
		restored: counter("pudu_file_history_restored_total", "Paths that undos have restored or removed."),
		models:   newNames(), toolNames: newNames(),
	}
}

func (w *work) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		w.waited, w.lasted, w.calls, w.callErrors, w.tokens, w.cost, w.callSeconds, w.firstSeconds, w.tools,
		w.toolSeconds, w.commands, w.commandSeconds, w.copies, w.copied, w.notKept, w.restored,
	}
}

// RunBegun counts the start of a run.
func (w *work) RunBegun(waited time.Duration) { w.waited.Observe(waited.Seconds()) }

// RunEnded counts the end of a run.
func (w *work) RunEnded(status string, took time.Duration) {
	w.lasted.WithLabelValues(status).Observe(took.Seconds())
}

// ModelCalled counts a call of a model. class is that of its error; empty if there is none.
func (w *work) ModelCalled(c modelcall.Call, class string) {
	name := w.models.known(c.Model)
	w.calls.WithLabelValues(name).Inc()
	w.callSeconds.WithLabelValues(name).Observe(c.Took.Seconds())
	if c.First > 0 {
		w.firstSeconds.WithLabelValues(name).Observe(c.First.Seconds())
	}
	if class != "" {
		w.callErrors.WithLabelValues(name, class).Inc()
	}
	u := c.Usage
	for kind, n := range map[string]int{
		"input": u.InputTokens, "output": u.OutputTokens, "cache_read": u.CacheRead, "cache_creation": u.CacheCreation,
		"reasoning": u.Reasoning,
	} {
		if n > 0 {
			w.tokens.WithLabelValues(name, kind).Add(float64(n))
		}
	}
}

// ModelCost counts what a call cost.
func (w *work) ModelCost(model, currency string, cost float64) {
	w.cost.WithLabelValues(w.models.known(model), currency).Add(cost)
}

// ToolCalled counts a call of a tool that there is.
func (w *work) ToolCalled(tool, outcome string, took time.Duration) {
	name := w.toolNames.known(tool)
	w.tools.WithLabelValues(name, outcome).Inc()
	w.toolSeconds.WithLabelValues(name).Observe(took.Seconds())
}

// CommandRun counts a command in a sandbox.
func (w *work) CommandRun(res sandbox.Result, err error, took time.Duration) {
	outcome := "ok"
	switch {
	case err != nil:
		outcome = "broken"
	case res.Limit != "":
		outcome = res.Limit
	case res.TimedOut:
		outcome = "timeout"
	case res.Exit != 0:
		outcome = "failed"
	}
	w.commands.WithLabelValues(outcome).Inc()
	w.commandSeconds.Observe(took.Seconds())
}

// FileCopied counts a copy that a history of files keeps, FileNotKept a change of which it keeps none, FilesRestored
// paths that an undo has changed.
func (w *work) FileCopied(bytes int64) {
	w.copies.Inc()
	w.copied.Add(float64(bytes))
}
func (w *work) FileNotKept()            { w.notKept.Inc() }
func (w *work) FilesRestored(paths int) { w.restored.Add(float64(paths)) }

// names are the values of a label, of which there are at most [maxNames].
type names struct {
	mu   sync.Mutex
	seen map[string]bool
}

func newNames() *names { return &names{seen: make(map[string]bool)} }

// known returns the name, or [others] if there are too many.
func (n *names) known(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.seen[name] {
		if len(n.seen) >= maxNames {
			return others
		}
		n.seen[name] = true
	}
	return name
}
