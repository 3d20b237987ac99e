package probe

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asked is a request as a model sees it, whatever the wire.
type asked struct {
	system, user, picture string
	results               []string // of tools, after the user's last words
	tools, noTools        bool
	think                 *bool
	echoed                bool // thoughts came back
	maxTokens             int
	temperature           bool
	body                  string // of the HTTP request
}

// reply is an answer, whatever the wire.
type reply struct {
	status          int    // an HTTP status other than 200
	problem         string // its message
	text, reasoning string
	calls           []scripted.Call
	finish          string
	cached          int
	unmetered       bool
}

// persona is how a model deviates from the perfect one; it may change the reply.
type persona func(a *asked, r *reply)

// obey is the perfect model: it does what the words of the task say, and looks at the picture's pixels.
func obey(a *asked) (r reply) {
	if a.think != nil && *a.think {
		r.reasoning = "Let me think."
	}
	has := func(words string) bool { return strings.Contains(a.user, words) }
	call := func(name string, args any) {
		raw, _ := json.Marshal(args)
		r.calls = append(r.calls, scripted.Call{ID: fmt.Sprintf("c%d%d", len(a.results), len(r.calls)), Name: name,
			Args: string(raw)})
	}
	city := func(names ...string) {
		for _, n := range names {
			call("get_weather", map[string]string{"city": n})
		}
	}
	switch {
	case has("this one word"):
		r.text = "Pudu."
	case has("from one to thirty"):
		r.text = strings.Repeat("one, two, three, ", 10)
	case has("weather") && a.noTools:
		r.text = "I cannot know."
	case has("three times"):
		city("Paris", "Rome", "Oslo")
	case has("weather"):
		city("Paris")
	case has("Book a trip"):
		r.calls = append(r.calls, scripted.Call{ID: "c", Name: "book_trip",
			Args: `{"traveller":{"name":"Ada Lovelace","age":41},"class":"BUSINESS",` +
				`"stops":[{"city":"Rome","nights":2},{"city":"Oslo","nights":3}],"refundable":true}`})
	case has("list.txt"):
		call("write_file", map[string]string{"path": "list.txt", "content": fileAsTold(a.user)})
	case has("tracking code"):
		switch len(a.results) {
		case 0:
			call("find_order", map[string]string{"customer": "Lovelace"})
		case 1:
			call("track_order", json.RawMessage(a.results[0]))
		default:
			r.text = "It is " + a.results[1]
		}
	case a.picture != "":
		r.text = look(a.picture)
	case has("9.11") && a.tools && len(a.results) == 0:
		call("submit", map[string]string{"answer": "9.9"})
	case has("9.11"):
		r.text = "9.9"
	case has("Thank you"):
		r.text = "done"
	case has("shelf 3"):
		r.text = "10"
	default:
		r.status, r.problem = 400, "a task that the test does not know: "+a.user
	}
	return r
}

// fileAsTold makes the file from the words of the task, not from the code that checks it.
func fileAsTold(task string) string {
	special := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\d+): .*$`).FindAllStringSubmatch(task, -1) {
		special[m[1]] = m[0]
	}
	var lines []string
	for i := 1; i <= 200; i++ {
		line := fmt.Sprintf("%d: pudu", i)
		if s := special[fmt.Sprint(i)]; s != "" {
			line = s
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

// look names the colours of a picture's halves.
func look(url string) string {
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:image/png;base64,"))
	if err != nil {
		return err.Error()
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return err.Error()
	}
	name := func(x int) string {
		r, g, b, _ := img.At(x, img.Bounds().Dy()/2).RGBA()
		switch {
		case r > 0x8000 && g < 0x4000 && b < 0x4000:
			return "red"
		case g > 0x8000 && r < 0x4000 && b < 0x4000:
			return "green"
		}
		return "unknown"
	}
	return name(10) + ", " + name(img.Bounds().Dx()-10)
}

// server speaks chat completions as OpenAI's API reference documents them, with the fields of DeepSeek for thoughts and
// their switch.
type server struct {
	personas []persona
	stream   bool
	delay    time.Duration

	mu   sync.Mutex
	seen map[string]bool // system prompts, for the cache
	reqs []asked
}

func serve(t *testing.T, s *server) string {
	t.Helper()
	s.seen = map[string]bool{}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return srv.URL
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	a := readBody(raw)
	reply := obey(&a)
	s.mu.Lock()
	if a.system != "" && s.seen[a.system] {
		reply.cached = 4992
	}
	s.seen[a.system] = true
	s.reqs = append(s.reqs, a)
	s.mu.Unlock()
	for _, p := range s.personas {
		p(&a, &reply)
	}
	if reply.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.status)
		fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`,
			reply.problem)
		return
	}
	select {
	case <-time.After(s.delay):
	case <-r.Context().Done():
		return
	}
	reply.write(w, s.stream)
}

type wireMessage struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ReasoningContent string          `json:"reasoning_content"`
}

