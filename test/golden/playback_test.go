package golden

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// player answers with what a recording asks for, so that the replayer can be tested without a server.
type player struct {
	mu   sync.Mutex
	rec  *Recording
	next int
	vars Vars
	// spoil changes an answer before it is sent.
	spoil func(e *Exchange, a *answer)
}

type answer struct {
	status int
	heads  map[string]string
	body   any
	frames []Frame
	json   bool // there is a body, be it null
}

func (p *player) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.next < len(p.rec.Exchanges) && IsLeftOut(p.rec.Name, &p.rec.Exchanges[p.next]) {
		p.next++
	}
	if p.next == len(p.rec.Exchanges) {
		http.Error(w, "the recording is over", http.StatusTeapot)
		return
	}
	e := &p.rec.Exchanges[p.next]
	p.next++
	body, err := io.ReadAll(req.Body)
	if err != nil || e.Method != req.Method || !match(e.Path, req.RequestURI, p.vars) {
		http.Error(w, fmt.Sprintf("expected %s %s, %v", e.Method, e.Path, err), http.StatusTeapot)
		return
	}
	match(e.Body, string(body), p.vars) // sets the variables of the body
	a := p.answer(e)
	if p.spoil != nil {
		p.spoil(e, a)
	}
	send(w, a)
}

func (p *player) answer(e *Exchange) *answer {
	a := &answer{status: e.Status, heads: map[string]string{}}
	if i := find(changed(), p.rec.Name, e); i >= 0 && changed()[i].Status != 0 {
		a.status = changed()[i].Status
	}
	for name, pattern := range e.Heads {
		a.heads[name] = p.text(pattern)
	}
	switch {
	case a.status >= 400 && (p.rec.Set() == "langgraph" || e.JSON == nil):
		a.body, a.json = map[string]any{"detail": "no"}, true
	case e.Stream != nil:
		a.frames = p.frames(e.Stream)
	case e.JSON != nil:
		a.body, a.json = p.sample(e.JSON), true
	}
	return a
}

func (p *player) frames(s *Stream) (list []Frame) {
	order := slices.Sorted(maps.Keys(s.Events))
	order = slices.DeleteFunc(order, func(k string) bool { return k == s.First || k == s.Last })
	order = append([]string{s.First}, order...)
	if s.Last != s.First {
		order = append(order, s.Last)
	}
	for i, key := range order {
		name, kind, _ := strings.Cut(key, ":")
		f := Frame{Event: name, ID: fmt.Sprintf("1-%d", i), Data: p.sample(s.Events[key])}
		if strings.HasSuffix(name, "|") {
			f.Event += "tools:x"
		}
		if m, ok := f.Data.(map[string]any); ok && name == "messages" {
			if message, ok := m["message"].(map[string]any); ok {
				message["type"] = kind
			}
			f.Data = []any{m["message"], m["metadata"]}
		}
		list = append(list, f)
	}
	return list
}

// sample makes a value of a shape.
func (p *player) sample(s *Shape) any {
	switch {
	case s == nil:
		return nil
	case s.Kind == String:
		return "x"
	case s.Kind == Number:
		return 7
	case s.Kind == Boolean:
		return true
	case s.Kind == Literal:
		return p.text(s.Text)
	case s.Kind == Is:
		return json.RawMessage(s.Text)
	case s.Kind == Exactly || s.Kind == Mixed:
		list := []any{}
		for _, row := range s.Rows {
			list = append(list, p.sample(row))
		}
		return list
	case s.Kind == Array && s.Items == nil:
		return []any{}
	case s.Kind == Array:
		return []any{p.sample(s.Items)}
	case s.Kind == Object:
		m := map[string]any{}
		for key, field := range s.Fields {
			m[p.text(key)] = p.sample(field)
		}
		return m
	}
	return nil
}

func (p *player) text(pattern string) string {
	for _, name := range variable.FindAllStringSubmatch(pattern, -1) {
		if _, ok := p.vars[name[1]]; !ok {
			p.vars[name[1]] = randomUUID()
		}
	}
	return strings.ReplaceAll(fill(pattern, p.vars), "*", "anything")
}

func send(w http.ResponseWriter, a *answer) {
	for name, value := range a.heads {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	for _, f := range a.frames {
		raw, err := json.Marshal(f.Data)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\nid: %s\n\n", f.Event, raw, f.ID)
	}
	if a.json {
		json.NewEncoder(w).Encode(a.body)
	}
}

func newUsed() *used {
	return &used{rules: uses{}, finds: uses{}}
}

// playOnce plays a recording back, spoiled.
func playOnce(t *testing.T, rec *Recording, spoil func(*Exchange, *answer)) []string {
	t.Helper()
	server := httptest.NewServer(&player{rec: rec, vars: Vars{}, spoil: spoil})
	defer server.Close()
	r := &replayer{base: server.URL, rec: rec, used: newUsed(), vars: Vars{}}
	return r.replay(t.Context())
}

// TestPlayback plays each recording back to the replayer, which must find nothing wrong with it.
func TestPlayback(t *testing.T) {
	for _, rec := range recordings(t) {
		t.Run(rec.Name, func(t *testing.T) {
			// the player knows one exchange after the other only, and those of the recording
			for i := range rec.Exchanges {
				rec.Exchanges[i].Overlaps, rec.Exchanges[i].NeedsThread, rec.Exchanges[i].NeedsRun = false, "", ""
			}
			for _, f := range playOnce(t, &rec, nil) {
				t.Error(f)
			}
		})
	}
}
