package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/model"
)

func TestHTTPError(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		class  model.Class
		text   string
	}{
		{"bad request", 400, `{"error":{"message":"no such field","type":"invalid_request_error"}}`,
			model.ClassBadRequest, "no such field"},
		{"context by code", 400, `{"error":{"message":"m","code":"context_length_exceeded"}}`, model.ClassContextLength,
			"m"},
		{"context by phrase", 400, `{"object":"error","message":"This model's maximum context length is 4096"}`,
			model.ClassContextLength, "This model's maximum context length is 4096"},
		{"context, Anthropic", 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 > 1"}}`,
			model.ClassContextLength, "prompt is too long: 2 > 1"},
		{"context, with the answer", 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" +
				` exceed context limit: 199000 + 8192 > 200000"}}`, model.ClassContextLength,
			"input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"},
		{"body too large", 413, ``, model.ClassContextLength, "request entity too large"},
		{"key", 401, `{"error":{"message":"bad key, billing_error","code":"invalid_api_key"}}`, model.ClassAuth,
			"bad key, billing_error"},
		{"forbidden", 403, `{"error":"forbidden"}`, model.ClassAuth, "forbidden"},
		{"no credit", 402, `{"error":{"message":"pay"}}`, model.ClassQuota, "pay"},
		{"no credit, 400", 400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`,
			model.ClassQuota, "Your credit balance is too low"},
		{"quota", 429, `{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}`,
			model.ClassQuota, "m"},
		{"burst", 429, `{"error":{"message":"m","code":"limit_burst_rate"}}`, model.ClassBurst, "m"},
		{"rate", 429, `{"error":{"message":"too many tokens per minute","type":"tokens"}}`, model.ClassRateLimit,
			"too many tokens per minute"},
		{"rate, Gemini list", 429,
			`[{"error":{"code":429,"message":"quota, check billing details","status":"RESOURCE_EXHAUSTED"}}]`,
			model.ClassRateLimit, "quota, check billing details"},
		{"not found", 404, `{"detail":"Not Found"}`, model.ClassNotFound, "Not Found"},
		{"time-out", 408, ``, model.ClassTransient, "request timeout"},
		{"conflict", 409, `{"error":{"message":"another request changes this"}}`, model.ClassTransient,
			"another request changes this"},
		{"too early", 425, ``, model.ClassTransient, "too early"},
		{"server", 500, `oops`, model.ClassTransient, "oops"},
		{"proxy page", 502, `<html><title>Bad gateway</title>`, model.ClassTransient,
			"the answer is a web page, not an API's"},
		{"busy", 503, ``, model.ClassBusy, "service unavailable"},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			model.ClassBusy, "Overloaded"},
		{"redirect", 307, ``, model.ClassBadRequest,
			"the address redirects elsewhere; set base_url to the final address"},
		{"secret echoed", 401, `{"error":{"message":"wrong key sk-secret!"}}`, model.ClassAuth, "wrong key ***!"},
	}
	o := Origin{Provider: "p", Model: "m", Secrets: []string{"sk-secret"}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := o.HTTPError(tt.status, http.Header{}, []byte(tt.body))
			if e.Class != tt.class || e.Message != tt.text || e.Status != tt.status || e.Provider != "p" ||
				e.Model != "m" {
				t.Errorf("got %+v, want class %s, text %q", e, tt.class, tt.text)
			}
		})
	}
}

func TestStreamError(t *testing.T) {
	tests := map[string]model.Class{
		`{"message":"Overloaded","type":"overloaded_error"}`: model.ClassBusy,
		`{"message":"Provider returned error","code":429}`:   model.ClassRateLimit,
		`{"message":"slow down","type":"rate_limit_error"}`:  model.ClassRateLimit,
		`{"message":"m","code":"insufficient_quota"}`:        model.ClassQuota,
		`{"message":"m","code":"context_length_exceeded"}`:   model.ClassContextLength,
		`{"message":"m","type":"authentication_error"}`:      model.ClassAuth,
		`{"message":"m","type":"invalid_request_error"}`:     model.ClassBadRequest,
		`{"message":"m","type":"not_found_error"}`:           model.ClassNotFound,
		`"something else"`: model.ClassTransient,
		`{"message":"Internal server error","type":"server_error"}`:  model.ClassTransient,
		`{"message":"m","code":502}`:                                 model.ClassTransient,
		`{"message":"the prompt is too long for this","code":"400"}`: model.ClassContextLength,
	}
	o := Origin{Provider: "p", Model: "m"}
	for body, want := range tests {
		if e := o.StreamError([]byte(body)); e.Class != want {
			t.Errorf("%s: class %s, want %s", body, e.Class, want)
		}
	}
}

func TestErrorTextIsBounded(t *testing.T) {
	o := Origin{}
	e := o.HTTPError(500, nil, []byte(strings.Repeat("ä", 5000)))
	if len(e.Message) > 2000 || !utf8.ValidString(e.Message) {
		t.Errorf("%d bytes, valid %v", len(e.Message), utf8.ValidString(e.Message))
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"none", http.Header{}, 0},
		{"seconds", http.Header{"Retry-After": {"2"}}, 2 * time.Second},
		{"part of a second", http.Header{"Retry-After": {"0.25"}}, 250 * time.Millisecond},
		{"milliseconds win", http.Header{"Retry-After": {"2"}, "Retry-After-Ms": {"1500"}}, 1500 * time.Millisecond},
		{"date", http.Header{"Retry-After": {now.Add(9 * time.Second).Format(http.TimeFormat)}}, 9 * time.Second},
		{"date by the server's clock", http.Header{"Date": {now.Add(time.Hour).Format(http.TimeFormat)},
			"Retry-After": {now.Add(time.Hour + 3*time.Second).Format(http.TimeFormat)}}, 3 * time.Second},
		{"date years ahead", http.Header{"Retry-After": {now.AddDate(30, 0, 0).Format(http.TimeFormat)}},
			24 * time.Hour},
		{"years in milliseconds", http.Header{"Retry-After-Ms": {"1e12"}}, 24 * time.Hour},
		{"past", http.Header{"Retry-After": {now.Add(-time.Hour).Format(http.TimeFormat)}}, 0},
		{"negative", http.Header{"Retry-After": {"-5"}}, 0},
		{"absurd", http.Header{"Retry-After": {"1e300"}}, 24 * time.Hour},
		{"no number", http.Header{"Retry-After": {"NaN"}}, 0},
		{"words", http.Header{"Retry-After": {"soon"}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := RetryAfter(tt.header, now); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzParseDetail(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","code":1}}`, `[{"error":"x"}]`, `<html>`, `"s"`,
		`{"detail":[1]}`, ``} {
		f.Add(200, []byte(s))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		o := Origin{}
		e := o.HTTPError(status, http.Header{}, body)
		if e.Class == "" || len(e.Message) > 2000 || !utf8.ValidString(e.Message) {
			t.Errorf("%+v", e)
		}
	})
}