func readBody(raw []byte) (a asked) {
	var body struct {
		Messages    []wireMessage     `json:"messages"`
		Tools       []json.RawMessage `json:"tools"`
		ToolChoice  string            `json:"tool_choice"`
		MaxTokens   int               `json:"max_tokens"`
		Temperature *float64          `json:"temperature"`
		Thinking    struct {
			Type string `json:"type"`
		} `json:"thinking"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		panic(err)
	}
	a = asked{tools: len(body.Tools) > 0, noTools: body.ToolChoice == "none", maxTokens: body.MaxTokens,
		temperature: body.Temperature != nil, body: string(raw)}
	if body.Thinking.Type != "" {
		a.think = new(body.Thinking.Type == "enabled")
	}
	for _, m := range body.Messages {
		text, picture := readContent(m.Content)
		switch m.Role {
		case "system":
			a.system = text
		case "user":
			a.user, a.picture = text, picture
		case "tool":
			a.results = append(a.results, text)
		case "assistant":
			a.echoed = m.ReasoningContent != ""
		}
	}
	return a
}

func readContent(raw json.RawMessage) (text, picture string) {
	if json.Unmarshal(raw, &text) == nil {
		return text, ""
	}
	var parts []struct {
		Text     string `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	json.Unmarshal(raw, &parts)
	for _, p := range parts {
		text, picture = text+p.Text, picture+p.ImageURL.URL
	}
	return text, picture
}

func (r *reply) finishReason() string {
	switch {
	case r.finish != "":
		return r.finish
	case len(r.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (r *reply) usage() string {
	if r.unmetered {
		return "null"
	}
	return fmt.Sprintf(`{"prompt_tokens":5000,"completion_tokens":10,"total_tokens":5010,"prompt_tokens_details":{"cached_tokens":%d}}`, r.cached)
}

func (r *reply) write(w http.ResponseWriter, stream bool) {
	var calls []string
	for i, c := range r.calls {
		calls = append(calls,
			fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, i, c.ID, c.Name,
				quoted(c.Args)))
	}
	list := "[" + strings.Join(calls, ",") + "]"
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s,"reasoning_content":%s,"tool_calls":%s},"finish_reason":%q}],"usage":%s}`,
			quoted(r.text), quoted(r.reasoning), list, r.finishReason(), r.usage())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta, finish, usage string) {
		fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}],\"usage\":%s}\n\n", delta, finish, usage)
		w.(http.Flusher).Flush()
	}
	if r.reasoning != "" {
		send(`{"reasoning_content":`+quoted(r.reasoning)+`}`, "null", "null")
	}
	for piece := range strings.SplitAfterSeq(r.text, " ") {
		send(`{"content":`+quoted(piece)+`}`, "null", "null")
		time.Sleep(time.Millisecond) // else the pieces come in one packet
	}
	if len(calls) > 0 {
		send(`{"tool_calls":`+list+`}`, "null", "null")
	}
	send("{}", quoted(r.finishReason()), r.usage())
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// compatible is the real provider in front of the server.
func compatible(url, dialect string, extra map[string]json.RawMessage) model.ChatModel {
	return openai.New(openai.Config{Name: "test", BaseURL: url, APIKey: "sk-test", Model: "m", Dialect: dialect,
		ExtraBody: extra,
		Client:    &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
}

// played is the perfect model without a wire; personas and the clock of the test change it.
func played(shape func(*scripted.Turn), personas ...persona) scripted.Func {
	seen := map[string]bool{}
	return func(req *model.Request) scripted.Turn {
		a := asked{system: req.System, tools: len(req.Tools) > 0, noTools: req.Settings.NoTools,
			think:     req.Settings.Thinking,
			maxTokens: req.Settings.MaxTokens, temperature: req.Settings.Temperature != nil}
		for _, m := range req.Messages {
			switch m.Role {
			case message.Human:
				a.user = m.Text()
				for _, p := range m.Content {
					a.picture += p.URL
				}
			case message.Tool:
				a.results = append(a.results, m.Text())
			case message.AI:
				a.echoed = m.Reasoning() != ""
			}
		}
		r := obey(&a)
		if seen[a.system] {
			r.cached = 100
		}
		seen[a.system] = true
		for _, p := range personas {
			p(&a, &r)
		}
		return r.turn(shape)
	}
}

func (r *reply) turn(shape func(*scripted.Turn)) scripted.Turn {
	t := scripted.Turn{Text: r.text, Reasoning: r.reasoning, ToolCalls: r.calls, FinishReason: r.finish,
		ChunkDelay: time.Millisecond,
		Usage:      &message.Usage{InputTokens: 100, OutputTokens: 10, TotalTokens: 110, CacheRead: r.cached}}
	if r.status != 0 {
		class := model.ClassBadRequest
		switch r.status {
		case 401:
			class = model.ClassAuth
		case 503:
			class = model.ClassBusy
		}
		t = scripted.Turn{Error: &scripted.Error{Class: class, Status: r.status, Message: r.problem}}
	}
	if shape != nil {
		shape(&t)
	}
	return t
}
