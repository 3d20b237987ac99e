package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type gotEvent struct{ Name, Data string }

// eventReader reads events from r.
func eventReader(r io.Reader) *EventReader {
	return &EventReader{src: bufio.NewReaderSize(r, sourceSize), limit: MaxEvent}
}

func readAll(r *EventReader) (evs []gotEvent, err error) {
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return evs, nil
		}
		if err != nil {
			return evs, err
		}
		evs = append(evs, gotEvent{ev.Name, string(ev.Data)})
	}
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, in string
		want     []gotEvent
	}{
		{"lf", "data: a\n\ndata: b\n\n", []gotEvent{{"", "a"}, {"", "b"}}},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []gotEvent{{"", "a"}, {"", "b"}}},
		{"cr", "data: a\r\rdata: b\r\r", []gotEvent{{"", "a"}, {"", "b"}}},
		{"mixed ends", "event: x\rdata: a\r\ndata: b\n\r\n", []gotEvent{{"x", "a\nb"}}},
		{"comments and unknown fields", ": hi\nid: 7\nretry: 3\ndata: a\n\n", []gotEvent{{"", "a"}}},
		{"no space after the colon, two spaces", "data:a\ndata:  b\n\n", []gotEvent{{"", "a\n b"}}},
		{"field without colon", "data\ndata\n\n", []gotEvent{{"", "\n"}}},
		{"name without data", "event: ping\n\n", []gotEvent{{"ping", ""}}},
		{"byte-order mark", "\uFEFFdata: a\n\n", []gotEvent{{"", "a"}}},
		{"end without the blank line", "data: [DONE]", []gotEvent{{"", "[DONE]"}}},
		{"end after one line end", "data: [DONE]\n", []gotEvent{{"", "[DONE]"}}},
		{"blank lines only", "\n\r\n\r\n\n", nil},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{"whole": strings.NewReader(tt.in),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.in))} {
				got, err := readAll(eventReader(r))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("%s: (-want +got)\n%s", name, d)
				}
			}
		})
	}
}

func TestEventsLongLine(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	got, err := readAll(eventReader(strings.NewReader("data: " + long + "\r\n\r\ndata: y\n\n")))
	if err != nil || len(got) != 2 || got[0].Data != long || got[1].Data != "y" {
		t.Fatalf("got %d events, error %v", len(got), err)
	}
}

func TestEventsBound(t *testing.T) {
	for name, in := range map[string]string{"one line": "data: " + strings.Repeat("x", 99<<10),
		"many lines": strings.Repeat("data: xxxxxxxxx\n", 300)} {
		r := eventReader(strings.NewReader(in))
		r.limit = 1000
		if _, err := readAll(r); !errors.Is(err, ErrEventTooLong) {
			t.Errorf("%s: error %v, want ErrEventTooLong", name, err)
		}
	}
}

func TestEventsCutByError(t *testing.T) {
	in := io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	got, err := readAll(eventReader(in))
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("error %v", err)
	}
	if d := cmp.Diff([]gotEvent{{"", "a"}}, got); d != "" {
		t.Error(d)
	}
}

// FuzzSSE checks that the way the bytes arrive changes nothing, and that a written event reads back.
func FuzzSSE(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\r\ndata: a\rdata: b\n\n", "\uFEFFdata", "\r\r\n\n",
		":\n\ndata:\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readAll(eventReader(bytes.NewReader(in)))
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := readAll(eventReader(iotest.OneByteReader(bytes.NewReader(in))))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(whole, pieces); d != "" {
			t.Fatal(d)
		}
		var out strings.Builder
		for _, ev := range whole {
			out.WriteString("event: " + ev.Name + "\ndata: " + strings.ReplaceAll(ev.Data, "\n", "\ndata: ") + "\n\n")
		}
		again, _ := readAll(eventReader(strings.NewReader(out.String())))
		if d := cmp.Diff(whole, again); d != "" {
			t.Fatal(d)
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	one := []byte(`data: {"id":"x","choices":[{"index":0,"delta":{"content":"word "}}]}` + "\n\n")
	in := bytes.Repeat(one, 1000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r := eventReader(bytes.NewReader(in))
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}
