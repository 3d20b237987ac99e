package nats

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/bus/bustest"
	"github.com/pudu-ai/pudu/internal/testkit/natstest"
)

const patience = 20 * time.Second

// noLeak checks at the end, after what the test registers later, that no goroutine is left.
func noLeak(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

func TestConformance(t *testing.T) {
	noLeak(t)
	s := natstest.Start(t)
	var n atomic.Int64
	bustest.Run(t, func(t *testing.T) func() bus.Bus {
		prefix := fmt.Sprint("test", n.Add(1))
		return func() bus.Bus {
			b, err := Open(t.Context(), Config{URL: s.URL(), Prefix: prefix})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	})
}

// text is a log that can be read meanwhile.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

// open opens a bus and closes it at the end, quickly and without an error.
func open(t *testing.T, cfg Config) (*Bus, *text) {
	t.Helper()
	log := &text{}
	cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
	b, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		begin := time.Now()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 4*time.Second {
			t.Errorf("Close took %v", took)
		}
	})
	return b, log
}

func until(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never %s", what)
		}
	}
}

func healthy(t *testing.T, buses ...*Bus) {
	t.Helper()
	for _, b := range buses {
		until(t, patience, "healthy", func() bool { return b.Healthy() == nil })
	}
}

// counter is a subscriber that counts.
func counter(t *testing.T, b *Bus, subject string) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	if _, err := b.Subscribe(subject, func([]byte) { n.Add(1) }); err != nil {
		t.Fatal(err)
	}
	return &n
}

// getsThrough publishes until a message arrives.
func getsThrough(t *testing.T, limit time.Duration, from *Bus, to *atomic.Int64) {
	t.Helper()
	before := to.Load()
	until(t, limit, "a message gets through", func() bool {
		from.Publish("x", []byte("hi"))
		return to.Load() > before
	})
}

func TestServerAwayAtStart(t *testing.T) {
	noLeak(t)
	s := natstest.Start(t)
	s.Stop()
	a, log := open(t, Config{URL: s.URL()})
	b, _ := open(t, Config{URL: s.URL()})
	here, there := counter(t, a, "x"), counter(t, b, "x")
	a.Publish("x", []byte("hi"))
	until(t, patience, "delivered in the process", func() bool { return here.Load() == 1 })
	if a.Stats().Dropped != 1 || there.Load() != 0 {
		t.Errorf("%+v, %d arrived elsewhere", a.Stats(), there.Load())
	}
	if err := a.Healthy(); err == nil || !strings.Contains(err.Error(), s.Address()) ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("healthy: %v", err)
	}
	s.Restart()
	getsThrough(t, 5*time.Second, a, there)
	healthy(t, a, b)
	transitions(t, log, 1, 1)
}

func TestServerGoesAndComesBack(t *testing.T) {
	noLeak(t)
	s := natstest.Start(t)
	a, log := open(t, Config{URL: s.URL()})
	b, _ := open(t, Config{URL: s.URL()})
	healthy(t, a, b)
	there := counter(t, b, "x")
	gone, err := b.Subscribe("gone",
		func([]byte) { t.Error("a subscription that was closed while the server was away got a message") })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		getsThrough(t, patience, a, there)
		s.Stop()
		until(t, patience, "lost", func() bool { return a.Healthy() != nil && b.Healthy() != nil })
		gone.Close()
		late := counter(t, b, "late")
		before := a.Stats().Dropped
		for range 1000 {
			a.Publish("x", make([]byte, 1000))
		}
		if n := a.Stats().Dropped - before; n != 1000 {
			t.Errorf("%d of 1000 messages are counted as dropped", n)
		}
		s.Restart()
		getsThrough(t, 5*time.Second, a, there)
		until(t, patience, "the new subscription works", func() bool {
			a.Publish("gone", nil)
			a.Publish("late", nil)
			return late.Load() > 0
		})
	}
	transitions(t, log, 3, 2)
}

