package toolerror

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/tool"
)

// short writes a meta in one line: status, kind, next.
func short(m toolmeta.Meta) string {
	kind := "-"
	if m.ErrorType != nil {
		kind = *m.ErrorType
	}
	return strings.Join([]string{m.Status, kind, m.Next}, " ")
}

func TestJudge(t *testing.T) {
	long := strings.Repeat("word ", 400)
	const ok = "success - continue"
	tests := []struct {
		name, tool string
		isError    bool
		text, want string
	}{
		{"auth", "t", true, "HTTP 401", "error auth stop"},
		{"auth by word", "t", true, "Unauthorized", "error auth stop"},
		{"rate limit", "t", true, "429 Too Many Requests", "error rate_limited summarize"},
		{"transient", "t", true, "dial: connection refused", "error transient try_alternative"},
		{"config", "t", true, "search is not configured", "error config stop"},
		{"permission", "t", true, "permission denied", "error permission try_alternative"},
		{"no results", "t", true, "No results for x", "error no_results rewrite_query"},
		{"not found", "t", true, "File not found: /mnt/x", "error not_found rewrite_query"},
		{"internal", "t", true, "500", "error internal stop"},
		{"unknown", "t", true, "odd", "error unknown try_alternative"},
		{"code inside a longer number", "t", true, "wrote 14013 of 50000 bytes", "error unknown try_alternative"},
		{"first rule wins", "t", true, "403: rate limit", "error auth stop"},

		{"text that says error", "t", false, "Error: File not found: x", "error not_found rewrite_query"},
		{"status words in ordinary text", "t", false, "the page explains 404 and forbidden zones", ok},
		{"no results in a success", "web_search", false, "No results found for x.",
			"partial_success no_results rewrite_query"},
		{"cut short", "grep", false, long + "[truncated]", "partial_success - rewrite_query"},
		{"mark deep inside is only text", "web_fetch", false, long + "truncated" + long, ok},

		{"json without error field", "t", false, `{"title": "404 not found", "text": "truncated"}`, ok},
		{"json list", "web_search", false, `[{"error": "x"}]`, ok},
		{"json error", "t", false, `{"error": "rate limit"}`, "error rate_limited summarize"},
		{"json error object", "t", false, `{"error": {"code": 404}}`, "error not_found rewrite_query"},
		{"json no error", "t", false, `{"error": " None "}`, ok},
		{"json false", "t", false, `{"error": false}`, ok},
		{"json empty", "t", false, `{"error": {}}`, ok},
		{"failed json without a reason", "t", true, `{"status": 404}`, "error unknown try_alternative"},
		{"broken json is text", "t", false, `{"error": "rate limit"`, ok},

		{"bash exit code is a success", "bash", false, "Error: 404 not found\n\nExit Code: 3", ok},
		{"bash prints json", "bash", false, `{"error": "rate limit"}`, ok},
		{"bash itself fails", "bash", true, "the sandbox did not finish within 5s", "error transient try_alternative"},
		{"file content", "read_file", false, "Error: 1\nlog truncated", ok},

		{"error page", "web_fetch", false, "# 404 Not Found\n\nnginx", "error not_found rewrite_query"},
		{"error page by phrase", "web_fetch", false, "# Forbidden\n\nno", "error auth stop"},
		{"page about an error", "web_fetch", false, "# How to fix 404 Not Found\n\nread on", ok},
		{"the same title elsewhere", "t", false, "# 404 Not Found\n\nnginx", ok},
		{"empty", "t", false, "", ok},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := tool.Text(tt.text)
			res.IsError = tt.isError
			if diff := cmp.Diff(tt.want, short(judge(tt.tool, res))); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestRecoverable(t *testing.T) {
	want := map[string]bool{"permission": true, "no_results": true, "not_found": true}
	for _, r := range rules {
		if r.recoverable != want[r.kind] {
			t.Errorf("%s: recoverable %v", r.kind, r.recoverable)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, s := range []string{"", `{"error":1}`, `{"error":`, "[", "# 404", "Error:", "null",
		strings.Repeat("é", 400)} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, isError bool) {
		res := tool.Text(text)
		res.IsError = isError
		m := judge("web_fetch", res)
		if isError && m.Status != toolmeta.StatusError || m.Status == toolmeta.StatusError && m.ErrorType == nil ||
			m.Next == "" {
			t.Fatalf("%+v", m)
		}
	})
}
