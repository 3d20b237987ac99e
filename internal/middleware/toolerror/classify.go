package toolerror

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/tool"
)

// rule sorts errors whose text matches into a kind.
type rule struct {
	kind        string
	recoverable bool
	next        string
	codes       []string // count only as whole words
	phrases     []string // lower case
}

// rules are tried in order.
var rules = []rule{
	{"auth", false, toolmeta.NextStop, []string{"401", "403"}, []string{"unauthorized", "unauthenticated", "forbidden",
		"authentication", "invalid api key", "invalid token", "invalid credentials", "expired token", "token expired"}},
	{"rate_limited", false, toolmeta.NextSummarize, []string{"429"}, []string{"rate limit", "ratelimit", "rate_limit",
		"too many requests", "quota", "throttled"}},
	{"transient", false, toolmeta.NextTryAlternative, []string{"408", "502", "503", "504"},
		[]string{"timeout", "timed out", "time-out",
			"did not finish within", "deadline exceeded", "temporarily", "connection reset", "connection refused",
			"connection error", "connection closed", "unexpected eof", "network is unreachable", "service unavailable",
			"bad gateway", "overloaded", "try again later"}},
	{"config", false, toolmeta.NextStop, nil, []string{"not configured", "misconfigured", "configuration",
		"missing api key",
		"api key is required", "api key is missing", "is not installed", "is disabled", "not enabled"}},
	{"permission", true, toolmeta.NextTryAlternative, nil,
		[]string{"permission denied", "access denied", "not permitted",
			"not allowed", "read-only", "outside of", "outside the"}},
	{"no_results", true, toolmeta.NextRewriteQuery, nil, []string{"no results", "no result found", "no matches",
		"nothing found",
		"no images found", "no content"}},
	{"not_found", true, toolmeta.NextRewriteQuery, []string{"404", "410"},
		[]string{"not found", "no such file", "does not exist",
			"doesn't exist", "cannot find", "could not find", "unknown path"}},
	{"internal", false, toolmeta.NextStop, []string{"500"}, []string{"internal error", "internal server error",
		"panicked"}},
}

// Marks of results that hold less than what was asked for, in lower case.
var (
	cutShort = []string{"truncated", "partial result", "results are incomplete", "output was cut"}
	nothing  = []string{"no results found", "no results were found", "found 0 results", "no matches found",
		"found 0 matches", "no content found", "no images found"}
)

func (r rule) match(text string, words []string) bool {
	return slices.ContainsFunc(r.codes, func(c string) bool { return slices.Contains(words, c) }) ||
		hasAny(text, r.phrases)
}

func hasAny(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

func isNotWord(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// verbatim are tools whose content is not their own words but that of files and programs: what is written there is no
// report of the tool. A command that exits with an error is a success of bash.
var verbatim = []string{"bash", "read_file"}

// noError are values of an error field that mean that there is none.
var noError = []string{"", "none", "null", "false", "no", "ok", "success", "n/a"}

// mostRead bounds how much of an error text is looked at, in bytes.
const mostRead = 4096

// edge is how many bytes at either end of a content may hold marks.
const edge = 300

// mostJSON bounds the results that are read as JSON, in bytes.
const mostJSON = 1 << 20

// judge looks at a result that a tool returned.
func judge(name string, res *tool.Result) toolmeta.Meta {
	text := strings.TrimSpace(res.Text())
	said, isJSON := errorField(text)
	switch {
	case isJSON && said != "" && !slices.Contains(verbatim, name):
		return failure(said, toolmeta.SourceReturn)
	case res.IsError && isJSON:
		return unknownError(toolmeta.SourceReturn)
	case res.IsError:
		return failure(text, toolmeta.SourceReturn)
	case isJSON || slices.Contains(verbatim, name):
		return success
	case strings.HasPrefix(text, "Error:"):
		return failure(text, toolmeta.SourceReturn)
	case name == "web_fetch" && isErrorPage(text):
		return failure(firstLine(text), toolmeta.SourceContent)
	}
	return fromContent(text)
}

var success = toolmeta.Meta{Status: toolmeta.StatusSuccess, Recoverable: true, Next: toolmeta.NextContinue,
	Source: toolmeta.SourceContent}

// fromContent looks for marks that the tool set itself, which stand at the start or end; what is written in between,
// such as the text of a page, says nothing about the call.
func fromContent(text string) toolmeta.Meta {
	if len(text) > 2*edge {
		text = text[:edge] + "\n" + text[len(text)-edge:]
	}
	text = strings.ToLower(text)
	switch {
	case hasAny(text, nothing):
		kind := "no_results"
		return toolmeta.Meta{Status: toolmeta.StatusPartial, ErrorType: &kind, Recoverable: true,
			Next: toolmeta.NextRewriteQuery, Source: toolmeta.SourceContent}
	case hasAny(text, cutShort):
		return toolmeta.Meta{Status: toolmeta.StatusPartial, Recoverable: true, Next: toolmeta.NextRewriteQuery,
			Source: toolmeta.SourceContent}
	}
	return success
}

// failure sorts the text of an error.
func failure(text, source string) toolmeta.Meta {
	text = strings.ToLower(text[:min(len(text), mostRead)])
	words := strings.FieldsFunc(text, isNotWord)
	for _, r := range rules {
		if r.match(text, words) {
			return toolmeta.Meta{Status: toolmeta.StatusError, ErrorType: &r.kind, Recoverable: r.recoverable,
				Next: r.next, Source: source}
		}
	}
	return unknownError(source)
}

func unknownError(source string) toolmeta.Meta {
	kind := "unknown"
	return toolmeta.Meta{Status: toolmeta.StatusError, ErrorType: &kind, Recoverable: true,
		Next: toolmeta.NextTryAlternative, Source: source}
}

// errorField returns what the error field of a JSON object says; empty if it means no error. ok is false if text is
// no JSON object or list.
func errorField(text string) (said string, ok bool) {
	raw := []byte(text)
	if len(raw) == 0 || len(raw) > mostJSON || raw[0] != '{' && raw[0] != '[' || !json.Valid(raw) {
		return "", false
	}
	var obj struct {
		Error json.RawMessage `json:"error"`
	}
	if raw[0] == '[' || json.Unmarshal(raw, &obj) != nil {
		return "", true
	}
	if json.Unmarshal(obj.Error, &said) == nil {
		if slices.Contains(noError, strings.ToLower(strings.TrimSpace(said))) {
			return "", true
		}
		return said, true
	}
	switch value := bytes.TrimSpace(obj.Error); string(value) {
	case "", "null", "false", "0", "{}", "[]":
		return "", true
	default:
		return string(value), true
	}
}

// isErrorPage reports whether the title of a fetched page is nothing but an HTTP error status.
func isErrorPage(text string) bool {
	title, ok := strings.CutPrefix(firstLine(text), "# ")
	if !ok {
		return false
	}
	title = strings.ToLower(strings.Trim(title, " .!"))
	for code := 400; code < 600; code++ {
		phrase, num := strings.ToLower(http.StatusText(code)), strconv.Itoa(code)
		if phrase != "" && (title == phrase || title == num || title == num+" "+phrase ||
			title == num+" - "+phrase || title == num+": "+phrase || title == "error "+num) {
			return true
		}
	}
	return false
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}