// transitions counts in the log how often the connection came and went.
func transitions(t *testing.T, log *text, up, down int) {
	t.Helper()
	got := log.String()
	if strings.Count(got, "NATS is connected") != up || strings.Count(got, "NATS cannot be reached") != down {
		t.Errorf("want %d times up and %d times down:\n%s", up, down, got)
	}
}

func TestPrefixesAreApart(t *testing.T) {
	noLeak(t)
	s := natstest.Start(t)
	a, _ := open(t, Config{URL: s.URL(), Prefix: "one"})
	b, _ := open(t, Config{URL: s.URL(), Prefix: "two"})
	c, _ := open(t, Config{URL: s.URL(), Prefix: "two"})
	healthy(t, a, b, c)
	inB, inC := counter(t, b, "x"), counter(t, c, "x")
	a.Publish("x", nil)
	if err := a.Close(); err != nil { // what was published has gone out
		t.Fatal(err)
	}
	b.Publish("x", nil)
	until(t, patience, "the message of its own", func() bool { return inB.Load() > 0 && inC.Load() > 0 })
	if inB.Load() != 1 || inC.Load() != 1 {
		t.Errorf("%d and %d messages arrived", inB.Load(), inC.Load())
	}
}

func TestServerWithSmallerMessages(t *testing.T) {
	noLeak(t)
	s := natstest.StartWith(t, server.Options{MaxPayload: 1000})
	a, _ := open(t, Config{URL: s.URL()})
	b, _ := open(t, Config{URL: s.URL()})
	healthy(t, a, b)
	here, there := counter(t, a, "x"), counter(t, b, "x")
	a.Publish("x", make([]byte, 1001))
	a.Publish("x", make([]byte, 1000))
	until(t, patience, "the smaller one is there", func() bool { return here.Load() == 2 && there.Load() == 1 })
	if stats := a.Stats(); stats.Dropped != 1 || a.Healthy() != nil {
		t.Errorf("%+v, %v", stats, a.Healthy())
	}
}

// TestServerWithLargerMessages: what is above the bus's own limit is sent to nobody and counted once, though the server
// would carry it.
func TestServerWithLargerMessages(t *testing.T) {
	noLeak(t)
	s := natstest.StartWith(t, server.Options{MaxPayload: 2 * bus.MaxMessage, MaxPending: 8 * bus.MaxMessage})
	a, _ := open(t, Config{URL: s.URL()})
	b, _ := open(t, Config{URL: s.URL()})
	healthy(t, a, b)
	here, there := counter(t, a, "x"), counter(t, b, "x")
	a.Publish("x", make([]byte, bus.MaxMessage+1))
	a.Publish("x", make([]byte, bus.MaxMessage))
	until(t, patience, "the smaller one is there", func() bool { return here.Load() >= 1 && there.Load() >= 1 })
	if stats := a.Stats(); here.Load() != 1 || there.Load() != 1 || stats.Dropped != 1 {
		t.Errorf("%d and %d messages arrived, %+v", here.Load(), there.Load(), stats)
	}
}

