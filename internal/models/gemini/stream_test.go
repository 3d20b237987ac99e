package gemini

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func readAll(in string) (message.Message, error) {
	var b message.Builder
	s := &stream{origin: &wire.Origin{Provider: "gemini", Model: "m", Refine: refine}}
	err := s.origin.Read(strings.NewReader(in), s, func(c message.Chunk, _ error) bool { b.Add(c); return true })
	return b.Message(), err
}

// play folds a stream into a message.
func play(t *testing.T, in string) message.Message {
	t.Helper()
	m, err := readAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answer is a stream of one event for each list of parts; the last one has the finish reason STOP.
func answer(parts ...string) string {
	var b strings.Builder
	for i, p := range parts {
		end := ""
		if i == len(parts)-1 {
			end = `,"finishReason":"STOP"`
		}
		b.WriteString(`data: {"candidates":[{"content":{"role":"model","parts":[` + p + `]}` + end +
			`,"index":0}],"responseId":"r1"}` + "\r\n\r\n")
	}
	return b.String()
}

func TestPartsKeepTheirSignatures(t *testing.T) {
	thought := func(s, sig string) message.Part {
		return message.Part{Type: message.PartReasoning, Text: s, Signature: sig}
	}
	tests := []struct {
		name  string
		parts []string
		want  []message.Part
		text  string // signatures of the text
	}{
		{"a thought in pieces", []string{`{"text":"a","thought":true}`,
			`{"text":"b","thought":true,"thoughtSignature":"c2ln"},{"text":"c","thought":true}`},
			[]message.Part{thought("ab", "c2ln"), thought("c", "")}, ""},
		{"a thought signed behind its end",
			[]string{`{"text":"a","thought":true}`, `{"thought":true,"thoughtSignature":"c2ln"}`},
			[]message.Part{thought("a", "c2ln")}, ""},
		{"an empty thought", []string{`{"text":"","thought":true},{"text":"x"}`}, []message.Part{message.Text("x")},
			""},
		{"a text", []string{`{"text":"a","thought":true}`, `{"text":"x"},{"text":"y","thoughtSignature":"c2ln"}`},
			[]message.Part{thought("a", ""), message.Text("xy")}, `{"1":"c2ln"}`},
		{"a text signed behind its end", []string{`{"text":"x"}`, `{"text":"","thoughtSignature":"c2ln"}`},
			[]message.Part{message.Text("x")}, `{"0":"c2ln"}`},
		{"a signature behind the thoughts alone",
			[]string{`{"text":"a","thought":true}`, `{"text":"","thoughtSignature":"c2ln"}`},
			[]message.Part{thought("a", "")}, `{"1":"c2ln"}`},
		{"two texts", []string{`{"text":"x","thoughtSignature":"MQ=="}`, `{"text":"a","thought":true}`,
			`{"text":"y","thoughtSignature":"Mg=="}`},
			[]message.Part{message.Text("x"), thought("a", ""), message.Text("y")}, `{"0":"MQ==","2":"Mg=="}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := play(t, answer(tt.parts...))
			if d := cmp.Diff(tt.want, got.Content); d != "" {
				t.Error(d)
			}
			if s := string(got.Kwargs[keySignatures]); s != tt.text {
				t.Errorf("signatures %s, want %s", s, tt.text)
			}
		})
	}
}

func TestASignatureBehindTheEnd(t *testing.T) {
	got := play(t, answer(`{"text":"x","thoughtSignature":"MQ=="}`)+
		`data: {"candidates":[{"content":{"parts":[{"text":"y"},{"text":"","thoughtSignature":"Mg=="}]}}],"usageMetadata":{"promptTokenCount":3}}`+"\n\n")
	if s := string(got.Kwargs[keySignatures]); s != `{"0":"Mg=="}` || got.Text() != "xy" || got.Usage == nil ||
		got.Usage.TotalTokens != 3 {
		t.Errorf("%+v", got)
	}
}

func TestCallsGetAnID(t *testing.T) {
	got := play(t, answer(`{"functionCall":{"name":"f"}},{"functionCall":{"name":"f","args":null,"id":"x"}}`,
		`{"functionCall":{"name":"f","args":{"a": 1}}}`))
	var ids []string
	for _, c := range got.ToolCalls {
		ids = append(ids, c.ID+" "+string(c.Args))
	}
	if d := cmp.Diff([]string{madeUp + "r1_0 {}", "x {}", madeUp + `r1_2 {"a": 1}`}, ids); d != "" {
		t.Error(d)
	}
	nameless := strings.ReplaceAll(answer(`{"functionCall":{"name":"f"}}`), `,"responseId":"r1"`, "")
	first, second := play(t, nameless), play(t, nameless)
	if a, b := first.ToolCalls[0].ID, second.ToolCalls[0].ID; a == b || !strings.HasPrefix(a, madeUp) || len(a) > 40 {
		t.Errorf("ids %s and %s", a, b)
	}
}

func TestUsage(t *testing.T) {
	got := play(t,
		`data: {"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":1}}`+"\n\n"+
			`data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":90,"toolUsePromptTokenCount":10,"candidatesTokenCount":15,"thoughtsTokenCount":5,"cachedContentTokenCount":60,"totalTokenCount":120,"promptTokensDetails":[{"modality":"TEXT","tokenCount":90}]}}`+"\n\n")
	want := &message.Usage{InputTokens: 100, OutputTokens: 20, TotalTokens: 120, CacheRead: 60, Reasoning: 5}
	if d := cmp.Diff(want, got.Usage); d != "" {
		t.Error(d)
	}
}

// TestWhatComesTwiceIsTakenOnce is about usage that comes twice or in halves, and about a second candidate.
func TestWhatComesTwiceIsTakenOnce(t *testing.T) {
	const said = `data: {"candidates":[{"content":{"parts":[{"text":"x"}]}},{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":`
	const ends = `data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":`
	for name, in := range map[string]string{
		"whole, twice": said + `{"promptTokenCount":90,"candidatesTokenCount":10,"totalTokenCount":100}}` +
			"\n\n" + ends + `{"promptTokenCount":90,"candidatesTokenCount":10,"totalTokenCount":100}}`,
		"in halves": said + `{"promptTokenCount":90,"totalTokenCount":90}}` + "\n\n" + ends +
			`{"candidatesTokenCount":10}}`,
		"behind the end too": said + `{}}` + "\n\n" + ends + `{"promptTokenCount":90}}` + "\n\n" +
			`data: {"usageMetadata":{"candidatesTokenCount":10}}`,
	} {
		got := play(t, in+"\n\n")
		if d := cmp.Diff(&message.Usage{InputTokens: 90, OutputTokens: 10, TotalTokens: 100}, got.Usage); d != "" ||
			got.Text() != "x" {
			t.Errorf("%s: %q, %s", name, got.Text(), d)
		}
	}
}

func TestEnds(t *testing.T) {
	said := `data: {"candidates":[{"content":{"parts":[{"text":"x"}]}}]}` + "\n\n"
	end := func(reason string) string { return `data: {"candidates":[{"finishReason":"` + reason + `"}]}` + "\n\n" }
	tests := []struct {
		name, in, reason string
		class            model.Class // empty: success
	}{
		{"safety without a word", end("SAFETY"), "SAFETY", ""},
		{"recitation", said + end("RECITATION"), "RECITATION", ""},
		{"limit", said + end("MAX_TOKENS"), "MAX_TOKENS", ""},
		{"blocked prompt",
			`data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","safetyRatings":[]},"usageMetadata":{"promptTokenCount":4}}` + "\n\n", "PROHIBITED_CONTENT", ""},
		{"feedback without a reason", `data: {"promptFeedback":{"safetyRatings":[]}}` + "\n\n" + said + end("STOP"),
			"STOP", ""},
		{"feedback alone", `data: {"promptFeedback":{}}` + "\n\n", "", model.ClassTransient},
		{"the first reason counts", said + end("STOP") + end("SAFETY"), "STOP", ""},
		{"no reason yet", said + end("FINISH_REASON_UNSPECIFIED"), "", model.ClassTransient},
		{"a call that cannot be read", `data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(x)"}]}` + "\n\n", "", model.ClassTransient},
		{"a call that cannot be read behind text", said + end("MALFORMED_FUNCTION_CALL"), "MALFORMED_FUNCTION_CALL",
			""},
		{"other candidates are left out", `data: {"candidates":[{"index":1,"finishReason":"STOP"}]}` + "\n\n", "",
			model.ClassTransient},
		{"garbage behind the end", said + end("STOP") + "data: {\n\n", "STOP", model.ClassTransient},
		{"error in the stream", said + `data: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m"}}` +
			"\n\n", "", model.ClassRateLimit},
		{"a list", `[{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}` + "\r\n,\r\n" +
			`{"candidates":[{"finishReason":"STOP"}]}]`, "STOP", ""},
		{"a list with an error", `[{"error":{"code":503,"message":"m"}}]`, "", model.ClassBusy},
		{"a list that is cut", `[{"candidates":[{"fini`, "", model.ClassTransient},
		{"an empty list", ` [] `, "", model.ClassTransient},
		{"nothing", "", "", model.ClassTransient},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(tt.in)
			if e := model.AsError(err); (e == nil) != (tt.class == "") && !errors.Is(err, io.EOF) ||
				e != nil && e.Class != tt.class {
				t.Errorf("error %v, want class %q", err, tt.class)
			}
			if got.FinishReason() != tt.reason {
				t.Errorf("finish reason %q, want %q", got.FinishReason(), tt.reason)
			}
		})
	}
	got := play(t, tests[3].in)
	if string(got.ResponseMetadata["block_reason"]) != `"PROHIBITED_CONTENT"` || got.Usage.InputTokens != 4 ||
		string(got.ResponseMetadata["model_name"]) != `"m"` {
		t.Errorf("%+v", got)
	}
}

