package files_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// desk is a kit with a thread "t" that is there and has a page with files beside it.
func desk(t *testing.T, change func(*gateway.Config)) *gateways.FileKit {
	k := gateways.NewFiles(t, change)
	k.Foreign("theirs")
	k.Run("t", "hello")
	for name, content := range map[string]string{
		"outputs/site/index.html": `<script src="app.js"></script><img src="../p.png">`, "outputs/site/app.js": "let a",
		"outputs/p.png": "\x89PNG", "outputs/d.json": "{}", "outputs/naïve? #1.html": "<p>", "outputs/plain/a.txt": "a",
		"uploads/u.pdf": "%PDF", "workspace/w.txt": "w", "secret.txt": "SECRET",
	} {
		k.Put("t", name, content)
	}
	return k
}

// TestTheTreeOfAThread has sizes, times and who made a file, by pages.
func TestTheTreeOfAThread(t *testing.T) {
	k := desk(t, nil)
	k.Play([]gateways.Scenario{
		{
			Name: "a folder", Method: "GET", Path: "/threads/t/files?path=uploads", Status: 200,
			Want: `[{"path":"/mnt/user-data/uploads/u.pdf","kind":"file","size":4,"modified_at":"*","made_by":{"kind":"upload"}}]`,
		},
		{
			Name: "a page", Method: "GET", Path: "/api/threads/t/files?limit=1&offset=1", Status: 200,
			Want:    `[{"path":"/mnt/user-data/outputs/d.json","kind":"file","size":2,"made_by":null}]`,
			Headers: map[string]string{"X-Pagination-Next": "2"},
		},
		{Name: "what is not there", Method: "GET", Path: "/threads/t/files?path=outputs/none", Status: 404},
		{Name: "elsewhere", Method: "GET", Path: "/threads/t/files?path=../../etc", Status: 403},
		{Name: "too many", Method: "GET", Path: "/threads/t/files?limit=10002", Status: 422},
		{Name: "of others", Method: "GET", Path: "/threads/theirs/files", Status: 404},
	})
}

func unzip(t *testing.T, w *httptest.ResponseRecorder) (names []string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil {
		t.Fatalf("%v: %d %.200s", err, w.Code, w.Body)
	}
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	return names
}

