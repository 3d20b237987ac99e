package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
)

// Source is where the figures come from that are read when they are asked for. An error, or a nil function, leaves its
// figures out.
type Source struct {
	Version   string
	Runs      func() runs.Stats
	Sandboxes func() pool.Stats
	// Jobs counts the jobs by their kinds.
	Jobs func(ctx context.Context) ([]job.Count, error)
	// Queue looks at the runs that wait. How long it takes is a figure, too.
	Queue func(ctx context.Context) (store.Queue, error)
	// Database tells of the database's connections and files.
	Database func() store.Stats
	// Disk tells how many bytes the data folder's disk has, and how many of them are free.
	Disk func() (size, free int64, err error)
	// Bus goes to other processes.
	Bus bus.Bus
}

// source turns what it reads into figures.
type source struct{ Source }

var _ prometheus.Collector = source{}

// Describe implements [prometheus.Collector]; without descriptions the figures are checked when they are collected.
func (source) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (s source) Collect(to chan<- prometheus.Metric) {
	out := output(to)
	out.gauge("pudu_build_info", "The version that runs.", 1, "version", s.Version)
	for _, collect := range []func(output){
		s.collectRuns, s.collectSandboxes, s.collectQueue, s.collectJobs, s.collectDatabase, s.collectDisk,
		s.collectBus} {
		collect(out)
	}
}

func (s source) collectRuns(out output) {
	if s.Runs == nil {
		return
	}
	r := s.Runs()
	out.gauge("pudu_runs_active", "Runs that this process executes at present.", float64(r.Active))
	out.counter("pudu_runs_taken_over_total", "Attempts begun here at runs that another process had left.",
		float64(r.TakenOver))
	for status, n := range r.Ended {
		out.counter("pudu_runs_ended_total", "Runs that came to their end here, by status.", float64(n), "status",
			status)
	}
}

func (s source) collectSandboxes(out output) {
	if s.Sandboxes == nil {
		return
	}
	p := s.Sandboxes()
	out.gauge("pudu_sandboxes_open", "Sandboxes that are open, in use or kept for the next turn.", float64(p.Open))
	out.gauge("pudu_sandboxes_in_use", "Sandboxes that a run uses.", float64(p.InUse))
	out.gauge("pudu_sandboxes_waiting", "Runs that wait for a sandbox because too many are in use.", float64(p.Waiting))
	out.counter("pudu_sandboxes_opened_total", "Sandboxes opened.", float64(p.Opened))
	out.counter("pudu_sandboxes_failed_total", "Sandboxes that could not be opened.", float64(p.Failed))
}

func (s source) collectQueue(out output) {
	if s.Queue == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout/2)
	defer cancel()
	asked := time.Now()
	q, err := s.Queue(ctx)
	if err != nil {
		out.gauge("pudu_database_up", upHelp, 0)
		return
	}
	out.gauge("pudu_database_up", upHelp, 1)
	out.gauge("pudu_database_read_seconds", "Time that the database took to tell of the queue for this answer.",
		time.Since(asked).Seconds())
	out.gauge("pudu_runs_waiting", "Runs that wait in the store, those for a later time included.", float64(q.Waiting))
	oldest := 0.0
	if !q.Oldest.IsZero() {
		oldest = max(time.Since(q.Oldest).Seconds(), 0)
	}
	out.gauge("pudu_runs_waiting_seconds",
		"How long the run has waited that has waited for the longest; 0 if none waits.", oldest)
}

func (s source) collectJobs(out output) {
	if s.Jobs == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout/2)
	defer cancel()
	list, err := s.Jobs(ctx)
	if err != nil {
		return // pudu_database_up tells
	}
	for _, c := range list {
		oldest := 0.0
		if !c.Oldest.IsZero() {
			oldest = max(time.Since(c.Oldest).Seconds(), 0)
		}
		out.gauge("pudu_jobs_waiting", "Jobs to be done, those for a later time included.", float64(c.Waiting), "kind",
			c.Kind)
		out.gauge("pudu_jobs_dead", "Jobs that are given up.", float64(c.Dead), "kind", c.Kind)
		out.gauge("pudu_jobs_waiting_seconds", "How long the job is due that has waited for the longest.", oldest,
			"kind", c.Kind)
	}
}

const upHelp = "1 if the database answered this time."

func (s source) collectDatabase(out output) {
	if s.Database == nil {
		return
	}
	d := s.Database()
	out.gauge("pudu_database_connections", "Connections that are open, by state.", float64(d.InUse), "state", "in_use")
	out.gauge("pudu_database_connections", "Connections that are open, by state.", float64(d.Idle), "state", "idle")
	out.counter("pudu_database_connection_waits_total", "Reads that had to wait for a connection.", float64(d.Waits))
	out.counter("pudu_database_commits_total", "Transactions committed.", float64(d.Commits))
	out.counter("pudu_database_commit_errors_total", "Transactions that failed.", float64(d.Failed))
	out.counter("pudu_database_commit_seconds_total", "Time that transactions took.", d.Committing.Seconds())
	out.gauge("pudu_database_writes_waiting", "Writes that wait for the next transaction.", float64(d.Queued))
	out.counter("pudu_jobs_left_out_total", "Jobs that were left out because too many waited.", float64(d.JobsLeftOut))
	if d.Bytes > 0 {
		out.gauge("pudu_database_bytes", "Size of SQLite's database with its log.", float64(d.Bytes))
	}
}

func (s source) collectDisk(out output) {
	if s.Disk == nil {
		return
	}
	if size, free, err := s.Disk(); err == nil {
		out.gauge("pudu_disk_bytes", "Size of the disk that holds the data folder.", float64(size))
		out.gauge("pudu_disk_free_bytes", "What is free of it for this process.", float64(free))
	}
}

func (s source) collectBus(out output) {
	if s.Bus == nil {
		return
	}
	b := s.Bus.Stats()
	out.counter("pudu_bus_published_total", "Messages given to the bus.", float64(b.Published))
	out.counter("pudu_bus_delivered_total", "Messages taken from the bus.", float64(b.Delivered))
	out.counter("pudu_bus_dropped_total", "Messages that the bus is known to have lost.", float64(b.Dropped))
	up := 1.0
	if s.Bus.Healthy() != nil {
		up = 0
	}
	out.gauge("pudu_bus_up", "1 if messages reach other processes at present.", up)
}

// output takes figures. Labels come as pairs of name and value.
type output chan<- prometheus.Metric

func (o output) gauge(name, help string, v float64, labels ...string) {
	o.add(prometheus.GaugeValue, name, help, v, labels)
}

func (o output) counter(name, help string, v float64, labels ...string) {
	o.add(prometheus.CounterValue, name, help, v, labels)
}

func (o output) add(kind prometheus.ValueType, name, help string, v float64, labels []string) {
	var keys, values []string
	for i := 0; i < len(labels); i += 2 {
		keys, values = append(keys, labels[i]), append(values, labels[i+1])
	}
	o <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, keys, nil), kind, v, values...)
}