func TestFailures(t *testing.T) {
	info := func(kind, fields string) string {
		return `,"details":[{"@type":"type.googleapis.com/google.rpc.` + kind + `",` + fields + `}]`
	}
	tests := []struct {
		name          string
		status        int
		code, message string
		details       string
		want          model.Error
	}{
		{"wrong key", 400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
			info("ErrorInfo", `"reason":"API_KEY_INVALID","domain":"googleapis.com"`),
			model.Error{Class: model.ClassAuth, Code: "API_KEY_INVALID"}},
		{"not allowed", 403, "PERMISSION_DENIED", "Your API key was reported as leaked.", "",
			model.Error{Class: model.ClassAuth, Code: "PERMISSION_DENIED"}},
		{"wait", 429, "RESOURCE_EXHAUSTED", "m", info("RetryInfo", `"retryDelay":"34.074824224s"`),
			model.Error{Class: model.ClassRateLimit, Code: "RESOURCE_EXHAUSTED", RetryAfter: 34074824224}},
		{"wait forever", 429, "RESOURCE_EXHAUSTED", "m", info("RetryInfo", `"retryDelay":"9000000s"`),
			model.Error{Class: model.ClassRateLimit, Code: "RESOURCE_EXHAUSTED", RetryAfter: 24 * time.Hour}},
		{"a delay of another shape", 429, "RESOURCE_EXHAUSTED", "m", info("RetryInfo", `"retryDelay":"soon"`),
			model.Error{Class: model.ClassRateLimit, Code: "RESOURCE_EXHAUSTED"}},
		{"details of another shape", 503, "UNAVAILABLE", "m", `,"details":{"a":1}`,
			model.Error{Class: model.ClassBusy, Code: "503"}},
		{"no credit", 429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", "",
			model.Error{Class: model.ClassQuota, Code: "RESOURCE_EXHAUSTED"}},
		{"too large", 400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", "",
			model.Error{Class: model.ClassContextLength, Code: "INVALID_ARGUMENT"}},
		{"deadline", 504, "DEADLINE_EXCEEDED", "m", "",
			model.Error{Class: model.ClassTransient, Code: "DEADLINE_EXCEEDED"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			object := `{"error":{"code":` + jsonInt(tt.status) + `,"message":"` + tt.message + `","status":"` +
				tt.code + `"` + tt.details + `}}`
			tt.want.Message, tt.want.Provider, tt.want.Model = tt.message, "gemini", "m"
			_, inStream := readAll("data: " + object + "\n\n")
			o := wire.Origin{Provider: "gemini", Model: "m", Refine: refine}
			for in, err := range map[string]error{
				"object": o.HTTPError(tt.status, nil, []byte(object)),
				"list":   o.HTTPError(tt.status, nil, []byte("["+object+"]")),
				"stream": inStream,
			} {
				if d := cmp.Diff(&tt.want, model.AsError(err), cmpopts.IgnoreFields(model.Error{}, "Status")); d != "" {
					t.Errorf("%s: %s", in, d)
				}
			}
		})
	}
}

