package load

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

// goalUsers is how many users the goals of the news are about.
const goalUsers = 1000

// news measures what the streams of news of many users hold, each on a connection of its own, and what a run costs
// while they are open. The user whose runs are measured reads his news too. Users are those of sessions, which were
// begun before the server starts.
func (b *bench) news(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(b.Dir, "pudu-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	token := rand.Text()
	cookies, err := signIn(ctx, filepath.Join(dir, "data"), token, b.sizes.newsUsers)
	if err != nil {
		return fmt.Errorf("begin sessions: %w", err)
	}
	p, err := b.start(ctx, dir, "PUDU_TOKEN="+token, "PUDU_RATE_LIMITS=work=0,stream=0")
	if err != nil {
		return err
	}
	s := &subject{client: newClient(p.url), process: p}
	s.http.Transport = bearer{token, s.http.Transport}
	defer func() { err = errors.Join(err, s.close()) }()
	return b.readers(ctx, s, cookies)
}

// bearer brings a token with each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.token)
	return t.next.RoundTrip(r)
}

// signIn begins a session of each of n users, the first of them the one whose runs are measured, and returns their
// cookies.
func signIn(ctx context.Context, data, token string, n int) (cookies []string, err error) {
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: data, Features: feature.All()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for i := range n {
		user := access.Default()
		if i > 0 {
			user = access.FromRow(fmt.Sprint("user-", i))
		}
		begun, err := session.New(st).Begin(ctx, user, "", sha256.Sum256([]byte(token)), "", time.Now())
		if err != nil {
			return nil, err
		}
		cookies = append(cookies, begun.Cookie)
	}
	return cookies, nil
}

// readers measures runs with and without the streams, in turns.
func (b *bench) readers(ctx context.Context, s *subject, cookies []string) error {
	plan := Plan{Steps: goalSteps, Tokens: answerTokens}
	l := load{clients: b.sizes.newsClients, warm: b.sizes.warm, window: b.sizes.window, least: 5,
		pid: s.process.cmd.Process.Pid,
		one: func(ctx context.Context) (outcome, error) { return s.run(ctx, plan, nil) }}
	held, err := newsMemory(ctx, s, cookies)
	if errors.Is(err, measure.ErrNoProcess) {
		b.table.Missing("news", err)
		return nil
	}
	var with, without result
	alone := func() error { return without.drive(ctx, l) }
	beside := func() error {
		end, err := openNews(ctx, s.base, cookies)
		if err != nil {
			return err
		}
		defer end()
		return with.drive(ctx, l)
	}
	// What there is already makes runs dearer: each of the two comes first as often as the other.
	for round := 0; err == nil && round < b.sizes.newsRounds; round++ {
		turns := []func() error{alone, beside}
		if round%2 == 1 {
			slices.Reverse(turns)
		}
		if err = turns[0](); err == nil {
			err = turns[1]()
		}
	}
	if err != nil {
		return err
	}
	var memory *measure.Goal
	if len(cookies) == goalUsers {
		memory = measure.Within(64 << 20)
	}
	b.table.Add(measure.Size(fmt.Sprintf("news of %d users: memory", len(cookies)), max(held, 1), memory))
	per := func(r *result) time.Duration { return r.cpu / time.Duration(max(len(r.took), 1)) }
	b.table.Add(measure.Time("  processor time per run, beside without", per(&with), per(&without),
		&measure.Goal{Limit: 1.05, OfRatio: true}))
	b.times("  p50 of a run, beside without", &with, &without, 0.5, nil)
	b.table.Add(measure.Errors("  errors", with.errors+without.errors,
		errors.Join(with.firstError, without.firstError)))
	return nil
}

// newsMemory is what the streams hold in a server that has done nothing yet, without the code of the program that it
// reads for them.
func newsMemory(ctx context.Context, s *subject, cookies []string) (float64, error) {
	sleep(ctx, settle)
	before, err := measure.OwnMemory(s.process.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	end, err := openNews(ctx, s.base, cookies)
	if err != nil {
		return 0, err
	}
	defer end()
	sleep(ctx, settle)
	after, err := measure.OwnMemory(s.process.cmd.Process.Pid)
	return after - before, err
}

// openNews opens a stream of news with each cookie, and waits until each has begun. end closes them.
func openNews(ctx context.Context, base string, cookies []string) (end func(), err error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	c := newHTTPClient()
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	end = func() {
		cancel()
		all.Wait()
		c.CloseIdleConnections()
	}
	errs := make(chan error, 2*len(cookies)) // each says that it has begun, and why it has ended
	for _, cookie := range cookies {
		all.Go(func() {
			errs <- readNews(ctx, c, base, "pudu_session_"+at.Port()+"="+cookie, func() { errs <- nil })
		})
	}
	within := time.After(oneTimeout)
	for range cookies {
		select {
		case err = <-errs:
		case <-within:
			err = errors.New("streams of news do not begin")
		}
		if err != nil {
			end()
			return nil, err
		}
	}
	return end, nil
}

// readNews reads a stream of news until ctx ends; begun is called when it has begun.
func readNews(ctx context.Context, c *http.Client, base, cookie string, begun func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/events", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Cookie", cookie)
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET /events: HTTP %d", res.StatusCode)
	}
	first := true
	return readEvents(res.Body, func(event) error {
		if first {
			begun()
		}
		first = false
		return nil
	})
}
