package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/id"
)

// toy speaks as much of the LangGraph API as the measurements need. It keeps what a step did when the step has ended,
// and goes on with unfinished runs when it is started again.
type toy struct {
	model, dir, fault string

	mu   sync.Mutex
	runs map[string]*toyRun
	all  sync.WaitGroup
}

// toyRun is a run and, in JSON lines, its file.
type toyRun struct {
	ID, Thread, Text string
	file             string

	mu      sync.Mutex
	attempt int
	steps   int
	frames  []toyFrame // kept and live
	kept    int
	changed chan struct{}
	done    bool
}

// toyFrame is a frame; Step says how many steps had ended with it.
type toyFrame struct {
	ID, Event, Data string
	Attempt, Step   int
}

func toyMain(args []string) int {
	flags := flag.NewFlagSet("toy", flag.ContinueOnError)
	addr, data, config := flags.String("addr", "", ""), flags.String("data", "", ""), flags.String("config", "", "")
	fault := flags.String("fault", "", "")
	flags.String("database", "", "")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *fault == "dead" {
		fmt.Fprintln(os.Stderr, "no such luck")
		return 1
	}
	text, err := os.ReadFile(*config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.MkdirAll(*data, 0o700)
	t := &toy{model: regexp.MustCompile(`base_url: "([^"]+)/v1"`).FindStringSubmatch(string(text))[1], dir: *data,
		fault: *fault}
	t.restore()
	fmt.Fprintf(os.Stderr, "the toy is ready at http://%s\n", l.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(l, t.routes()))
	return 1
}

// modelMain is the model server as `pudu-bench model` is.
func modelMain(args []string) int {
	flags := flag.NewFlagSet("model", flag.ContinueOnError)
	addr := flags.String("addr", "", "")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	m, err := StartModel(context.Background(), *addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stderr, "the model is ready at "+m.URL)
	<-m.failed
	return 1
}

func (t *toy) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /threads/{thread}/runs/stream", t.create)
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "event: counts\ndata: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("GET /threads/{thread}/runs/{run}/stream", func(w http.ResponseWriter, r *http.Request) {
		t.mu.Lock()
		run := t.runs[r.PathValue("run")]
		t.mu.Unlock()
		if run == nil {
			http.Error(w, "no such run", http.StatusNotFound)
			return
		}
		last := r.Header.Get("Last-Event-ID")
		if t.fault == "double" {
			last = "-1"
		}
		run.serve(w, r, last, t.fault == "lose" && last != "-1")
	})
	return mux
}

func (t *toy) create(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Input struct {
			Messages []struct{ Content string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Input.Messages) != 1 {
		http.Error(w, fmt.Sprint("bad body: ", err), http.StatusUnprocessableEntity)
		return
	}
	if t.fault == "broken" {
		http.Error(w, "the disk is full", http.StatusInternalServerError)
		return
	}
	run := &toyRun{ID: id.New(time.Now()), Thread: r.PathValue("thread"), Text: req.Input.Messages[0].Content,
		changed: make(chan struct{}), attempt: 1}
	t.begin(run)
	w.Header().Set("Content-Location", "/threads/"+run.Thread+"/runs/"+run.ID)
	run.serve(w, r, "-1", false)
}

func (t *toy) begin(run *toyRun) {
	run.file = filepath.Join(t.dir, run.ID+".json")
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs == nil {
		t.runs = map[string]*toyRun{}
	}
	t.runs[run.ID] = run
	t.all.Go(func() { t.carryOut(run) })
}

func (t *toy) restore() {
	files, _ := filepath.Glob(filepath.Join(t.dir, "*.json"))
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			panic(err)
		}
		run := &toyRun{changed: make(chan struct{})}
		dec := json.NewDecoder(f)
		if dec.Decode(run) != nil {
			continue
		}
		for fr := (toyFrame{}); dec.Decode(&fr) == nil; fr = (toyFrame{}) {
			run.frames = append(run.frames, fr)
			run.attempt, run.steps, run.done = fr.Attempt, fr.Step, fr.Event == "end"
		}
		f.Close()
		run.attempt, run.kept = run.attempt+1, len(run.frames)
		if !run.done {
			t.begin(run)
		} else {
			t.mu.Lock()
			if t.runs == nil {
				t.runs = map[string]*toyRun{}
			}
			t.runs[run.ID] = run
			t.mu.Unlock()
		}
	}
}

