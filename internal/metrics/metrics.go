// Package metrics counts what operators watch, for Prometheus. The names of the figures, which docs/operations.md
// lists, stay as they are from version to version.
//
// What happens is told to a [Metrics] when it happens (work.go); what is so at present is read from a [Source] when
// somebody asks (source.go). Labels have few values, all known here or bounded by [maxNames]: neither clients nor
// models can make the list of figures grow.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Bounds of an answer.
const (
	answerTimeout = 10 * time.Second
	// answersAtOnce bounds the answers under way; a further one is refused with 503.
	answersAtOnce = 3
)

// Metrics are the figures of one process.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
	refused  prometheus.Counter
	limited  *prometheus.CounterVec
	lost     prometheus.Counter
	jobs     *prometheus.CounterVec

	work
}

// New makes the figures.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counters("pudu_http_requests_total", "Requests answered, by route, method and status.", "route",
			"method", "status"),
		seconds: histograms("pudu_http_request_seconds", "Time to answer a request, streams to their end.",
			prometheus.ExponentialBuckets(0.001, 4, 10), "route"),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pudu_tokens_refused_total", Help: "Requests refused because their token was missing or wrong.",
		}),
		limited: counters("pudu_requests_limited_total",
			"Requests refused because their user had sent too many of the class.", "class"),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pudu_audit_lost_total", Help: "Times that rows of the audit log could not be written.",
		}),
		jobs: counters("pudu_job_tries_total", "Tries of jobs here, by kind and what they came to.", "kind",
			"outcome"),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "pudu_streams_open",
			Help: "Streams that clients follow at present."}),
		work: newWork(),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.streams, m.refused, m.limited, m.lost, m.jobs)
	m.registry.MustRegister(m.collectors()...)
	return m
}

// Read adds the figures that are read from the source, and those of the Go runtime and the process. It is called once.
func (m *Metrics) Read(s Source) {
	m.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), source{s})
}

// Handler answers with the figures.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry,
		promhttp.HandlerOpts{Timeout: answerTimeout, MaxRequestsInFlight: answersAtOnce})
}

// Answered counts a request.
func (m *Metrics) Answered(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// Refused counts a request without a good token.
func (m *Metrics) Refused() { m.refused.Inc() }

// Limited counts a request that was one too many of its class.
func (m *Metrics) Limited(class string) { m.limited.WithLabelValues(class).Inc() }

// AuditLost counts a failure to write the audit log.
func (m *Metrics) AuditLost() { m.lost.Inc() }

// JobTried counts a try of a job. Their kinds are the program's own.
func (m *Metrics) JobTried(kind, outcome string) { m.jobs.WithLabelValues(kind, outcome).Inc() }

// Streaming counts streams: 1 for one that begins, -1 for one that ends.
func (m *Metrics) Streaming(change int) { m.streams.Add(float64(change)) }

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}
