package golden

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// prepare makes what was there before the trace began. What it cannot make shows when it is asked for.
func (r *replayer) prepare(ctx context.Context, e *Exchange) {
	api := r.base
	if r.rec.Set() == "gateway" {
		api += "/api"
	}
	var past Past
	if r.past {
		past = pasts()[fmt.Sprintf("%s, exchange %d", r.rec.Name, e.N)]
	}
	if e.NeedsThread != "" && !past.Absent {
		r.post(ctx, api+"/threads", `{"thread_id":"${`+e.NeedsThread+`}","metadata":{`+past.Metadata+`}}`)
	}
	thread := regexp.MustCompile(`/threads/[^/]+`).FindString(e.Path)
	if past.Said != "" {
		r.post(ctx, api+thread+"/runs/wait", `{"assistant_id":"lead_agent","input":{"messages":"`+past.Said+
			`"},"config":{"recursion_limit":100}}`)
	}
	for _, said := range past.Talk {
		r.post(ctx, api+thread+"/runs/wait",
			`{"assistant_id":"lead_agent","input":{"messages":[{"role":"user","content":[{"type":"text","text":"`+said+
				`"}]}]},"config":{"recursion_limit":100},"context":{"model_name":"`+cmp.Or(past.Model, "fake")+`"}}`)
	}
	for _, did := range past.Runs {
		r.did(ctx, api+thread, did)
	}
	r.name(ctx, api+thread+"/messages?limit=200", past.Names)
	for i := range past.Facts {
		r.post(ctx, api+"/memory/facts", fmt.Sprintf(`{"content":"fact %d","confidence":0.8}`, i))
	}
	for _, name := range past.Gone {
		r.send(ctx, http.MethodDelete, api+"/skills/custom/"+name, "")
	}
	if past.Quiet {
		r.awaitQuiet(ctx, api+regexp.MustCompile(`/threads/[^/]+`).FindString(e.Path))
	}
	if e.NeedsRun == "" || r.made[e.NeedsRun] {
		return
	}
	resp := r.post(ctx, api+thread+"/runs/stream",
		`{"assistant_id":"lead_agent","input":{"messages":[{"role":"user","content":"hello"}]}}`)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.vars, e.NeedsRun)
	match("*/runs/${"+e.NeedsRun+"}", resp.Get("Content-Location"), r.vars)
}

// did has a run do what it is told to, and gives a variable its id.
func (r *replayer) did(ctx context.Context, url string, did Did) {
	resp := r.post(ctx, url+"/runs/wait",
		`{"assistant_id":"lead_agent","input":{"messages":[{"type":"human","content":[{"type":"text","text":"`+did.Said+
			`"}]}]}}`)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made == nil {
		r.made = make(map[string]bool)
	}
	r.made[did.Run] = true
	delete(r.vars, did.Run)
	match("*/runs/${"+did.Run+"}", resp.Get("Content-Location"), r.vars)
}

// name gives variables the ids of messages, and their places.
func (r *replayer) name(ctx context.Context, url string, names map[string]string) {
	if len(names) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fill(url, r.vars), http.NoBody)
	if err != nil {
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	var rows []struct {
		Content struct{ ID, Type string }
		Seq     int
	}
	if json.NewDecoder(resp.Body).Decode(&rows) != nil {
		return
	}
	ids, seen := make(map[string]string), make(map[string]int)
	for _, row := range rows {
		name := fmt.Sprint(row.Content.Type, " ", seen[row.Content.Type])
		ids[name], ids["place of "+name] = row.Content.ID, fmt.Sprint(row.Seq)
		seen[row.Content.Type]++
	}
	for variable, message := range names {
		r.vars[variable] = ids[message]
	}
}

// awaitQuiet waits until a thread has no active run. One that never comes to that shows by the exchange that follows.
func (r *replayer) awaitQuiet(ctx context.Context, url string) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	r.mu.Lock()
	url = fill(url, r.vars)
	r.mu.Unlock()
	for ctx.Err() == nil {
		var thread struct{ Status string }
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		err = json.NewDecoder(resp.Body).Decode(&thread)
		resp.Body.Close()
		if err != nil || thread.Status != "busy" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// post sends a request of the preparation, reads the answer to its end and returns its headers.
func (r *replayer) post(ctx context.Context, url, body string) http.Header {
	return r.send(ctx, http.MethodPost, url, body)
}

func (r *replayer) send(ctx context.Context, method, url, body string) http.Header {
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	r.mu.Lock()
	url, body = fill(url, r.vars), fill(body, r.vars)
	r.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Header
}
