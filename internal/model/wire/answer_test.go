package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// plainWire is a wire whose events are words: "." finishes the answer, "!" ends it, "?" fails it, "(" is held back.
type plainWire struct {
	origin *Origin
	held   string
}

var (
	_ Decoder = (*plainWire)(nil)
	_ Holder  = (*plainWire)(nil)
)

func (p *plainWire) Event(ev Event, out *Chunks) error {
	switch word := string(ev.Data); word {
	case "!":
		return io.EOF
	case "?":
		return p.origin.StreamError([]byte(`{"message":"Overloaded"}`))
	case ".":
		out.Put(message.Chunk{FinishReason: "stop"})
	case "(":
		p.held = word
	case "usage":
		out.Put(message.Chunk{Usage: &message.Usage{InputTokens: 1}})
	case "two":
		out.Put(message.Chunk{Reasoning: "r", Signature: "s"})
		out.Put(message.Chunk{})
		out.Put(message.Chunk{Text: "t"})
	default:
		out.Put(message.Chunk{Text: word})
	}
	return nil
}

func (p *plainWire) Whole(data []byte, out *Chunks) error {
	out.Put(message.Chunk{Text: string(data), FinishReason: "stop"})
	return nil
}

func (p *plainWire) Release(out *Chunks) { out.Put(message.Chunk{Text: p.held}) }

// events is a stream of words.
func events(words ...string) string { return "data: " + strings.Join(words, "\n\ndata: ") + "\n\n" }

// said is one chunk, as a test shows it.
func said(c message.Chunk) string {
	s := c.Reasoning + c.Signature + c.Text
	if c.Usage != nil {
		s += "#"
	}
	return s + c.FinishReason
}

// readBody reads an answer and returns the chunks that came.
func readBody(body io.Reader) (chunks []string, err error) {
	o := &Origin{Provider: "p", Model: "m"}
	err = o.Read(body, &plainWire{origin: o}, func(c message.Chunk, _ error) bool {
		chunks = append(chunks, said(c))
		return true
	})
	return chunks, err
}

func TestHowAnAnswerEnds(t *testing.T) {
	cut := iotest.ErrReader(io.ErrUnexpectedEOF)
	for _, tt := range []struct {
		name  string
		body  io.Reader
		want  string
		class model.Class // empty: complete
		cause error
	}{
		{"complete", strings.NewReader(events("a", "b", ".")), "abstop", "", nil},
		{"with usage behind the end", strings.NewReader(events("a", ".", "usage")), "a#stop", "", nil},
		{"with the usual last word", strings.NewReader(events("a", ".", "[DONE]", "b")), "astop", "", nil},
		{"ended by its decoder", strings.NewReader(events("a", ".", "!", "b")), "astop", "", nil},
		{"cut behind its end", io.MultiReader(strings.NewReader(events("a", ".")), cut), "astop", "", nil},
		{"cut before it", io.MultiReader(strings.NewReader(events("a")), cut), "a", "", io.ErrUnexpectedEOF},
		{"without a finish reason", strings.NewReader(events("a", "(")), "a(", model.ClassTransient,
			io.ErrUnexpectedEOF},
		{"with its last word alone", strings.NewReader(events("[DONE]")), "", model.ClassTransient, nil},
		{"an error", strings.NewReader(events("a", "?", "b")), "a", model.ClassBusy, nil},
		{"an error behind the end", strings.NewReader(events("a", ".", "?")), "astop", model.ClassBusy, nil},
		{"whole", strings.NewReader(" \n{\"a\": 1}\n"), `{"a": 1}stop`, "", nil},
		{"a list", strings.NewReader("[]"), `[]stop`, "", nil},
		{"a web page", strings.NewReader("<html>"), "", model.ClassBadRequest, nil},
		{"nothing", strings.NewReader(" "), "", model.ClassTransient, nil},
		{"pings alone", strings.NewReader(": ping\n\nevent: ping\n\n"), "", model.ClassTransient, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readBody(tt.body)
			if text := strings.Join(got, ""); text != tt.want {
				t.Errorf("got %q, want %q", text, tt.want)
			}
			e := model.AsError(err)
			if (err == nil) != (tt.class == "" && tt.cause == nil) ||
				tt.class != "" && (e == nil || e.Class != tt.class) || tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("error %v, want class %q, cause %v", err, tt.class, tt.cause)
			}
		})
	}
}