func TestCredentials(t *testing.T) {
	noLeak(t)
	user := natstest.StartWith(t, server.Options{Username: "bambi", Password: "s3cr/t@,"})
	token := natstest.StartWith(t, server.Options{Authorization: "t0k3n"})
	tests := []struct {
		name, url string
		want      string // in Healthy; nothing if it works
	}{
		{"user and password", "nats://bambi:s3cr%2Ft%40%2C@" + user.Address(), ""},
		{"token", "nats://t0k3n@" + token.Address(), ""},
		{"the second of two servers", "nats://bambi:s3cr%2Ft%40%2C@127.0.0.1:1, nats://bambi:s3cr%2Ft%40%2C@" +
			user.Address(), ""},
		{"wrong password", "nats://bambi:s3cr1t@" + user.Address(), "Authorization"},
		{"wrong token", "nats://t0k3n1@" + token.Address(), "Authorization"},
		{"none", user.URL(), "Authorization"},
		{"no server", "nats://bambi:s3cr1t@127.0.0.1:1", "refused"},
		{"no host", "nats://bambi:s3cr1t@nowhere.invalid", "lookup nowhere.invalid"},
		{"encryption is not offered", "tls://bambi:s3cr%2Ft%40%2C@" + user.Address(), "secure"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, log := open(t, Config{URL: tt.url})
			if tt.want == "" {
				healthy(t, b)
			} else {
				until(t, patience, "the reason is known",
					func() bool { return strings.Contains(fmt.Sprint(b.Healthy()), tt.want) })
				until(t, patience, "it is logged", func() bool { return strings.Contains(log.String(), tt.want) })
			}
			all := fmt.Sprint(b.Healthy(), log)
			for _, secret := range []string{"bambi", "s3cr", "t0k3n"} {
				if strings.Contains(all, secret) {
					t.Errorf("%q stands in:\n%s", secret, all)
				}
			}
		})
	}
}

func TestPasswordChangesWhileConnected(t *testing.T) {
	noLeak(t)
	s := natstest.StartWith(t, server.Options{Username: "bambi", Password: "old"})
	b, log := open(t, Config{URL: "nats://bambi:old@" + s.Address()})
	healthy(t, b)
	s.Options().Password = "new"
	s.Restart()
	until(t, patience, "refused", func() bool { return strings.Contains(fmt.Sprint(b.Healthy()), "Authorization") })
	until(t, patience, "tried again and again", func() bool { return b.conn.client.Load().Stats().Reconnects >= 3 })
	s.Options().Password = "old"
	s.Restart()
	until(t, patience, "back", func() bool { return b.Healthy() == nil })
	if strings.Count(log.String(), "cannot be reached") != 1 {
		t.Error(log)
	}
}

