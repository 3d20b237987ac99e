package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/web"
)

// file is one of those that the user interface is made of, with what is computed of it once.
type file struct {
	body   []byte
	kind   string
	tag    string
	zipped func() []byte // nil in files that are small or packed already
}

// kinds are the types of content by the ends of names.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
	".json": "application/json", ".csv": "text/csv; charset=utf-8",
}

// worthIt is the size from which on a file is sent packed.
const worthIt = 1 << 10

// newFile describes a file.
func newFile(name string, body []byte) file {
	sum := sha256.Sum256(body)
	f := file{body: body, kind: kinds[path.Ext(name)], tag: hex.EncodeToString(sum[:12])}
	if f.kind == "" {
		f.kind = "application/octet-stream"
	}
	if len(body) >= worthIt && f.kind != "image/png" && f.kind != "font/woff2" {
		f.zipped = sync.OnceValue(func() []byte { return zip(body) })
	}
	return f
}

func zip(body []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails for an unknown level alone
	_, _ = w.Write(body)                                  // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// assets reads what lies in a folder of the user interface, once for the program.
var assets = sync.OnceValue(func() map[string]file {
	all := make(map[string]file)
	entries, _ := fs.ReadDir(web.Files(), "assets") // a program that was built has them
	for _, e := range entries {
		if body, err := fs.ReadFile(web.Files(), "assets/"+e.Name()); err == nil {
			all[e.Name()] = newFile(e.Name(), body)
		}
	}
	return all
})

// send sends a file, packed for who takes that, and nothing to who has it already. A name of a file never comes to
// stand for other content, a page does.
func (f file) send(w http.ResponseWriter, r *http.Request, forever bool) {
	h, body, tag := w.Header(), f.body, f.tag
	if f.zipped != nil {
		h.Set("Vary", "Accept-Encoding")
		if takesGzip(r) {
			body, tag = f.zipped(), tag+"-gzip"
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", `"`+tag+`"`)
	h.Set("Content-Type", f.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	if forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip reports whether a client takes what is packed.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" && strings.ReplaceAll(q, " ", "") != "q=0" {
			return true
		}
	}
	return false
}

// index is the page of the user interface by how deep the path lies that it is asked for at: it finds its files by
// relative addresses, since the server may stand below any path. The policy names its one script within the page, which
// chooses the theme before anything is drawn.
type index struct {
	text   string
	policy string

	mu     sync.Mutex
	depths map[string]file
}

// inlined is a script within the page.
var inlined = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// newIndex reads a page.
func newIndex(files fs.FS, name string) (*index, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	allowed := ""
	for _, script := range inlined.FindAllSubmatch(text, -1) {
		sum := sha256.Sum256(script[1])
		allowed += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return &index{text: string(text), policy: strings.ReplaceAll(client, "{scripts}", allowed),
		depths: make(map[string]file)}, nil
}

// maxDepth bounds how many forms of the page are kept.
const maxDepth = 16

// at is the page for a path from which up leads to the server's own.
func (x *index) at(up string) file {
	x.mu.Lock()
	defer x.mu.Unlock()
	f, ok := x.depths[up]
	if !ok {
		f = newFile("index.html", []byte(strings.ReplaceAll(x.text, `"./`, `"`+up)))
		if len(x.depths) < maxDepth {
			x.depths[up] = f
		}
	}
	return f
}
