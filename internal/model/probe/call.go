package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// How much a call may cost. The rooms are generous because a model that thinks does so within them.
const (
	maxAttempts = 3
	maxAnswer   = 256 << 10 // bytes
	shortRoom   = 2000      // tokens
	longRoom    = 4000
	moreRoom    = 4 // times, when an answer was cut off
	maxDetail   = 200
)

// How long a probe waits before it tries again.
const (
	usualWait = 2 * time.Second
	mostWait  = 20 * time.Second
)

// errTooLong is the end of an answer that does not stop by itself.
var errTooLong = errors.New("the answer has more than 256 KiB: max_tokens is not obeyed")

// answer is what a call brought.
type answer struct {
	message.Message

	pieces      int           // chunks with text
	first, last time.Duration // when the first and the last of them came
	took        time.Duration
}

// call asks the model, again where that can help: without a parameter that is refused, with more room, or a little
// later.
func (p *prober) call(ctx context.Context, req model.Request, room int) (answer, error) {
	return p.callOn(ctx, p.cfg.Model, req, room)
}

func (p *prober) callOn(ctx context.Context, m model.ChatModel, req model.Request, room int) (a answer, err error) {
	if most := p.cfg.Declared.MaxTokens; most > 0 {
		room = min(room, most)
	}
	r := attempts{p: p, req: req, room: room}
	if !p.warm && (req.Settings.Thinking == nil || !*req.Settings.Thinking) {
		r.req.Settings.Temperature = new(float64)
	}
	if !p.unbounded {
		r.req.Settings.MaxTokens = room
	}
	for n := 1; ; n++ {
		a, err = p.once(ctx, m, &r.req)
		if n == maxAttempts || !r.again(ctx, &a, err) {
			return a, err
		}
	}
}

// attempts are those of one call.
type attempts struct {
	p      *prober
	req    model.Request
	room   int
	waited bool
}

// again changes the request, or waits, and reports whether another attempt is worth it.
func (r *attempts) again(ctx context.Context, a *answer, err error) bool {
	s := &r.req.Settings
	e := model.AsError(err)
	switch {
	case err == nil:
		if !a.Truncated() || s.MaxTokens == 0 || s.MaxTokens > r.room {
			return false
		}
		s.MaxTokens = r.room * moreRoom
		return true
	case e == nil:
		return false
	case e.Class == model.ClassBadRequest && s.Temperature != nil && mentions(e, "temperature"):
		r.p.warm, s.Temperature = true, nil
		return true
	case e.Class == model.ClassBadRequest && s.MaxTokens > 0 &&
		mentions(e, "max_tokens", "max_completion_tokens", "max_output_tokens"):
		if s.MaxTokens > r.room { // more than the model can; nothing is wrong with the bound itself
			s.MaxTokens = 0
			return true
		}
		r.p.unbounded, s.MaxTokens = true, 0
		r.p.advise("it refuses the bound of its answer that this provider sends: " + describe(err))
		return true
	case e.Retryable() && !r.waited:
		r.waited = true
		return wait(ctx, e.RetryAfter)
	}
	return false
}

func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		d = usualWait
	}
	t := time.NewTimer(min(d, mostWait))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// once makes one call and keeps the accounts.
func (p *prober) once(ctx context.Context, m model.ChatModel, req *model.Request) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, p.ended(err)
	}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	p.report.Calls++
	a, err := p.collect(ctx, m, req)
	if a.Usage != nil {
		p.report.Usage = p.report.Usage.Add(*a.Usage)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = p.ended(ctx.Err())
		}
		return a, err
	}
	if a.Usage == nil {
		p.unmetered++
	}
	if p.reasons == nil {
		p.reasons = make(map[string]int)
	}
	p.reasons[a.FinishReason()]++
	return a, nil
}

func (p *prober) collect(ctx context.Context, m model.ChatModel, req *model.Request) (answer, error) {
	var a answer
	var b message.Builder
	start, size := p.cfg.Now(), 0
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			a.Message = b.Message()
			return a, err
		}
		b.Add(c)
		if c.Text != "" {
			a.piece(p.cfg.Now().Sub(start))
		}
		if size += sizeOf(&c); size > maxAnswer {
			return a, errTooLong
		}
	}
	a.Message, a.took = b.Message(), p.cfg.Now().Sub(start)
	return a, nil
}

func (a *answer) piece(at time.Duration) {
	if a.pieces++; a.pieces == 1 {
		a.first = at
	}
	a.last = at
}

func sizeOf(c *message.Chunk) int {
	n := len(c.Text) + len(c.Reasoning)
	for _, t := range c.ToolCalls {
		n += len(t.Args)
	}
	return n
}

// ended says why a call has no answer whose time is up.
func (p *prober) ended(err error) error {
	switch {
	case p.total.Err() == nil:
		return fmt.Errorf("no complete answer within %s: %w", seconds(p.cfg.Timeout), err)
	case errors.Is(p.total.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the whole probe may take %s, and they are over: %w", seconds(p.cfg.Total), err)
	}
	return fmt.Errorf("the probe was ended: %w", err)
}

// hopeless reports an error that the next task will meet, too.
func hopeless(err error) bool {
	e := model.AsError(err)
	return e != nil && (e.Class == model.ClassAuth || e.Class == model.ClassQuota)
}

// refused reports that the provider answered, and does not want such a request.
func refused(err error) bool {
	e := model.AsError(err)
	return e != nil && (e.Class == model.ClassBadRequest || e.Class == model.ClassNotFound ||
		e.Class == model.ClassContextLength)
}

func mentions(e *model.Error, words ...string) bool {
	text := strings.ToLower(e.Message)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// describe is an error in one bounded line. Who failed is known.
func describe(err error) string {
	e := model.AsError(err)
	if e == nil {
		return excerpt.Clip(err.Error(), maxDetail)
	}
	text := e.Message
	if e.Status != 0 {
		text = fmt.Sprintf("HTTP %d: %s", e.Status, text)
	}
	return excerpt.Clip(text, maxDetail)
}

// quote is a bounded piece of what the model wrote.
func quote(s string) string {
	return fmt.Sprintf("%q", excerpt.Clip(strings.TrimSpace(s), 60))
}

func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}