func jsonInt(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

// FuzzStream wants no panic, no success without a finish reason, and JSON wherever JSON is promised.
func FuzzStream(f *testing.F) {
	f.Add([]byte(answer(`{"text":"a","thought":true,"thoughtSignature":"c2ln"}`,
		`{"text":"x","thoughtSignature":"c2ln"},{"functionCall":{"name":"f","args":{"a":[1]}},"thoughtSignature":"c2ln"}`)))
	f.Add([]byte(`data: {"promptFeedback":{"blockReason":"OTHER"}}`))
	f.Add([]byte(`[{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}]`))
	f.Add([]byte(`data: {"error":{"code":429,"details":[{"retryDelay":"1s"}]}}`))
	f.Add([]byte("data: {\"candidates\" : [ { \"index\" : 0 , \"finishReason\" : \"STOP\" } , ] }\n\n<html>"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var b message.Builder
		s := &stream{origin: &wire.Origin{}}
		err := s.origin.Read(iotest.HalfReader(strings.NewReader(string(in))), s, func(c message.Chunk, _ error) bool {
			for _, call := range c.ToolCalls {
				if !json.Valid([]byte(call.Args)) || call.ID == "" {
					t.Errorf("call %+v", call)
				}
			}
			b.Add(c)
			return true
		})
		m := b.Message()
		if err == nil && m.FinishReason() == "" {
			t.Error("success without a finish reason")
		}
		for _, f := range []message.Fields{m.Kwargs, m.ResponseMetadata} {
			for k, v := range f {
				if !json.Valid(v) {
					t.Errorf("%s is no JSON: %s", k, v)
				}
			}
		}
		m.Role = message.AI
		raw, err := New(Config{Model: "gemini-3-pro"}).encode(&model.Request{Messages: []message.Message{m}})
		if err == nil && !json.Valid(raw) {
			t.Errorf("no JSON: %s", raw)
		}
	})
}

// FuzzDecode: an event is read if it is JSON, whatever it holds, and the same way into one that was used before.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{}`,
		` { "candidates" : [ 1 , {"content":{"parts":[{"text":"}"},7,{"functionCall":[]}]}} ] , "x":{"c":null}} `,
		`{"candidates":[{"index":1,"finishReason":"STOP"},{"content":{"parts":{}}}]}`,
		`{"usageMetadata":{"promptTokenCount":-1,"totalTokenCount":"7"},"error":null}`,
		`[1]`, `"x"`, `{"candidates":[`, `{"candidates":[]]}`, `{"promptFeedback":{"blockReason":"OTHER"}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var fresh, used event
		if read, valid := fresh.decode(in), json.Valid(in); read != valid {
			t.Fatalf("%q: read %t, valid %t", in, read, valid)
		}
		used.decode([]byte(`{"candidates":[{"index":0,"finishReason":"STOP","content":{"parts":[{"text":"old","thought":true},{"functionCall":{"name":"f"}}]}}],"error":1}`))
		used.decode(in)
		if d := cmp.Diff(fresh, used, cmp.AllowUnexported(event{}, candidate{}, part{}, usage{}),
			cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q into an event used before: %s", in, d)
		}
	})
}
