package load

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func startModel(t *testing.T) *Model {
	t.Helper()
	m, err := StartModel(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// ask makes a call with Pudu's own client and returns the folded answer.
func ask(t *testing.T, m *Model, req *model.Request) *message.Message {
	t.Helper()
	once := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	client := openai.New(openai.Config{Name: "load", BaseURL: m.URL + "/v1", Model: "load", APIKey: "none",
		Dialect: "openai", Client: once})
	got, err := model.Collect(client.Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	return &got
}

func TestModelDoesAsThePlanSays(t *testing.T) {
	m := startModel(t)
	req := &model.Request{
		Messages: []message.Message{message.New(message.Human, "Load measurement: "+
			Plan{Steps: 3, Tokens: 4, Batch: 3}.String())},
		Tools: []model.Tool{{Name: "glob"}},
	}
	ids := map[string]bool{}
	for step := range 3 {
		got := ask(t, m, req)
		if len(got.ToolCalls) != 1 {
			t.Fatalf("step %d: %+v", step, got)
		}
		call := got.ToolCalls[0]
		ids[call.ID] = true
		want := `{"description": "look", "path": "/mnt/user-data/workspace", "pattern": "*` + string(rune('1'+step)) +
			`*"}`
		if call.Name != "glob" || string(call.Args) != want {
			t.Errorf("step %d: %s %s", step, call.Name, call.Args)
		}
		result := message.New(message.Tool, "(empty)")
		result.ToolCallID = call.ID
		req.Messages = append(req.Messages, *got, result)
	}
	if got := ask(t, m, req).Text(); got != "t00000 t00001 t00002 "+lastToken {
		t.Errorf("answer %q", got)
	}
	if len(ids) != 3 {
		t.Errorf("ids of calls: %v", ids)
	}
	req.Messages = append(req.Messages[:1:1], message.New(message.Human, "Now "+Plan{Tokens: 1}.String()))
	if got := ask(t, m, req).Text(); got != lastToken {
		t.Errorf("the last plan counts, not %q", got)
	}
}

func TestModelNeedsToolsToCallThem(t *testing.T) {
	m := startModel(t)
	title := &model.Request{Messages: []message.Message{message.New(message.Human, "A title for: "+
		Plan{Steps: 3, Tokens: 2}.String())}}
	if got := ask(t, m, title).Text(); got != "t00000 "+lastToken {
		t.Errorf("answer %q", got)
	}
	if got := ask(t, m, &model.Request{Messages: []message.Message{message.New(message.Human, "hello")}}).
		Text(); got != lastToken {
		t.Errorf("answer %q", got)
	}
}

func TestModelOverPlainHTTP(t *testing.T) {
	m := startModel(t)
	const user = `"messages": [{"role": "user", "content": "steps=1 tokens=2"}`
	for _, test := range []struct{ name, path, body, want string }{
		{"an answer in one piece", "/chat/completions", `{` + user + `], "tools": []}`, "this model only streams"},
		{"a stream", "/chat/completions", `{"stream": true, ` + user + `, {"role": "assistant"}], "tools": []}`,
			"data: [DONE]\n\n"},
		{"arguments in pieces", "/chat/completions", `{"stream": true, ` + user + `], "tools": []}`,
			`{"arguments":"*1*\""}`},
		{"another path", "/embeddings", "{}", "404 page not found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodPost, m.URL+"/v1"+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Close = true
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			if err != nil || !bytes.Contains(got, []byte(test.want)) {
				t.Errorf("%v\n%s\nshould hold\n%s", err, got, test.want)
			}
		})
	}
}

func TestAnswersHaveIdsOfTheirOwn(t *testing.T) {
	m := startModel(t)
	c := newHTTPClient()
	defer c.CloseIdleConnections()
	for _, want := range []string{`{"id":"chatcmpl-000000000001",`, `{"id":"chatcmpl-000000000002",`} {
		resp, err := send(t.Context(), c, http.MethodPost, m.URL+"/v1/chat/completions", []byte(`{"stream":true}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || bytes.Count(got, []byte(want)) != 4 {
			t.Errorf("%v %s\nshould hold %s four times", err, got, want)
		}
	}
}

// TestTokensComeAtTheirTime has a reader that is late in the beginning: the model's clock does not wait for it.
func TestTokensComeAtTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{start: time.Now(), delay: 50 * time.Millisecond}
		a := &answer{w: w, out: new(bytes.Buffer), deltas: []string{"1", "2", "3", "4"}, batch: 1,
			delay: 20 * time.Millisecond}
		a.stream()
		want := []time.Duration{0, 50 * time.Millisecond, 50 * time.Millisecond, 60 * time.Millisecond,
			80 * time.Millisecond, 80 * time.Millisecond}
		if diff := cmp.Diff(want, w.at); diff != "" {
			t.Error(diff)
		}
	})
}

// slowWriter takes the first write late and notes when each came.
type slowWriter struct {
	http.ResponseWriter

	start time.Time
	delay time.Duration
	at    []time.Duration
}

func (w *slowWriter) Header() http.Header { return http.Header{} }
func (w *slowWriter) FlushError() error   { return nil }

func (w *slowWriter) Write(b []byte) (int, error) {
	w.at = append(w.at, time.Since(w.start))
	if len(w.at) == 1 {
		time.Sleep(w.delay)
	}
	return len(b), nil
}

func TestDirectCallsAreThoseOfTheServer(t *testing.T) {
	m := startModel(t)
	ty := &toy{model: m.URL, dir: t.TempDir()}
	p := &player{url: m.URL, http: newHTTPClient()}
	defer p.http.CloseIdleConnections()
	d, err := (&bench{model: p}).newDirect(t.Context(), &subject{client: toyClient(t, ty)},
		Plan{Steps: 2, Tokens: 3, Delay: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.calls) != 3 || !bytes.Contains(d.calls[2], []byte("steps=2 tokens=3 delay=1ms batch=1")) ||
		bytes.Count(d.calls[2], []byte(`"role":"assistant"`)) != 2 {
		t.Errorf("%q", d.calls)
	}
	out, err := d.run(t.Context())
	if err != nil || out.took < 3*time.Millisecond {
		t.Errorf("the calls took %v: %v", out.took, err)
	}
	again, err := p.tape(t.Context())
	if diff := cmp.Diff(d.calls, again); diff != "" || err != nil {
		t.Error(err, diff)
	}
	d.url += "/nowhere"
	if _, err := d.run(t.Context()); err == nil {
		t.Error("a wrong address is no error")
	}
}

// TestTapeHoldsWhatCameMeanwhile: requests without a plan are not on it, nor what came before it was asked last, and it
// has an end.
func TestTapeHoldsWhatCameMeanwhile(t *testing.T) {
	m := startModel(t)
	p := &player{url: m.URL, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	say := func(text string) {
		ask(t, m, &model.Request{Messages: []message.Message{message.New(message.Human, text)}})
	}
	say("steps=0 tokens=1")
	taped, err := p.tape(t.Context())
	if err != nil || len(taped) != 1 {
		t.Errorf("%v %q", err, taped)
	}
	say("steps=0 tokens=2")
	say("hello")
	say("steps=0 tokens=3")
	taped, err = p.tape(t.Context())
	if err != nil || len(taped) != 2 || !bytes.Contains(taped[0], []byte("tokens=2")) ||
		!bytes.Contains(taped[1], []byte("tokens=3")) {
		t.Errorf("%v %q", err, taped)
	}
	for range 2 * maxTape {
		m.keep([]byte("steps=0"))
	}
	if taped, err = p.tape(t.Context()); len(taped) != maxTape {
		t.Errorf("%v, %d requests", err, len(taped))
	}
	p.url = "http://127.0.0.1:1"
	if _, err := p.tape(t.Context()); err == nil || !strings.Contains(err.Error(), "tape the model's requests: ") {
		t.Error(err)
	}
}
