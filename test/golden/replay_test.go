package golden

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// exchangeTime bounds one request with its answer.
const exchangeTime = 60 * time.Second

// underWay is how long the next request waits for the events of a stream that it overlaps, as some come only because of
// it.
const underWay = 500 * time.Millisecond

// replayer sends the requests of a recording and compares the answers.
type replayer struct {
	base string
	rec  *Recording
	used *used
	// patience is how long a question is asked again until the answer fits: what it asks for may still be under way.
	patience time.Duration
	// past: what was before an exchange is made by the table of it.
	past bool
	// before is called before each exchange that is sent; nil does nothing.
	before func(e *Exchange)

	mu    sync.Mutex
	vars  Vars
	made  map[string]bool // the runs that the past has
	found []string
}

// used counts which lines of the tables were needed.
type used struct {
	mu    sync.Mutex
	rules uses // of changed
	finds uses // of excused
}

// excused notes which lines excused something.
func (u *used) excused(e *Exchange, rules []int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, i := range rules {
		u.finds.add(i, e)
	}
}

// replay returns what does not fit, each with the number of the exchange.
func (r *replayer) replay(ctx context.Context) []string {
	rec := r.rec
	var background sync.WaitGroup
	for i := range rec.Exchanges {
		e := &rec.Exchanges[i]
		if IsLeftOut(rec.Name, e) {
			continue
		}
		r.invent(e)
		r.prepare(ctx, e)
		if r.before != nil {
			r.before(e)
		}
		if !e.Overlaps {
			r.exchange(ctx, e, func() {})
			continue
		}
		began := make(chan struct{})
		begin := sync.OnceFunc(func() { close(began) })
		background.Go(func() {
			defer begin()
			r.exchange(ctx, e, begin)
		})
		<-began
	}
	background.Wait()
	return r.found
}

// invent gives values to the ids that the client made up.
func (r *replayer) invent(e *Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := e.Path + e.Body + strings.Join(slices.Collect(maps.Values(e.Headers)), "")
	for _, name := range variable.FindAllStringSubmatch(text, -1) {
		if _, ok := r.vars[name[1]]; !ok {
			r.vars[name[1]] = randomUUID()
		}
	}
}

