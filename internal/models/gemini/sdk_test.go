package gemini

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// The vendor's own SDK is the referee here: what it writes for the same contents is what this package must write, and
// what it reads in the fixtures is what this package must read.

// transport answers every request with body and keeps the request.
type transport struct {
	answer []byte
	sent   *http.Request
	body   []byte
}

func (r *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	r.sent = req
	r.body, _ = io.ReadAll(req.Body)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(r.answer)), Request: req}, nil
}

func officialClient(t *testing.T, r *transport) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI,
		HTTPClient: &http.Client{Transport: r}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// officialBody is a request body in the SDK's types.
type officialBody struct {
	Contents          []*genai.Content        `json:"contents"`
	SystemInstruction *genai.Content          `json:"systemInstruction"`
	Tools             []*genai.Tool           `json:"tools"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig"`
	SafetySettings    []*genai.SafetySetting  `json:"safetySettings"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
}

func requestsForTheSDK() map[string]*model.Request {
	on, hot := true, 0.5
	signed := message.Message{Role: message.AI,
		ResponseMetadata: message.Fields{"model_provider": json.RawMessage(`"gemini"`)},
		Content: []message.Part{{Type: message.PartReasoning, Text: "hm"},
			{Type: message.PartReasoning, Text: "ha", Signature: "dGhvdWdodA=="}, message.Text("Look:")},
		Kwargs: message.Fields{keySignatures: json.RawMessage(`{"2":"dGV4dA=="}`)},
		ToolCalls: []message.ToolCall{{ID: "c1", Name: "ls", Args: json.RawMessage(`{"b": [1, {"a": null}]}`),
			Extra: message.Fields{keySignature: json.RawMessage(`"Y2FsbA=="`)}}, {ID: madeUp + "x_1", Name: "now"}}}
	return map[string]*model.Request{
		"everything": {System: "Be brief.",
			Tools: []model.Tool{{Name: "ls", Description: "List.",
				Parameters: json.RawMessage(`{"type":"object","properties":{"b":{"type":"array"}}}`)},
				{Name: "now", Description: "Tell the time."}},
			Settings: model.Settings{Thinking: &on, Effort: "low", Temperature: &hot, MaxTokens: 100, NoTools: true},
			Messages: []message.Message{message.New(message.System, "Monday."),
				{Role: message.Human, Content: []message.Part{message.Text("see"),
					{Type: message.PartImage, URL: "data:image/png;base64,aWNvbg=="},
					{Type: message.PartImage, URL: "https://x/y.webp?z"}}},
				signed,
				{Role: message.Tool, ToolCallID: "c1",
					Content: []message.Part{message.Text("a"), {Type: message.PartImage, URL: "gs://b/c.pdf"}}},
				{Role: message.Tool, ToolCallID: madeUp + "x_1", Status: message.StatusError,
					Content: []message.Part{message.Text("no clock")}},
				message.New(message.System, "Hurry."), message.New(message.Human, "So?")}},
		"little": {Messages: []message.Message{message.New(message.Human, "hi")}},
	}
}

func TestTheOfficialSDKWritesTheSameRequests(t *testing.T) {
	for name, req := range requestsForTheSDK() {
		t.Run(name, func(t *testing.T) {
			ours := &transport{answer: textStream([]string{"ok"})}
			m := New(Config{APIKey: "k", Model: "gemini-3-pro", Client: &http.Client{Transport: ours}})
			if _, err := model.Collect(m.Stream(t.Context(), req)); err != nil {
				t.Fatal(err)
			}
			var in officialBody
			d := json.NewDecoder(bytes.NewReader(ours.body))
			d.DisallowUnknownFields()
			if err := d.Decode(&in); err != nil {
				t.Fatalf("the SDK has no place for %s: %v", ours.body, err)
			}
			cfg := &genai.GenerateContentConfig{SystemInstruction: in.SystemInstruction, Tools: in.Tools,
				ToolConfig: in.ToolConfig}
			if g := in.GenerationConfig; g != nil {
				cfg.Temperature, cfg.MaxOutputTokens, cfg.ThinkingConfig = g.Temperature, g.MaxOutputTokens,
					g.ThinkingConfig
			}
			theirs := &transport{answer: ours.answer}
			for _, err := range officialClient(t, theirs).Models.GenerateContentStream(t.Context(), "gemini-3-pro",
				in.Contents, cfg) {
				if err != nil {
					t.Fatal(err)
				}
			}
			want := decoded(t, theirs.body)
			// the SDK calls it a user's; the documentation has no role
			delete(objectIn(want, "systemInstruction"), "role")
			if len(objectIn(want, "generationConfig")) == 0 {
				delete(want, "generationConfig")
			}
			if d := cmp.Diff(want, decoded(t, ours.body)); d != "" {
				t.Errorf("body (-SDK +ours)\n%s", d)
			}
			if theirs.sent.URL.String() != ours.sent.URL.String() ||
				ours.sent.Header.Get("X-Goog-Api-Key") != theirs.sent.Header.Get("X-Goog-Api-Key") {
				t.Errorf("%s, %v, want %s, %v", ours.sent.URL, ours.sent.Header, theirs.sent.URL, theirs.sent.Header)
			}
		})
	}
}

// decoded drops empty arguments, which the SDK leaves out.
func decoded(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	raw = bytes.ReplaceAll(raw, []byte(`,"args":{}`), nil)
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

func objectIn(v map[string]any, name string) map[string]any {
	o, _ := v[name].(map[string]any)
	return o
}

// seen is what both readers make of an answer.
type seen struct {
	Text, Thoughts, Finish, ID, Model string
	Calls                             [][2]string
	In, Out, Cached, Total            int
}

func TestTheOfficialSDKReadsTheSameAnswers(t *testing.T) {
	for _, name := range []string{"text", "order", "reasoning", "parallel_calls", "exact_args", "no_args", "unicode",
		"usage", "reasoning_replay", "args_replay"} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", "modeltest", name+".http"))
			if err != nil {
				t.Fatal(err)
			}
			_, body, _ := bytes.Cut(raw, []byte("\n\n"))
			var theirs seen
			for r, err := range officialClient(t, &transport{answer: body}).Models.GenerateContentStream(t.Context(),
				"m", genai.Text("hi"), nil) {
				if err != nil {
					t.Fatal(err)
				}
				theirs.add(r)
			}
			m := New(Config{Model: "m", Client: &http.Client{Transport: &transport{answer: body}}})
			got, err := model.Collect(m.Stream(t.Context(), &model.Request{}))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(theirs, seenIn(&got)); d != "" {
				t.Errorf("(-SDK +ours)\n%s", d)
			}
			knownToTheSDK(t, body)
		})
	}
}

func (s *seen) add(r *genai.GenerateContentResponse) {
	c, u := r.Candidates[0], r.UsageMetadata
	for _, p := range c.Content.Parts {
		switch {
		case p.FunctionCall != nil:
			args, _ := json.Marshal(p.FunctionCall.Args)
			s.Calls = append(s.Calls, [2]string{p.FunctionCall.Name, strings.Replace(string(args), "null", "{}", 1)})
		case p.Thought:
			s.Thoughts += p.Text
		default:
			s.Text += p.Text
		}
	}
	s.Finish, s.ID, s.Model = string(c.FinishReason), r.ResponseID, r.ModelVersion
	s.In, s.Out, s.Cached, s.Total = int(u.PromptTokenCount), int(u.CandidatesTokenCount+u.ThoughtsTokenCount),
		int(u.CachedContentTokenCount), int(u.TotalTokenCount)
}

func seenIn(m *message.Message) seen {
	s := seen{Text: m.Text(), Thoughts: m.Reasoning(), Finish: m.FinishReason(), ID: text(m.ResponseMetadata["id"]),
		Model: text(m.ResponseMetadata["model_name"])}
	for _, c := range m.ToolCalls {
		var args map[string]any
		_ = json.Unmarshal(c.Args, &args)
		plain, _ := json.Marshal(args)
		s.Calls = append(s.Calls, [2]string{c.Name, string(plain)})
	}
	s.In, s.Out, s.Cached, s.Total = m.Usage.InputTokens, m.Usage.OutputTokens, m.Usage.CacheRead, m.Usage.TotalTokens
	return s
}

// knownToTheSDK checks that a fixture has no field that the vendor's types do not know.
func knownToTheSDK(t *testing.T, body []byte) {
	t.Helper()
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var ev struct {
			Candidates    []*genai.Candidate
			UsageMetadata *genai.GenerateContentResponseUsageMetadata
			ModelVersion  string
			ResponseID    string
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(&ev); err != nil {
			t.Errorf("%v in %s", err, data)
		}
	}
}
