package loopdetection

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// bucket is how many lines of a file count as one place: reading a file piece by piece asks for different things, and
// moving the ends by some lines does not.
const bucket = 200

// salient are the arguments that tell what a call asks for. The others say how, or why.
var salient = []string{"path", "url", "query", "command", "pattern", "glob", "cmd"}

// made is a call as it was answered.
type made struct {
	call
	said bool // there is a result, and it is no failure
	done bool // the call had success, and was made for what it does
}

// callsOf returns the calls of a message with their results, in call order.
func callsOf(asked message.Message, results []message.Message) []made {
	answers := make(map[string]*message.Message, len(results))
	for i := range results {
		answers[results[i].ToolCallID] = &results[i]
	}
	calls := make([]made, 0, len(asked.ToolCalls)+len(asked.InvalidToolCalls))
	add := func(id, name, key string) {
		c := made{call: call{Tool: clip(name), Key: key}}
		if m := answers[id]; m != nil {
			c.said, c.done, c.Result = m.Status != message.StatusError, done(name, m), digest(name, resultKey(m))
		}
		calls = append(calls, c)
	}
	for _, c := range asked.ToolCalls {
		add(c.ID, c.Name, callKey(c.Name, c.Args))
	}
	for _, c := range asked.InvalidToolCalls {
		add(c.ID, c.Name, digest(c.Name, "invalid", c.Args))
	}
	return calls
}

// callKey is equal for calls that ask for the same thing.
func callKey(name string, args json.RawMessage) string {
	members, ok := rawjson.Members(args)
	if !ok {
		return digest(name, string(args))
	}
	switch name {
	case "read_file":
		return digest(name, plain(members["path"]), lineBucket(members["start_line"]), lineBucket(members["end_line"]))
	case "write_file", "str_replace":
		return digest(name, whole(members))
	}
	parts, some := append(make([]string, 0, 1+len(salient)), name), false
	for _, k := range salient {
		v := plain(members[k])
		parts, some = append(parts, v), some || v != ""
	}
	if !some {
		return digest(name, whole(members))
	}
	return digest(parts...)
}

// whole is all arguments but the description, which only says why.
func whole(members map[string]json.RawMessage) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(members)) {
		if v := plain(members[k]); k != "description" && v != "" {
			b.WriteString(strconv.Quote(k) + ":" + strconv.Itoa(len(v)) + ":" + v)
		}
	}
	return b.String()
}

// plain is a value as text: a string's own text, and anything else without white space. Null is nothing.
func plain(raw json.RawMessage) string {
	if s, ok := rawjson.String(raw); ok || rawjson.IsNull(raw) {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil || b.String() == "null" {
		return ""
	}
	return b.String()
}

func lineBucket(raw json.RawMessage) string {
	s := plain(raw)
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n > 1e9 {
		return s
	}
	return strconv.Itoa(int(n) / bucket)
}

// resultKey is equal for results that say the same.
func resultKey(m *message.Message) string {
	parts := []string{m.Status, stable(m.Text())}
	for _, p := range m.Content {
		switch p.Type {
		case message.PartImage:
			parts = append(parts, p.URL)
		case message.PartRaw:
			parts = append(parts, string(p.Raw))
		}
	}
	return digest(parts...)
}

// stable takes the name of the file out of a long result that was moved into one: each time it is another file.
func stable(text string) string {
	const begin, end = " output saved to ", " ("
	line, _, _ := strings.Cut(text, "\n")
	_, path, moved := strings.Cut(line, begin)
	path, _, named := strings.Cut(path, end)
	if !moved || !named || path == "" || !strings.HasPrefix(line, "[Full ") {
		return text
	}
	return strings.ReplaceAll(text, path, "")
}

// longestDone bounds a result that says no more than that the call was done, in bytes.
const longestDone = 80

// doneWords begin a result that says no more than that.
var doneWords = []string{"ok", "done", "success", "true", "created", "updated", "saved", "wrote", "written", "deleted",
	"(no output)"}

// doers are tools that are called for what they do, whatever their results say.
var doers = []string{"write_file", "str_replace", "write_todos", "present_files"}

// done reports whether a call had success and was made for what it does: its result need not say anything.
func done(name string, m *message.Message) bool {
	text := strings.TrimSpace(m.Text())
	if m.Status == message.StatusError || strings.HasPrefix(text, "Error") {
		return false
	}
	if slices.Contains(doers, name) {
		return true
	}
	text = strings.ToLower(text)
	return len(text) <= longestDone &&
		(text == "" || slices.ContainsFunc(doneWords, func(w string) bool { return strings.HasPrefix(text, w) }))
}

// digest is a short text that is equal for equal parts, and else different.
func digest(parts ...string) string {
	b := make([]byte, 0, 256)
	for _, p := range parts {
		b = strconv.AppendInt(b, int64(len(p)), 10)
		b = append(append(b, ':'), p...)
	}
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// clip bounds a name that a model made up.
func clip(name string) string {
	const most = 64
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "")
}
