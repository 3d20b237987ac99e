// Package metrics counts what operators watch, for Prometheus. The names of the figures, which docs/operations.md lists,
// stay as they are from version to version.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/runs"
)

// Source is where the figures come from that are read when they are asked for.
type Source struct {
	Version string
	Runs    func() runs.Stats
	// Waiting counts the runs that wait in the store; an error leaves the figure out.
	Waiting func() (int, error)
	// Bus goes to other processes; nil leaves its figures out.
	Bus bus.Bus
}

// Metrics are the figures of one process.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
}

// New makes the figures.
func New(s Source) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pudu_http_requests_total", Help: "Requests answered, by route, method and status.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "pudu_http_request_seconds", Help: "Time to answer a request, streams to their end.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
		}, []string{"route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "pudu_streams_open", Help: "Streams that clients follow at present."}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.streams, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &source{Source: s})
	return m
}

// Handler answers with the figures.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Timeout: 10 * time.Second})
}

// Answered counts a request.
func (m *Metrics) Answered(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// Streaming counts streams: 1 for one that begins, -1 for one that ends.
func (m *Metrics) Streaming(change int) { m.streams.Add(float64(change)) }

// source turns what it reads into figures.
type source struct{ Source }

var _ prometheus.Collector = (*source)(nil)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements [prometheus.Collector]; without descriptions the figures are checked when they are collected.
func (*source) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (s *source) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	gauge(desc("pudu_build_info", "The version that runs.", "version"), 1, s.Version)
	r := s.Runs()
	gauge(desc("pudu_runs_active", "Runs that this process executes at present."), float64(r.Active))
	counter(desc("pudu_runs_taken_over_total", "Attempts begun here at runs that another process had left."), float64(r.TakenOver))
	for status, n := range r.Ended {
		counter(desc("pudu_runs_ended_total", "Runs that came to their end here, by status.", "status"), float64(n), status)
	}
	if n, err := s.Waiting(); err == nil {
		gauge(desc("pudu_runs_waiting", "Runs that wait in the store, up to 1000."), float64(n))
	}
	if s.Bus == nil {
		return
	}
	b := s.Bus.Stats()
	counter(desc("pudu_bus_published_total", "Messages given to the bus."), float64(b.Published))
	counter(desc("pudu_bus_delivered_total", "Messages taken from the bus."), float64(b.Delivered))
	counter(desc("pudu_bus_dropped_total", "Messages that the bus is known to have lost."), float64(b.Dropped))
	up := 1.0
	if s.Bus.Healthy() != nil {
		up = 0
	}
	gauge(desc("pudu_bus_up", "1 if messages reach other processes at present."), up)
}
