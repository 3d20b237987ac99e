package load

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

// toyClient is a client of a toy server in this process.
func toyClient(t *testing.T, ty *toy) *client {
	t.Helper()
	server := httptest.NewServer(ty.routes())
	c := newClient(server.URL)
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
			Delay: time.Duration(rapid.IntRange(-5, 200_000).Draw(t, "milliseconds")) * time.Millisecond,
			Batch: rapid.IntRange(-5, 1e5).Draw(t, "batch"),
		}
		end := rapid.SampledFrom([]string{"", `"}]`, ". Go.", " and more", "\n", `\n\nx`}).Draw(t, "end")
		got, rest, ok := readPlan([]byte(`{"messages":[{"content":"steps=9 ` + p.String() + end))
		if !ok || got != p.bounded() || string(rest) != p.String()+end {
			t.Fatalf("%+v %v %q, want %+v", got, ok, rest, p.bounded())
		}
	})
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(Plan{Steps: 5, Delay: time.Millisecond}.String()))
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
	err = readEvents(r, func(e event) error {
		out = append(out, seen{string(e.name), string(e.id), string(e.data)})
		return nil
	})
	return out, err
}

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, test := range []struct {
		name, text string
		want       []seen
		err        error
	}{
		{"pudu", "event: values\ndata: {}\nid: 1-2.3\n\nevent: end\ndata: null\n\n",
			[]seen{{"values", "1-2.3", "{}"}, {"end", "", "null"}}, nil},
		{"id first, CRLF, no space", "id:1\r\nevent:a\r\ndata:b\r\n\r\n", []seen{{"a", "1", "b"}}, nil},
		{"comments", ": heartbeat\n\n\ndata: x\n: y\n\n", []seen{{"", "", "x"}}, nil},
		{"an id without data is not that of the next", "id: 7\n\ndata: x\n\n", []seen{{"", "", "x"}}, nil},
		{"long lines", "data: " + long + "\nid: 9\n\n", []seen{{"", "9", long}}, nil},
		{"cut after a line", "data: a\n\ndata: b\n", []seen{{"", "", "a"}}, errCut},
		{"cut in a line", "data: a\n\nda", []seen{{"", "", "a"}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readFrames(iotest.HalfReader(strings.NewReader(test.text)))
			if diff := cmp.Diff(test.want, got); diff != "" || err != test.err {
				t.Error(err, diff)
			}
		})
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

func TestDrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		l := load{clients: 4, warm: time.Second, window: 10 * time.Second}
		l.one = func(ctx context.Context) (outcome, error) {
			sleep(ctx, 100*time.Millisecond)
			if n.Add(1)%10 == 0 {
				return outcome{}, errors.New("no luck")
			}
			return outcome{took: 100 * time.Millisecond, first: time.Millisecond}, nil
		}
		var r result
		for range 2 {
			if err := r.drive(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		if r.perSecond() < 33 || r.perSecond() > 37 || r.errors < 70 || r.firstError == nil ||
			r.window < 20*time.Second {
			t.Errorf("%v runs/s, %d errors in %v", r.perSecond(), r.errors, r.window)
		}
	})
}

func TestDriveWaitsForASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{clients: 2, window: time.Second, least: 4}
		l.one = func(ctx context.Context) (outcome, error) {
			sleep(ctx, 10*time.Second)
			return outcome{took: time.Second}, nil
		}
		var r result
		if err := r.drive(t.Context(), l); err != nil || len(r.took) < 4 || r.perSecond() > 0.25 {
			t.Errorf("%+v %v", r, err)
		}
		l.one = func(ctx context.Context) (outcome, error) { <-ctx.Done(); return outcome{}, ctx.Err() }
		if err := r.drive(t.Context(), l); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestClientSaysWhatAStreamLacks(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"an error", "event: error\ndata: {\"message\":\"boom\"}\n\n", `has an event error: {"message":"boom"}`},
		{"a gap", "event: gap\ndata: {}\n\n", "has an event gap"},
		{"no answer", "event: values\ndata: {}\n\nevent: end\ndata: null\n\n", errUnanswered.Error()},
		{"cut off", "event: values\ndata: \"load-done\"\n", errCut.Error()},
		{"no end", "event: values\ndata: \"load-done\"\n\n", errCut.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, test.body)
			}))
			defer server.Close()
			c := newClient(server.URL)
			defer c.http.CloseIdleConnections()
			if _, err := c.run(t.Context(), Plan{}, nil); err == nil || !strings.Contains(err.Error(), test.want) {
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
		{"all", [][]byte{piece("AIMessageChunk", `""`), piece("ai", `"a b"`), piece("tool", `"x"`),
			piece("AIMessageChunk", `[{"type":"text","text":" c"}]`)}, 0},
		{"one lost", [][]byte{piece("ai", `"a b"`)}, 1},
		{"one doubled", [][]byte{piece("ai", `"a b b c"`)}, 2},
		{"spaces", [][]byte{piece("ai", `"a  b c"`)}, 1},
	} {
		text, err := textOf(test.got)
		if got := lostTokens(text, "a b c"); err != nil || got != test.want {
			t.Errorf("%s: %d, not %d: %v", test.name, got, test.want, err)
		}
	}
	if _, err := textOf([][]byte{[]byte("{}")}); err == nil {
		t.Error("a message that is no pair is no error")
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
		if len(r.took) != 99 || r.errors != 1 || measure.Quantile(r.took, 0) != time.Minute ||
			r.took[98] != time.Minute+99*startGap {
			t.Errorf("%d took from %v to %v, %d errors", len(r.took), r.took[0], r.took[98], r.errors)
		}
	})
}
