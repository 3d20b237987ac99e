package gateways

import (
	"net/http"
	"strings"
)

// Errand is a request to a route that asks the store.
type Errand struct {
	Method, Path, Body string
	// End is what an answer ends with that begins before the store is asked for the last time: it is cut off where that
	// fails.
	End string
	// Before makes what is needed anew for each try.
	Before func()
}

// The ends of the answers that begin early.
const (
	StreamEnd = "event: end"
	StateEnd  = `"messages":`
	LogEnd    = `{"run":`
)

// Away has the store refuse each call of each request once: the client is told to come again, and never that all went
// well.
func (k *Kit) Away(list []Errand) {
	k.T.Helper()
	for _, e := range list {
		n := int64(1)
		for k.away(e, n) {
			n++
		}
		if n == 1 {
			k.T.Errorf("%s %s asks the store nothing", e.Method, e.Path)
		}
	}
}

// away reports whether a request has so many calls, of which the last one is refused.
func (k *Kit) away(e Errand, n int64) bool {
	k.T.Helper()
	if e.Before != nil {
		e.Before()
	}
	tr := &Trouble{N: n}
	w, cut := k.Cut(Troubled(k.Request(e.Method, k.Fill(e.Path), k.Fill(e.Body)), tr))
	ends := strings.Contains(w.Body.String(), e.End)
	if tr.Calls.Load() < n {
		if cut || w.Code >= 300 || !ends {
			k.T.Errorf("%s %s is no good request: %d %s", e.Method, e.Path, w.Code, w.Body)
		}
		return false
	}
	if e.End != "" && w.Code == http.StatusOK && cut == (e.End == StateEnd) && !ends {
		return true
	}
	const want = `{"detail":"The server's database cannot be reached; try again"}`
	if w.Code != http.StatusServiceUnavailable || w.Body.String() != want || w.Header().Get("Retry-After") != "5" {
		k.T.Errorf("%s %s, call %d: %d %.300s", e.Method, e.Path, n, w.Code, w.Body)
	}
	return true
}
