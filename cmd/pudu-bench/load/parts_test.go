package load

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// toyClient is a client of a toy server in this process.
func toyClient(t *testing.T, ty *toy) *client {
	t.Helper()
	server := httptest.NewServer(ty.routes())
	c := &client{http: newHTTPClient(), base: server.URL, assistant: "toy"}
	t.Cleanup(func() {
		c.http.CloseIdleConnections()
		server.Close()
		ty.all.Wait()
	})
	return c
}

func TestPlanSurvivesItsMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{
			Steps: rapid.IntRange(-5, 100).Draw(t, "steps"), Tokens: rapid.IntRange(-5, 1e6).Draw(t, "tokens"),
			Delay: time.Duration(rapid.Int64Range(-5, int64(2*time.Minute)).Draw(t, "delay")), Batch: rapid.IntRange(-5, 1e5).Draw(t, "batch"),
		}
		end := rapid.SampledFrom([]string{"", `"}]`, ". Go.", " and more", "\n", `\n\nx`}).Draw(t, "end")
		got, rest, ok := readPlan([]byte(`{"messages":[{"content":"steps=9 ` + p.String() + end))
		if !ok || got != p.bounded() || string(rest) != p.String()+end {
			t.Fatalf("%+v %v %q, want %+v", got, ok, rest, p.bounded())
		}
	})
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(Plan{Steps: 5, Delay: time.Microsecond}.String()))
	f.Add([]byte("steps=-1 tokens=99999999999999999999 delay=-1s batch=x"))
	f.Add([]byte("steps="))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, _, _ := readPlan(b)
		if p != p.bounded() {
			t.Errorf("%+v is out of bounds", p)
		}
	})
}

type seen struct{ Event, ID, Data string }

func readFrames(r io.Reader) (out []seen, err error) {
	fr := newFrameReader(r)
	defer fr.release()
	for {
		f, err := fr.next()
		if err != nil {
			return out, err
		}
		out = append(out, seen{string(f.event), string(f.id), string(f.data)})
	}
}

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, test := range []struct {
		name, text string
		want       []seen
		err        error
	}{
		{"pudu", "event: values\ndata: {}\nid: 1-2.3\n\nevent: end\ndata: null\n\n", []seen{{"values", "1-2.3", "{}"}, {"end", "", "null"}}, io.EOF},
		{"id first, CRLF, no space", "id:1\r\nevent:a\r\ndata:b\r\n\r\n", []seen{{"a", "1", "b"}}, io.EOF},
		{"comments", ": heartbeat\n\n\ndata: x\n: y\n\n", []seen{{"", "", "x"}}, io.EOF},
		{"several data lines", "data: a\ndata\ndata: c\n\n", []seen{{"", "", "a\n\nc"}}, io.EOF},
		{"an id without data is not that of the next", "id: 7\n\ndata: x\n\n", []seen{{"", "", "x"}}, io.EOF},
		{"empty data", "data:\n\n", []seen{{"", "", ""}}, io.EOF},
		{"long lines", "data: " + long + "\nid: 9\n\n", []seen{{"", "9", long}}, io.EOF},
		{"cut after a line", "data: a\n\ndata: b\n", []seen{{"", "", "a"}}, io.ErrUnexpectedEOF},
		{"cut in a line", "data: a\n\nda", []seen{{"", "", "a"}}, io.ErrUnexpectedEOF},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readFrames(iotest.HalfReader(strings.NewReader(test.text)))
			if diff := cmp.Diff(test.want, got); diff != "" || err != test.err {
				t.Error(err, diff)
			}
		})
	}
}

func TestFramesAreBounded(t *testing.T) {
	for name, text := range map[string]string{"a line": strings.Repeat("x", 50_000), "an event": strings.Repeat("data: 0123456789\n", 5000)} {
		r := newFrameReader(strings.NewReader(text))
		r.limit = 10_000
		if _, err := r.next(); !errors.Is(err, errFrameTooLong) {
			t.Errorf("%s: %v", name, err)
		}
		r.release()
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("event: values\r\ndata: {}\nid: 1\n\n: x\n\ndata\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := readFrames(bytes.NewReader(b))
		pieces, errPieces := readFrames(iotest.OneByteReader(bytes.NewReader(b)))
		if diff := cmp.Diff(whole, pieces); diff != "" || err != errPieces {
			t.Error(err, errPieces, diff)
		}
	})
}

