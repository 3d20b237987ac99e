package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// direct makes the model calls of a run without a server between: the same requests, one after the other, each answer
// read to its end.
type direct struct {
	http  *http.Client
	url   string // of the chat completions
	calls [][]byte
}

func (d *direct) run(ctx context.Context) (outcome, error) {
	start := time.Now()
	for _, body := range d.calls {
		if err := d.call(ctx, body); err != nil {
			return outcome{}, fmt.Errorf("call the model: %w", err)
		}
	}
	return outcome{took: time.Since(start)}, nil
}

func (d *direct) call(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	if resp.Header.Get("Content-Type") == "application/json" { // a call that did not ask for a stream
		_, err := io.Copy(io.Discard, resp.Body)
		return err
	}
	r := newFrameReader(resp.Body)
	defer r.release()
	for done := false; ; {
		f, err := r.next()
		if err == io.EOF {
			return unless(done, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return err
		}
		done = string(f.data) == "[DONE]"
	}
}

// newDirect has the server do one run of the plan and keeps the model calls that it made. Each is then made as often as
// one wants, with delay.
func (s *subject) newDirect(ctx context.Context, m *player, p Plan) (*direct, error) {
	quick := p
	quick.Delay = 0
	calls, err := m.tape(ctx, func() error {
		_, err := s.client.stream(ctx, quick)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("do one run: %w", err)
	}
	if len(calls) < p.Steps+1 {
		return nil, fmt.Errorf("do one run: the server made %d model calls at %s, not %d: is that its model's address?", len(calls), m.url, p.Steps+1)
	}
	for i, body := range calls {
		calls[i] = bytes.ReplaceAll(body, []byte(quick.String()), []byte(p.String()))
	}
	return &direct{http: s.directHTTP, url: m.url + "/chat/completions", calls: calls}, nil
}