func TestEncrypted(t *testing.T) {
	noLeak(t)
	web := httptest.NewTLSServer(nil) // lends its certificate, for 127.0.0.1 and example.com
	web.Close()
	s := natstest.StartWith(t, server.Options{
		TLS: true, TLSConfig: &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12},
		TLSTimeout: 2,
	})
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	good := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	a, _ := open(t, Config{URL: "tls://" + s.Address(), TLS: good})
	b, _ := open(t, Config{URL: s.URL(), TLS: good})
	healthy(t, a, b)
	getsThrough(t, patience, a, counter(t, b, "x"))
	c, _ := open(t, Config{URL: "tls://" + s.Address()})
	until(t, patience, "the certificate is refused",
		func() bool { return strings.Contains(fmt.Sprint(c.Healthy()), "certificate") })
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct{ name, url, prefix, want string }{
		{"nothing", "", "", "URL 1 of 1: it is empty"},
		{"no scheme", "pass@localhost:4222", "", "is no URL"},
		{"another scheme", "http://pass@localhost", "", "neither with nats://"},
		{"host and port alone", "localhost:4222", "", "neither with nats://"},
		{"no host", "nats://pass@", "", "no host"},
		{"bad port", "nats://u:pass@h:pass", "", "is no URL"},
		{"high port", "nats://u:pass@h:65536", "", "no such port"},
		{"slash in the password", "nats://u:12/pass@h", "", "something follows"},
		{"question mark in the password", "nats://u:12?pass@h", "", "something follows"},
		{"percent in the password", "nats://u:pass%zz@h", "", "is no URL"},
		{"comma in the password", "nats://u:1,pass@h", "", "URL 2 of 2: it begins neither"},
		{"the second of two", "nats://h,nats://pass word@h", "", "URL 2 of 2: it is no URL"},
		{"a comma too many", "nats://h,", "", "URL 2 of 2: it is empty"},
		{"prefix", "nats://u:pass@h", "a.*", `check prefix of NATS subjects: subject "a.*"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			noLeak(t)
			b, err := Open(t.Context(), Config{URL: tt.url, Prefix: tt.prefix})
			if err == nil {
				b.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			if strings.Contains(strings.ReplaceAll(err.Error(), "user:password@", ""), "pass@") ||
				strings.Contains(err.Error(), "zz") {
				t.Errorf("the password stands in %q", err)
			}
		})
	}
}

func FuzzURL(f *testing.F) {
	for _, s := range []string{"", ",", "nats://localhost", "tls://u:p@h:1,nats://t@[::1]:4222", "nats://u:p%zz@h",
		"nats://u:p/w@h", "h:4222"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		urls, hosts, err := Config{URL: s, Prefix: "p"}.servers()
		if err == nil && (len(urls) == 0 || len(urls) != len(hosts) || strings.Contains(strings.Join(hosts, ""), "@")) {
			t.Errorf("%q: %q at %q", s, urls, hosts)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%q: %v", s, err)
		}
	})
}

// TestServerThatNeverAnswers: one that takes connections and stays silent holds up neither the start, nor a caller, nor
// the end.
func TestServerThatNeverAnswers(t *testing.T) {
	noLeak(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	begin := time.Now()
	b, _ := open(t, Config{URL: "nats://" + l.Addr().String()})
	n := counter(t, b, "x")
	b.Publish("x", nil)
	until(t, patience, "delivered in the process", func() bool { return n.Load() == 1 })
	if b.Healthy() == nil {
		t.Error("it is healthy")
	}
	for i := range 100 {
		counter(t, b, fmt.Sprint("x.", i))
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > dialTimeout {
		t.Errorf("it took %v", took)
	}
}

// TestServerThatHangs: the server stops reading in the middle of the traffic. Publishers do not notice, callers do not
// wait long, and the bus finds its way back.
func TestServerThatHangs(t *testing.T) {
	noLeak(t)
	s := natstest.Start(t)
	p := startProxy(t, s.Address())
	a, log := open(t, Config{URL: p.url()})
	b, _ := open(t, Config{URL: s.URL()})
	healthy(t, a, b)
	there := counter(t, b, "x")
	getsThrough(t, patience, a, there)
	p.hang(true)
	begin := time.Now()
	back := counter(t, a, "back")
	if took := time.Since(begin); took > 2*knownLimit {
		t.Errorf("Subscribe took %v", took)
	}
	slowest := time.Duration(0)
	until(t, patience, "lost", func() bool {
		begin := time.Now()
		a.Publish("x", make([]byte, bus.MaxMessage))
		slowest = max(slowest, time.Since(begin))
		return a.Healthy() != nil
	})
	if slowest > time.Second {
		t.Errorf("Publish took %v", slowest)
	}
	p.hang(false)
	until(t, 10*time.Second, "back", func() bool { return a.Healthy() == nil })
	getsThrough(t, patience, a, there)
	until(t, patience, "the other direction works", func() bool { b.Publish("back", nil); return back.Load() > 0 })
	transitions(t, log, 2, 1)
}

// proxy passes connections on to a server, and can hang.
type proxy struct {
	listener net.Listener
	mu       sync.Mutex // held while it hangs
	work     sync.WaitGroup
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l}
	p.work.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.work.Go(func() { p.serve(client, target) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.work.Wait()
	})
	return p
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) hang(on bool) {
	if on {
		p.mu.Lock()
	} else {
		p.mu.Unlock()
	}
}

func (p *proxy) serve(client net.Conn, target string) {
	defer client.Close()
	up, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer up.Close()
	p.work.Go(func() {
		defer client.Close()
		p.copy(client, up)
	})
	p.copy(up, client)
}

func (p *proxy) copy(to io.Writer, from io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.mu.Unlock() //nolint:staticcheck // waits while it hangs
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