// carryOut calls the model until it has said its last word.
func (t *toy) carryOut(run *toyRun) {
	if len(run.frames) == 0 {
		run.emit("metadata", `{"run_id":"`+run.ID+`"}`)
		run.keep()
	}
	for {
		body := `{"model":"toy","stream":true,"tools":[{}],"messages":[{"role":"user","content":"` + run.Text + `"}` +
			strings.Repeat(`,{"role":"assistant","content":""},{"role":"tool","content":""}`, run.steps) + `]}`
		text, called := t.ask(body, func(token string) {
			run.emit("messages", `[{"type":"AIMessageChunk","content":"`+token+`"},{}]`)
		})
		run.steps++
		if t.fault == "silent" {
			text = ""
		}
		run.emit("values", `{"messages":["`+text+`"]}`)
		if !called {
			run.emit("end", "null")
			run.keep()
			return
		}
		run.keep()
	}
}

// ask calls the model.
func (t *toy) ask(body string, token func(string)) (text string, called bool) {
	resp, err := http.Post(t.model+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return "", false
	}
	defer resp.Body.Close()
	content := regexp.MustCompile(`"content":"([^"]+)"`)
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if m := content.FindSubmatch(lines.Bytes()); m != nil {
			text += string(m[1])
			token(string(m[1]))
		}
		called = called || bytes.Contains(lines.Bytes(), []byte(`"finish_reason":"tool_calls"`))
	}
	return text, called
}

func (r *toyRun) emit(event, data string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := fmt.Sprintf("%d-%d", r.attempt, len(r.frames)+1)
	if event == "end" {
		id, r.done = "", true
	}
	r.frames = append(r.frames, toyFrame{ID: id, Event: event, Data: data, Attempt: r.attempt, Step: r.steps})
	close(r.changed)
	r.changed = make(chan struct{})
}

// keep writes what came since it was called last.
func (r *toyRun) keep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := os.OpenFile(r.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	if r.kept == 0 {
		enc.Encode(map[string]string{"ID": r.ID, "Thread": r.Thread, "Text": r.Text})
	}
	for _, fr := range r.frames[r.kept:] {
		enc.Encode(fr)
	}
	f.Write(b.Bytes())
	r.kept = len(r.frames)
}

// wait returns the frames from at on, when there are some or the run has ended.
func (r *toyRun) wait(req *http.Request, at int) ([]toyFrame, bool) {
	for {
		r.mu.Lock()
		frames, done, changed := r.frames, r.done, r.changed
		r.mu.Unlock()
		if done || len(frames) > at {
			return frames[at:], done
		}
		select {
		case <-changed:
		case <-req.Context().Done():
			return nil, true
		}
	}
}

// serve streams the frames after the one with the id last.
func (r *toyRun) serve(w http.ResponseWriter, req *http.Request, last string, lose bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	http.NewResponseController(w).Flush()
	after := placeOf(last)
	for at := 0; ; {
		frames, done := r.wait(req, at)
		for i, f := range frames {
			if f.ID != "" && placeOf(f.ID) <= after || lose && f.ID != "" && (at+i)%10 == 9 {
				continue
			}
			fmt.Fprintf(w, "event: %s\ndata: %s\n", f.Event, f.Data)
			if f.ID != "" {
				fmt.Fprintf(w, "id: %s\n", f.ID)
			}
			fmt.Fprint(w, "\n")
		}
		at += len(frames)
		http.NewResponseController(w).Flush()
		if done {
			return
		}
	}
}

// placeOf orders the ids of frames.
func placeOf(id string) int64 {
	var attempt, n int64
	fmt.Sscanf(id, "%d-%d", &attempt, &n)
	return attempt<<32 + n
}