// TestAZipOfSomeFiles, and of all, under a name that says what it is.
func TestAZipOfSomeFiles(t *testing.T) {
	k := desk(t, nil)
	some := k.Do("GET", "/threads/t/files.zip?path=outputs/site&path=uploads/u.pdf", "")
	if got := unzip(t, some); !slices.Equal(got,
		[]string{"outputs/site/", "outputs/site/app.js", "outputs/site/index.html", "uploads/u.pdf"}) {
		t.Errorf("%q", got)
	}
	if h := some.Header(); h.Get("Content-Type") != "application/zip" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v", h)
	}
	if w := k.Do("HEAD", "/threads/t/files.zip", ""); w.Code != 200 || w.Body.Len() > 0 ||
		w.Header().Get("Content-Type") != "application/zip" {
		t.Errorf("its head: %d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	if got := unzip(t, k.Do("GET", "/threads/t/files.zip", "")); len(got) != 13 {
		t.Errorf("all: %q", got)
	}
	for query, want := range map[string]string{
		"?path=outputs/site": "site.zip", "?path=outputs/na%C3%AFve%3F%20%231.html": "na%C3%AFve_%20%231.html.zip",
		"": "hello.zip",
	} {
		got := k.Do("GET", "/threads/t/files.zip"+query, "").Header().Get("Content-Disposition")
		if got != "attachment; filename*=UTF-8''"+want {
			t.Errorf("%s is called %s", query, got)
		}
	}
	for path, status := range map[string]int{"outputs/none": 404, "../../x": 403, "%00": 404} {
		if w := k.Do("GET", "/threads/t/files.zip?path="+path, ""); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := k.Do("GET", "/threads/theirs/files.zip", ""); w.Code != 404 {
		t.Errorf("of others: %d", w.Code)
	}
}

// preview is the URL that shows a file.
func preview(k *gateways.FileKit, path string) string {
	k.T.Helper()
	w := k.Do("GET", "/threads/t/preview?path="+path, "")
	var got struct{ URL string }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
		k.T.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return got.URL
}

// TestAPreview: a page is shown with the files beside it, to who has the link and nothing else, and may reach nothing
// more.
func TestAPreview(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	k := desk(t, func(c *gateway.Config) {
		c.Now = func() time.Time { return now }
	})
	at := preview(k, "outputs/site/index.html")
	link := strings.TrimSuffix(at, "/mnt/user-data/outputs/site/index.html")
	k.Change(func(c *gateway.Config) { c.Guard = gateway.Guard{Token: "x"} })
	load := func(path string, headers ...string) *httptest.ResponseRecorder {
		r := k.Request("GET", path, "")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return k.Send(r)
	}
	for path, want := range map[string]string{
		at: "<script", link + "/mnt/user-data/outputs/site/app.js": "let a", link +
			"/mnt/user-data/outputs/p.png": "\x89PNG", link + "/mnt/user-data/outputs/site/": "<script", link +
			"/mnt/user-data/uploads/u.pdf": "%PDF",
		"/api" + at: "<script",
	} {
		w := load(path, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors")
		h := w.Header()
		if w.Code != 200 || !strings.HasPrefix(w.Body.String(), want) || h["Set-Cookie"] != nil {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		policy := h.Get("Content-Security-Policy")
		below, _, _ := strings.Cut(path, "/mnt")
		if !strings.HasPrefix(policy, "sandbox allow-scripts allow-forms; default-src 'none'; ") ||
			strings.Contains(policy, "same-origin") ||
			!strings.Contains(policy, "img-src localhost:2026"+below+"/ data: blob:;") {
			t.Errorf("%s: %s", path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" ||
			!strings.HasPrefix(h.Get("Content-Disposition"), "inline") {
			t.Errorf("%s: %v", path, h)
		}
	}
	for name, c := range map[string]struct {
		path    string
		headers []string
		status  int
	}{
		"a font of a page of nobody": {link + "/mnt/user-data/outputs/p.png", []string{"Origin", "null"}, 200},
		"a part": {link + "/mnt/user-data/outputs/site/app.js", []string{"Range", "bytes=0-2"},
			206},
		"a folder":                {link + "/mnt/user-data/outputs/site", nil, 302},
		"a folder without a page": {link + "/mnt/user-data/outputs/plain/", nil, 404},
		"what is not there":       {link + "/mnt/user-data/outputs/none", nil, 404},
		"out of the folders":      {link + "/mnt/user-data/../../secret.txt", nil, 403},
		"another folder":          {link + "/etc/passwd", nil, 400},
		"a link that is none":     {"/preview/x/mnt/user-data/outputs/p.png", nil, 404},
		"a changed one":           {link + "A/mnt/user-data/outputs/p.png", nil, 404},
		"another route":           {"/threads/t/files", []string{"Origin", "null"}, 403},
	} {
		if w := load(c.path, c.headers...); w.Code != c.status || strings.Contains(w.Body.String(), "SECRET") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if to := load(link + "/mnt/user-data/outputs/site").Header().Get("Location"); to != "./site/" {
		t.Errorf("a folder is at %s", to)
	}
	now = now.Add(2 * time.Hour)
	if w := load(at); w.Code != http.StatusGone {
		t.Errorf("two hours later: %d %s", w.Code, w.Body)
	}
	now = now.Add(-2 * time.Hour)
	if err := k.Data().DeleteThread(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if w := load(at); w.Code != 404 {
		t.Errorf("of a thread that is gone: %d", w.Code)
	}
}

// TestLinksToPreviews are made for files that are there, by who may look at them.
func TestLinksToPreviews(t *testing.T) {
	k := desk(t, nil)
	if at := preview(k, "outputs/site"); !strings.HasSuffix(at, "/mnt/user-data/outputs/site/index.html") ||
		!strings.HasPrefix(at, "/preview/") {
		t.Errorf("a folder: %s", at)
	}
	if w := k.Do("GET", preview(k, "outputs/na%C3%AFve%3F%20%231.html"), ""); w.Code != 200 ||
		w.Body.String() != "<p>" {
		t.Errorf("an odd name: %d %s", w.Code, w.Body)
	}
	if w := k.Do("GET", "/api/threads/t/preview?path=outputs/p.png", ""); !strings.Contains(w.Body.String(),
		`"/api/preview/`) {
		t.Errorf("below /api: %s", w.Body)
	}
	for path, status := range map[string]int{
		"/threads/t/preview": 422, "/threads/t/preview?path=outputs/none.html": 404,
		"/threads/t/preview?path=../x": 403, "/threads/theirs/preview?path=outputs/a.txt": 404,
		"/threads/t/preview?path=outputs/plain": 404,
	} {
		if w := k.Do("GET", path, ""); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	r := k.Request("GET", preview(k, "outputs/p.png"), "")
	r.Host = "evil.example"
	if w := k.Send(r); w.Code != 403 {
		t.Errorf("by a name of somebody's: %d", w.Code)
	}
	k.Change(func(c *gateway.Config) { c.Role = access.Viewer })
	preview(k, "outputs/p.png")
}

// TestHostsThatAreNone stand in no policy.
func TestHostsThatAreNone(t *testing.T) {
	k := desk(t, func(c *gateway.Config) { c.Guard = gateway.Guard{Open: true} })
	at := preview(k, "outputs/site/index.html")
	for host, own := range map[string]string{
		"pudu.example": "pudu.example/preview/", "[::1]:2026": "'self'", "a; script-src *": "'self'", "a,b": "'self'",
		"": "'self'",
	} {
		r := k.Request("GET", at, "")
		r.Host = host
		if policy := k.Send(r).Header().Get("Content-Security-Policy"); !strings.Contains(policy, "img-src "+own) {
			t.Errorf("%q: %s", host, policy)
		}
	}
}

// leaving is a client that goes with the first piece that it gets.
type leaving struct {
	http.ResponseWriter

	leave func()
}

func (l leaving) Write(p []byte) (int, error) {
	l.leave()
	return l.ResponseWriter.Write(p)
}

// TestADownloadThatBreaksOff is cut, and does not end as a whole one does.
func TestADownloadThatBreaksOff(t *testing.T) {
	k := desk(t, nil)
	k.Put("t", "outputs/a.png", strings.Repeat("x", 1<<20))
	ctx, leave := context.WithCancel(t.Context())
	defer func() {
		if err := recover(); err != http.ErrAbortHandler {
			t.Errorf("it ended with %v", err)
		}
	}()
	k.ServeHTTP(leaving{httptest.NewRecorder(), leave}, k.Request("GET", "/threads/t/files.zip", "").WithContext(ctx))
	t.Error("it came to its end")
}
