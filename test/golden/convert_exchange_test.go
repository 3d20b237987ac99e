package golden

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// converter makes one recording. It gives ids names: first those in requests that no response had before, which the
// client made up, and those of responses that a later request needs.
type converter struct {
	set    string
	vars   map[string]string // the name of each id
	needed map[string]bool   // ids that stand in a request
	there  map[string]bool   // variables of threads and runs that exist by now
	cut    []*Shape          // lists of which a few rows are shown
	exact  bool              // values are compared, as they follow from the requests alone
}

const uuidText = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

var (
	// uuid is what ids are; those of messages may have more around it, and those of facts are shorter.
	uuid = regexp.MustCompile(`lc_run--` + uuidText + `(?:-\d+)?|` + uuidText + `(?:__user)?|fact_[0-9a-f]{8}`)
	// alike stands for rows of a list that are not shown.
	alike = regexp.MustCompile(`\n\.\.\. \d+ rows of the same kind \.\.\.\n`)
	// leftOutFrames are frames that a trace does not show.
	leftOutFrames = regexp.MustCompile("\\.\\.\\. \\d+ `(\\w+)` frames left out")
	// ofState are the routes that answer with the values of the graph's state.
	ofState = regexp.MustCompile(`/(wait|join)(\?|$)`)
	// system are the ids of the built-in assistants of the server that was recorded.
	system = regexp.MustCompile(`8b184351-3358-5cdd-b03b-9a70de2251e5|bee7d354-5df5-5f26-a978-10ea053f620d`)
)

func convert(name string, traces []trace) Recording {
	set, _, _ := strings.Cut(name, "/")
	c := &converter{set: set, vars: map[string]string{}, needed: map[string]bool{}, there: map[string]bool{},
		exact: exact(name)}
	for i := range traces {
		adapt(set, &traces[i])
		for _, id := range uuid.FindAllString(request(&traces[i]), -1) {
			c.needed[id] = true
		}
	}
	r := Recording{Name: name}
	for i := range traces {
		if traces[i].absent {
			continue
		}
		r.Exchanges = append(r.Exchanges, c.exchange(name, traces, i))
	}
	var rows *Shape // of all that are shown, as the others are of their kinds
	for _, list := range c.cut {
		rows = Merge(rows, list.Items)
	}
	for _, list := range c.cut {
		list.Items = rows
	}
	return r
}

var (
	threadInPath = regexp.MustCompile(`/threads/\$\{(n\d+)\}`)
	runInPath    = regexp.MustCompile(`/runs/\$\{(n\d+)\}`)
	threadInBody = regexp.MustCompile(`"thread_id": ?"\$\{(n\d+)\}"`)
)

// needs notes what a request takes for granted: a thread that no earlier one made, a run that no earlier one started.
func (c *converter) needs(t *trace, e *Exchange) {
	if e.Method == http.MethodPost && strings.HasSuffix(e.Path, "/threads") ||
		strings.Contains(e.Body, `"if_not_exists":"create"`) {
		for _, m := range append(threadInBody.FindAllStringSubmatch(e.Body, -1),
			threadInPath.FindAllStringSubmatch(e.Path, -1)...) {
			c.there[m[1]] = c.there[m[1]] || t.status < 300
		}
		return
	}
	missing := t.status == 404 && !strings.HasPrefix(t.answer, `{"detail":"Message `)
	if missing || c.set == "gateway" && strings.Contains(e.Path, "/uploads") {
		return
	}
	if m := threadInPath.FindStringSubmatch(e.Path); m != nil && !c.there[m[1]] {
		e.NeedsThread, c.there[m[1]] = m[1], true
	}
	if m := runInPath.FindStringSubmatch(e.Path); m != nil && !c.there[m[1]] {
		e.NeedsRun, c.there[m[1]] = m[1], true
	}
}

func request(t *trace) string {
	return t.path + "\n" + t.headers["last-event-id"] + "\n" + t.body
}

func (c *converter) exchange(name string, traces []trace, i int) Exchange {
	t := &traces[i]
	e := Exchange{N: t.n, Method: t.method, Path: c.madeUp(t.path), Headers: c.headers(t), Status: t.status}
	if e.LeftOut = IsLeftOut(name, &e); e.LeftOut {
		e.Headers, e.Status = nil, 0
		c.name(request(t), "n")
		c.name(t.answer, "c")
		return e
	}
	e.Body = c.madeUp(t.body)
	c.needs(t, &e)
	c.name(t.answer+"\n"+t.heads["content-location"], "c")
	e.Heads = c.heads(t)
	c.body(t, &e)
	e.Overlaps = i+1 < len(traces) && t.ended > traces[i+1].began
	return e
}

// name gives the ids of a text that requests need names of a kind.
func (c *converter) name(text, kind string) {
	for _, id := range uuid.FindAllString(text, -1) {
		if _, ok := c.vars[id]; !ok && c.needed[id] {
			c.vars[id] = fmt.Sprintf("%s%d", kind, len(c.vars)+1)
		}
	}
}

// madeUp replaces the ids of a request by their names; new ones are the client's.
func (c *converter) madeUp(text string) string {
	c.name(text, "n")
	return c.names(text)
}

