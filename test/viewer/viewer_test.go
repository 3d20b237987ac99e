package viewer

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// judge notes that a comparison failed.
type judge struct {
	testing.TB
	failed bool
}

func (j *judge) Helper()               {}
func (j *judge) Errorf(string, ...any) { j.failed = true }

func TestCompare(t *testing.T) {
	value := func(id string) Frame { return Frame{id, "values", "{}"} }
	piece := func(id string) Frame {
		return Frame{id, "messages", `[{"type":"AIMessageChunk","chunk_position":null}]`}
	}
	resumed := Frame{"2-3", "custom", `{"type":"run_resumed"}`}
	all := []Frame{value("1-1"), resumed, piece("2-4.1"), value("2-4"), {"2-5", "end", "{}"}}
	for name, c := range map[string]struct {
		seen []Frame
		void int
		bad  bool
	}{
		"the same": {seen: all},
		"pieces that were cut off": {seen: slices.Insert(slices.Clone(all), 1, piece("1-2.1"), piece("1-2.2")),
			void: 2},
		"a frame is missing":           {seen: slices.Delete(slices.Clone(all), 3, 4), bad: true},
		"the end is missing":           {seen: all[:4], bad: true},
		"a frame came twice":           {seen: slices.Insert(slices.Clone(all), 1, all[0]), bad: true},
		"a frame that nobody else saw": {seen: slices.Insert(slices.Clone(all), 1, value("1-2")), bad: true},
		"a void piece of this attempt": {seen: slices.Insert(slices.Clone(all), 3, piece("2-4.2")), bad: true},
		"other bytes":                  {seen: append([]Frame{{"1-1", "values", "{ }"}}, all[1:]...), bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			j := &judge{TB: t}
			if void := Compare(j, c.seen, all); j.failed != c.bad || !c.bad && void != c.void {
				t.Errorf("failed: %t, %d void", j.failed, void)
			}
		})
	}
	j := &judge{TB: t}
	silent := slices.Delete(slices.Clone(all), 1, 2)
	if Compare(j, slices.Insert(slices.Clone(silent), 1, piece("1-2.1")), silent); !j.failed {
		t.Error("void pieces of which nothing said so")
	}
}

// TestFollow: connections that end early are made again, with the last id and the place that the server named.
func TestFollow(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Location", "/run")
		switch len(asked) {
		case 1:
			fmt.Fprint(w, "id: 1-1\nevent: values\ndata: {}\n\nid: 1-2\nevent: val")
		case 2:
			http.Error(w, "not now", http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, ": still here\n\nid: 1-2\nevent: end\ndata: {}\n\n")
		}
	}))
	defer srv.Close()
	v := Follow(t, 10*time.Second, func(ctx context.Context, location string) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+location, http.NoBody)
	})
	v.End()
	if d := cmp.Diff([]string{"/ ", "/run 1-1", "/run 1-1"}, asked); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Frame{{"1-1", "values", "{}"}, {"1-2", "end", "{}"}}, v.Seen()); d != "" ||
		len(v.Times()) != 2 || v.Connected() != 3 {
		t.Errorf("%s, %d connections", d, v.Connected())
	}
	if strings.Contains(v.Location(), "http") {
		t.Errorf("the location is %s", v.Location())
	}
}