func idsOf(t *testing.T, texts ...string) (ids []frameID) {
	t.Helper()
	for _, s := range texts {
		id, err := parseFrameID(s)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestFrameIDs(t *testing.T) {
	for _, s := range []string{"", "1", "1-", "-1", "1-2.", "1-2.x", "01-2", "1-+2", "1-2-3", "99999999999999999999-1", "1-2.3.4"} {
		if id, err := parseFrameID(s); err == nil {
			t.Errorf("%q is read as %+v", s, id)
		}
	}
	for _, test := range []struct {
		name string
		ids  []string
		want int
	}{
		{"in order", []string{"1-1", "1-2.0", "1-2.1", "1-2", "1-9", "2-3.7", "2-10"}, 0},
		{"doubled", []string{"1-1", "1-1", "1-2.1", "1-2.1"}, 2},
		{"a part after the whole", []string{"1-2", "1-2.1"}, 1},
		{"an older attempt", []string{"2-1", "1-5", "2-2"}, 1},
		{"nothing", nil, 0},
	} {
		if got := disorder(idsOf(t, test.ids...)); got != test.want {
			t.Errorf("%s: %d, not %d", test.name, got, test.want)
		}
	}
}

func TestMissingFrames(t *testing.T) {
	for _, test := range []struct {
		name       string
		seen, late []string
		want       int
	}{
		{"the same", []string{"1-1", "2-2"}, []string{"1-1", "2-2"}, 0},
		{"what a killed attempt had not stored", []string{"1-1", "1-2.4", "1-2.5", "2-2"}, []string{"1-1", "2-2"}, 0},
		{"lost to who was there", []string{"1-1", "2-2"}, []string{"1-1", "1-2", "2-2"}, 1},
		{"stored by a killed attempt, lost to who comes late", []string{"1-1", "1-2", "1-3", "2-4"}, []string{"1-1", "1-3", "2-4"}, 1},
		{"lost to who comes late", []string{"1-1", "2-2", "2-3"}, []string{"1-1", "2-3"}, 1},
	} {
		if got := missing(idsOf(t, test.seen...), idsOf(t, test.late...)); got != test.want {
			t.Errorf("%s: %d, not %d", test.name, got, test.want)
		}
	}
}

func FuzzFrameID(f *testing.F) {
	for _, s := range []string{"1-2", "1-2.3", "0-0.0", "1-9223372036854775807", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := parseFrameID(s)
		if err == nil && (id.attempt < 0 || id.n < 0 || id.k < 0) {
			t.Errorf("%q is read as %+v", s, id)
		}
	})
}

func TestDrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		l := load{clients: 4, warm: time.Second, window: 10 * time.Second, most: 20 * time.Second, timeout: time.Minute}
		l.one = func(ctx context.Context) (outcome, error) {
			sleep(ctx, 100*time.Millisecond)
			if n.Add(1)%10 == 0 {
				return outcome{}, errors.New("no luck")
			}
			return outcome{took: 100 * time.Millisecond, first: time.Millisecond}, nil
		}
		l.cpu = func() (time.Duration, error) { return time.Duration(n.Load()) * time.Millisecond, nil }
		r, err := drive(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if r.perSecond() < 33 || r.perSecond() > 37 || r.errors < 35 || r.firstError == nil {
			t.Errorf("%v runs/s, %d errors", r.perSecond(), r.errors)
		}
		if r.cpuPerRun() < time.Millisecond || r.cpuPerRun() > 1300*time.Microsecond || quantile(r.took, 0.95) != 100*time.Millisecond {
			t.Errorf("%v per run, p95 %v", r.cpuPerRun(), quantile(r.took, 0.95))
		}
	})
}

func TestRoundsAddUp(t *testing.T) {
	boom := errors.New("boom")
	r := result{window: time.Second, cpu: 2 * time.Second, took: []time.Duration{3, 5}, errors: 1}
	r.add(result{window: time.Second, cpu: time.Second, took: []time.Duration{4}, first: []time.Duration{1}, errors: 1, firstError: boom})
	if r.perSecond() != 1.5 || r.cpuPerRun() != time.Second || quantile(r.took, 0.5) != 4 || r.errors != 2 || r.firstError != boom {
		t.Errorf("%+v", r)
	}
}

func TestDriveWaitsForASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{clients: 2, window: time.Second, most: time.Minute, least: 4, timeout: time.Hour}
		l.one = func(ctx context.Context) (outcome, error) {
			sleep(ctx, 10*time.Second)
			return outcome{took: time.Second}, nil
		}
		r, err := drive(t.Context(), l)
		if err != nil || len(r.took) < 4 || r.perSecond() > 0.25 {
			t.Errorf("%+v %v", r, err)
		}
		l.one = func(ctx context.Context) (outcome, error) { <-ctx.Done(); return outcome{}, ctx.Err() }
		l.timeout = 90 * time.Second
		if _, err := drive(t.Context(), l); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestUsageOfAProcess(t *testing.T) {
	pid := os.Getpid()
	before, err := cpuTime(pid)
	if errors.Is(err, errNoProcess) {
		t.Logf("there is no /proc here: %v", err)
		return
	}
	for now := before; err == nil && now == before; { // time passes by looking at it
		now, err = cpuTime(pid)
	}
	stop := watchMemory(t.Context(), pid)
	rss, errRSS := residentMemory(pid)
	if err != nil || errRSS != nil || rss < 1<<20 || stop() < 1<<20 {
		t.Error(err, errRSS, rss)
	}
	for _, none := range []int{0, 1 << 30} {
		if _, err := residentMemory(none); !errors.Is(err, errNoProcess) {
			t.Errorf("process %d: %v", none, err)
		}
	}
}

func FuzzCPU(f *testing.F) {
	f.Add([]byte("1 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0"))
	f.Add([]byte("1 (x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := parseCPU(b)
		if err == nil && d < 0 {
			t.Errorf("%v", d)
		}
		if string(b) == "1 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0" && d != 2*time.Second {
			t.Errorf("%v %v", d, err)
		}
	})
}

func TestClientSaysWhatAStreamLacks(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"an error", "event: error\ndata: {\"message\":\"boom\"}\n\n", `has an event error: {"message":"boom"}`},
		{"a gap", "event: gap\ndata: {}\n\n", "has an event gap"},
		{"no answer", "event: values\ndata: {}\n\nevent: end\ndata: null\n\n", errUnanswered.Error()},
		{"cut off", "event: values\ndata: \"load-done\"\n", "unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, test.body) }))
			defer server.Close()
			c := &client{http: newHTTPClient(), base: server.URL}
			defer c.http.CloseIdleConnections()
			if _, err := c.stream(t.Context(), Plan{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, not %s", err, test.want)
			}
		})
	}
}

func TestLostTokens(t *testing.T) {
	piece := func(kind, content string) []byte {
		return []byte(`[{"type":"` + kind + `","content":` + content + `},{}]`)
	}
	for _, test := range []struct {
		name string
		got  [][]byte
		want int
	}{
		{"all", [][]byte{piece("AIMessageChunk", `""`), piece("ai", `"a b"`), piece("tool", `"x"`), piece("AIMessageChunk", `[{"type":"text","text":" c"}]`)}, 0},
		{"one lost", [][]byte{piece("ai", `"a b"`)}, 1},
		{"one doubled", [][]byte{piece("ai", `"a b b c"`)}, 2},
		{"spaces", [][]byte{piece("ai", `"a  b c"`)}, 1},
	} {
		if got, err := lostTokens(test.got, "a b c"); err != nil || got != test.want {
			t.Errorf("%s: %d, not %d: %v", test.name, got, test.want, err)
		}
	}
	if _, err := lostTokens([][]byte{[]byte("{}")}, ""); err == nil {
		t.Error("a message that is no pair is no error")
	}
}

func TestReport(t *testing.T) {
	var out bytes.Buffer
	r := &report{out: &out}
	r.title("runs", "what they are")
	r.add(Figure{Name: "5 steps, c=64", Value: 500, Direct: 1000, Unit: "/s"}, throughputGoal)
	r.duration("p50", 80*time.Millisecond, 10*time.Millisecond, latencyGoal)
	r.add(Figure{Name: "memory", Value: 3 << 20, Unit: "B"}, memoryGoal)
	r.errors("errors", 2, errors.New("boom"))
	r.note("limit", "none found")
	want := `
runs: what they are
                                                     value      direct    ratio  goal               
  5 steps, c=64                                      500/s      1000/s    0.50x  ≥ 0.25x, aim 0.50x ✓
  p50                                                80 ms       10 ms       8x  ≤ 6x               ✗
  memory                                             3 MiB                       ≤ 600 MiB          ✓
  errors                                                 2                       ≤ 0                ✗ boom
  limit                                        none found
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if r.missed != 2 {
		t.Errorf("%d missed", r.missed)
	}
}

func TestTogetherStartsOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := together(t.Context(), 100, func(context.Context) (outcome, error) {
			if since := time.Since(start); since == 50*startGap {
				return outcome{}, errors.New("no luck")
			}
			sleep(t.Context(), time.Minute)
			return outcome{took: time.Since(start)}, nil
		})
		if len(r.took) != 99 || r.errors != 1 || r.took[0] != time.Minute || r.took[98] != time.Minute+99*startGap {
			t.Errorf("%d took from %v to %v, %d errors", len(r.took), r.took[0], r.took[98], r.errors)
		}
	})
}