func TestWhatComesTogetherIsShownTogether(t *testing.T) {
	r, w := io.Pipe()
	got := make(chan string)
	go func() {
		defer close(got)
		o := &Origin{}
		_ = o.Read(r, &plainWire{origin: o}, func(c message.Chunk, _ error) bool { got <- said(c); return true })
	}()
	for _, step := range []struct {
		in   string
		want []string
	}{
		{events("a", "b"), []string{"ab"}}, {events("c"), []string{"c"}},
		{events("two", "d", "."), []string{"rs", "tdstop"}},
	} {
		go io.WriteString(w, step.in)
		for _, want := range step.want {
			if s := <-got; s != want {
				t.Errorf("%q came as %q, want %q", step.in, s, want)
			}
		}
	}
	w.Close()
	<-got
}

func TestAnAnswerThatIsTooLarge(t *testing.T) {
	for name, in := range map[string]io.Reader{
		"event": io.MultiReader(strings.NewReader(events("a")+"data: "), io.LimitReader(zeros{}, MaxEvent+1<<20)),
		"whole": io.MultiReader(strings.NewReader("{"), io.LimitReader(zeros{}, MaxEvent)),
	} {
		_, err := readBody(in)
		if e := model.AsError(err); e == nil || e.Class != model.ClassTooLarge || !errors.Is(err, ErrEventTooLong) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// zeros is the digit without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// TestAsk sends each answer over a connection. A consumer that stops gets nothing more, not even the error that
// follows.
func TestAsk(t *testing.T) {
	c, srv := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) == "fail" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		w.Write(body)
	})
	for _, tt := range []struct {
		name, body string
		stop       int // after so many chunks
		want       []string
	}{
		{"complete", events("two", "."), -1, []string{"rs", "tstop"}},
		{"fails", events("a", "?"), -1, []string{"a", "busy"}},
		{"refused", "fail", -1, []string{"busy"}},
		{"stopped", events("two", "."), 1, []string{"rs"}},
		{"stopped before the error", events("a", "?"), 1, []string{"a"}},
		{"stopped at what was held", events("("), 1, []string{"("}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			c.Ask(t.Context(), srv.URL, nil, []byte(tt.body), &plainWire{origin: &c.Origin},
				func(chunk message.Chunk, err error) bool {
					if e := model.AsError(err); e != nil {
						got = append(got, string(e.Class))
					} else {
						got = append(got, said(chunk))
					}
					return len(got) != tt.stop
				})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	c, srv := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, events("a"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	var last error
	c.Ask(ctx, srv.URL, nil, nil, &plainWire{}, func(_ message.Chunk, err error) bool {
		last = err
		cancel()
		return true
	})
	if last != context.Canceled {
		t.Errorf("error %v", last)
	}
}

func TestRefine(t *testing.T) {
	o := Origin{Secrets: []string{"secret"},
		Refine: func(e *model.Error, body []byte) { e.Class, e.Code = model.ClassQuota, string(body) }}
	for _, e := range []*model.Error{o.HTTPError(429, nil, []byte(`"a secret"`)), o.StreamError([]byte(`"a secret"`))} {
		if e.Class != model.ClassQuota || e.Code != `"a ***"` {
			t.Errorf("%+v", e)
		}
	}
}

func TestAnswers(t *testing.T) {
	o := Origin{Provider: "p", Model: "m"}
	for _, tt := range []struct{ id, name, want string }{
		{"i", "n", `{"id":"i","model_name":"n","model_provider":"p"}`},
		{"", "", `{"model_name":"m","model_provider":"p"}`},
	} {
		if got := string(append(AppendFields([]byte{'{'}, o.Answers(tt.id, tt.name)), '}')); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