// names replaces the ids that have names.
func (c *converter) names(text string) string {
	return uuid.ReplaceAllStringFunc(text, func(id string) string {
		if name, ok := c.vars[id]; ok {
			return "${" + name + "}"
		}
		return id
	})
}

func (c *converter) known(id string) (string, bool) {
	name, ok := c.vars[id]
	return "${" + name + "}", ok
}

// pattern is a text in which ids without a name, times and host paths stand for anything.
func (c *converter) pattern(text string) string {
	text = strings.ReplaceAll(text, "*", "?")
	text = uuid.ReplaceAllStringFunc(text, func(id string) string {
		if name, ok := c.known(id); ok {
			return name
		}
		return "*"
	})
	return strings.ReplaceAll(text, "<DATA>", "*")
}

// headers are those of a request that change the answer.
func (c *converter) headers(t *trace) map[string]string {
	out := map[string]string{}
	for name, value := range t.headers {
		keep := slices.Contains([]string{"last-event-id", "range", "if-range", "if-none-match", "if-match", "prefer",
			"origin"}, name) ||
			name == "content-type" && value != "application/json"
		if keep {
			out[name] = c.madeUp(value)
		}
	}
	return out
}

// heads are those of a response that clients rely on.
func (c *converter) heads(t *trace) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"content-type", "content-location", "content-range", "content-disposition",
		"accept-ranges",
		"x-accel-buffering"} {
		value, ok := t.heads[name]
		if !ok || name == "content-type" && t.status >= 400 {
			continue
		}
		switch {
		case name == "content-location":
			value = "*" + strings.TrimPrefix(c.pattern(value), "/api")
		case strings.HasPrefix(value, "multipart/byteranges"):
			value = "multipart/byteranges*"
		case name == "content-type":
			value, _, _ = strings.Cut(value, ";")
			value += "*"
		}
		out[name] = value
	}
	if strings.HasSuffix(t.path, "/runs/wait") && t.status < 400 {
		out["content-type"] = "application/json*" // the recorded server calls its JSON text/plain
	}
	return out
}

func (c *converter) body(t *trace, e *Exchange) {
	if strings.HasPrefix(t.heads["content-type"], "text/event-stream") {
		e.Stream = c.stream(t, e)
		return
	}
	first, _, _ := strings.Cut(t.answer, "\n")
	rows := alike.ReplaceAllString(t.answer, "")
	if rows != t.answer {
		first = rows
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(first))
	dec.UseNumber()
	if dec.Decode(&v) != nil || strings.Contains(first, "   (extract") || strings.Contains(t.path, "/artifacts/") &&
		t.status < 400 {
		return
	}
	e.JSON = c.shape("", v)
	if list := e.JSON.Fields["data"]; rows != t.answer && list != nil {
		c.cut = append(c.cut, list)
	}
	if c.set == "langgraph" && ofState.MatchString(t.path) {
		e.JSON = &Shape{Kind: Object}
	}
}

// asChunk gives a chunk of an AI message the type that it has in our streams, as in those of LangGraph's own server.
func asChunk(set string, data any) any {
	if pair, ok := data.([]any); ok && set == "langgraph" && len(pair) == 2 {
		if m, ok := pair[0].(map[string]any); ok && m["type"] == "ai" {
			m["type"] = "AIMessageChunk"
		}
	}
	return data
}

func (c *converter) stream(t *trace, e *Exchange) *Stream {
	frames, err := ReadFrames(strings.NewReader(t.answer+"\n\n"), 0)
	if err != nil || len(frames) == 0 {
		return nil
	}
	s := &Stream{First: frames[0].Key(), Last: frames[len(frames)-1].Key(), Events: map[string]*Shape{}}
	for i := range frames {
		f := &frames[i]
		if c.set == "langgraph" {
			f.Event, _, _ = strings.Cut(f.Event, "|")
		}
		key, _, _ := strings.Cut(f.Event, "|")
		if key == "messages" { // a pair of a message and its metadata
			key = ""
			f.Data = asChunk(c.set, f.Data)
		}
		if f.Event == "updates" || f.Event == "custom" || f.Event == "values" && c.set == "langgraph" {
			s.Events[f.Key()] = &Shape{Kind: Object}
			continue
		}
		shape := c.shape(key, f.Value())
		if shape.Kind == Object { // of the pairs of a message
			keep(shape.Fields["metadata"], "langgraph_node", "langgraph_step", "langgraph_triggers", "langgraph_path",
				"langgraph_checkpoint_ns", "source", "step", "parents")
		}
		s.Events[f.Key()] = Merge(s.Events[f.Key()], shape)
	}
	for _, m := range leftOutFrames.FindAllStringSubmatch(t.answer, -1) {
		if s.Events[m[1]] == nil && m[1] != "messages" { // those are by the type of the message
			s.Events[m[1]] = &Shape{}
		}
	}
	if c.set == "langgraph" { // it just closes the stream; ours says that it is over
		s.Last, s.Events["end"] = "end", &Shape{}
	}
	if t.cutShort {
		e.HangUp = min(len(frames), 5)
	}
	return s
}