func randomUUID() string {
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// exchange sends one request, a question again for a while as its answer may still change, and keeps what does not fit.
// begun is called when an answer begins.
func (r *replayer) exchange(ctx context.Context, e *Exchange, begun func()) {
	end := time.Now().Add(r.patience)
	for {
		found := r.try(ctx, e, begun)
		found, rules := excuse(r.rec.Name, e, found)
		if len(found) == 0 || !asks(e) || !time.Now().Before(end) {
			r.used.excused(e, rules)
			r.mu.Lock()
			for _, f := range found {
				r.found = append(r.found, fmt.Sprintf("%s, exchange %d, %s %s: %s", r.rec.Name, e.N, e.Method, e.Path,
					f))
			}
			r.mu.Unlock()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

var question = regexp.MustCompile(`^POST .*/(search|history|count|state/checkpoint)$`)

// asks tells whether a request changes nothing.
func asks(e *Exchange) bool {
	return e.Method == http.MethodGet || e.Method == http.MethodHead || question.MatchString(e.Route())
}

func (r *replayer) try(ctx context.Context, e *Exchange, begun func()) []string {
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	req, err := r.request(ctx, e)
	if err != nil {
		return []string{err.Error()}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return []string{err.Error()}
	}
	defer resp.Body.Close()
	c := r.check()
	shape, other := r.head(c, e, resp)
	r.keep(c) // the next request may need the run's id while this one streams
	if e.Stream == nil {
		begun()
	}
	defer time.AfterFunc(underWay, begun).Stop()
	if shape {
		r.content(c, e, resp, other, begun)
		r.keep(c)
	}
	return c.found
}

func (r *replayer) request(ctx context.Context, e *Exchange) (*http.Request, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, kind := fill(e.Body, r.vars), "application/json"
	if r.past && r.rec.Set() == "langgraph" {
		body = saysDefaults(e, body)
	}
	if parts, ok := multipartBody(body); ok {
		body = parts
	}
	req, err := http.NewRequestWithContext(ctx, e.Method, r.base+fill(e.Path, r.vars), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", kind)
	}
	for name, value := range e.Headers {
		req.Header.Set(name, fill(value, r.vars))
	}
	return req, nil
}

var startsRuns = whole(`POST .*/runs(/stream|/wait|/batch)?`)

// saysDefaults is the body of a request to the JavaScript server with its default where ours is that of the Python
// server: a run behind an active one is refused.
func saysDefaults(e *Exchange, body string) string {
	if !startsRuns.MatchString(e.Route()) || !json.Valid([]byte(body)) {
		return body
	}
	say := func(order string) string {
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(order), &members) != nil || len(members) == 0 || members["multitask_strategy"] != nil {
			return order
		}
		return `{"multitask_strategy":"reject",` + strings.TrimSpace(order)[1:]
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(body), &list) != nil {
		return say(body)
	}
	for i, order := range list {
		list[i] = json.RawMessage(say(string(order)))
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return body
	}
	return string(raw)
}

// check begins a comparison on a copy of the variables.
func (r *replayer) check() *check {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &check{vars: maps.Clone(r.vars)}
}

// keep takes over the variables that a comparison has set.
func (r *replayer) keep(c *check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.vars, c.vars)
}

// head compares the status and the headers. It tells whether the rest is to be compared, and whether ours is another
// answer by the table.
func (r *replayer) head(c *check, e *Exchange, resp *http.Response) (more, other bool) {
	want, rule := e.Status, find(changed(), r.rec.Name, e)
	if rule >= 0 {
		r.used.mu.Lock()
		r.used.rules.add(rule, e)
		r.used.mu.Unlock()
		if status := changed()[rule].Status; status != 0 {
			want = status
		}
	}
	if resp.StatusCode != want {
		c.failf("status", "is %d, want %d; %s", resp.StatusCode, want, start(resp.Body))
		return false, false
	}
	for name, pattern := range e.Heads {
		got := resp.Header.Get(name)
		if fits := match(pattern, got, c.vars); !fits && rule < 0 {
			c.failf(name, "is %q, want %q", got, fill(pattern, c.vars))
		}
	}
	return true, rule >= 0
}

// content compares what comes after the headers. begun is called when each event of a stream came once.
func (r *replayer) content(c *check, e *Exchange, resp *http.Response, other bool, begun func()) {
	if e.Stream == nil || resp.StatusCode >= 400 {
		r.body(c, e, resp, other)
		return
	}
	missing := maps.Clone(e.Stream.Events)
	delete(missing, e.Stream.Last)
	frames, err := readFrames(resp.Body, e.HangUp, func(f *Frame) {
		if delete(missing, f.Key()); len(missing) == 0 {
			begun()
		}
	})
	if err != nil {
		c.failf("stream", "breaks: %v", err)
	}
	if !other {
		c.stream(e.Stream, frames, e.HangUp > 0)
	}
}

// body compares a body that is no stream. Every error must say why, in the way of DeerFlow.
func (r *replayer) body(c *check, e *Exchange, resp *http.Response, other bool) {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 32<<20))
	if err != nil {
		c.failf("body", "breaks: %v", err)
	}
	shape := e.JSON
	if resp.StatusCode >= 400 && (shape == nil || other || r.rec.Set() == "langgraph") {
		if e.Method == http.MethodHead || resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
			return
		}
		shape = &Shape{Kind: Object, Fields: map[string]*Shape{"detail": {}}}
	}
	if shape == nil || other {
		return
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		c.failf("body", "is no JSON: %v: %.200s", err, raw)
		return
	}
	c.value("body", shape, v)
}

func start(r io.Reader) string {
	raw, err := io.ReadAll(io.LimitReader(r, 300))
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(raw))
}

var (
	described = regexp.MustCompile(`^\(multipart: (.*)\)\s*$`)
	part      = regexp.MustCompile("(\\w+)=`?([^`,]*?)`? (\\d+) bytes")
)

// multipartBody makes a form of the description that stands in a recording in place of a long one.
func multipartBody(body string) (string, bool) {
	const boundary = "----x7MA4YWxkTrZu0gW"
	text := described.FindStringSubmatch(body)
	if text == nil {
		if strings.HasPrefix(body, "--"+boundary) {
			return strings.ReplaceAll(body, "\n", "\r\n") + "\r\n", true
		}
		return "", false
	}
	var b strings.Builder
	for _, p := range part.FindAllStringSubmatch(text[1], -1) {
		size := 0
		fmt.Sscan(p[3], &size)
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q; filename=%q\r\n\r\n%s\r\n", boundary, p[1],
			p[2], strings.Repeat("x", size))
	}
	return b.String() + "--" + boundary + "--\r\n", true
}
