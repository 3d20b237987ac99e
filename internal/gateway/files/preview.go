package files

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

type previewIn struct {
	Thread store.Thread `of:"thread"`
	Path   string       `query:"path" required:""`
}

type previewJSON struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires_at"`
}

// link answers with a URL by which a browser shows a file of the thread, as a page that reaches nothing of ours.
func (g *Group) link(w http.ResponseWriter, r *http.Request, in *previewIn) error {
	p, err := threadfiles.Within(in.Path)
	if err != nil {
		return artifactError(err, in.Path)
	}
	files, err := g.open(r.Context(), in.Thread.ID)
	if err != nil {
		return err
	}
	defer files.Close()
	h, _, err := openPage(files, p)
	if err != nil {
		return artifactError(err, in.Path)
	}
	_ = h.Close()
	link, until, err := g.Links.Make(route.Caller(r.Context()).User, in.Thread.ID, g.Now())
	if err != nil {
		return err
	}
	at := url.URL{Path: route.Base(r) + "/preview/" + link + h.Name()}
	return route.Reply(w, http.StatusOK, previewJSON{at.EscapedPath(), until.UTC()})
}

// openPage opens a file; of a folder the page that stands for it.
func openPage(files *sandbox.Files, p string) (h *sandbox.File, folder bool, err error) {
	h, err = openArtifact(files, p)
	if folder = errors.Is(err, sandbox.ErrIsDir); folder {
		h, err = openArtifact(files, path.Join(p, "index.html"))
	}
	return h, folder, err
}

type pageIn struct {
	Link string `path:"link"`
	Path string `path:"path"`
}

// page sends a file of a thread to who has a link to its files. It runs as a page of nobody: scripts run, and can load
// the thread's files beside it, nothing else, and no cookie goes with what they load.
func (g *Group) page(w http.ResponseWriter, r *http.Request, in *pageIn) error {
	user, thread, err := g.Links.Open(in.Link, g.Now())
	switch {
	case errors.Is(err, threadfiles.ErrExpired):
		return route.Failf(http.StatusGone, "The preview has expired; open it again from its thread")
	case err != nil:
		return route.Failf(http.StatusNotFound, "Not Found")
	}
	if _, err := g.Store.For(user).Thread(r.Context(), thread); err != nil {
		return err
	}
	p, err := artifactPath(in.Path)
	if err != nil {
		return err
	}
	files, err := g.Files(r.Context(), user, thread)
	if err != nil {
		return err
	}
	defer files.Close()
	file, folder, err := openPage(files, p)
	if err != nil {
		return artifactError(err, p[1:])
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	if folder && !strings.HasSuffix(asked, "/") { // what the page names beside it would be looked for one folder higher
		w.Header().Set("Location", "./"+url.PathEscape(path.Base(p))+"/")
		w.WriteHeader(http.StatusFound)
		return nil
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policyOf(r, in.Link))
	// fonts and modules of a page of nobody need it; the link is the permission
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Referrer-Policy", "no-referrer") // which would have the link
	h.Set("X-DNS-Prefetch-Control", "off")
	kind, err := mediaType(file.Name(), file)
	if err != nil {
		return err
	}
	return g.send(w, r, content{name: path.Base(file.Name()), size: info.Size(), data: file, modified: info.ModTime()},
		kind, false)
}

var plainHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// policyOf is the policy of the pages below a link. Without allow-same-origin a page has no origin: no cookie, no
// storage. It loads what is below its own link and nothing from elsewhere, so that what it shows tells nobody that it
// was looked at.
func policyOf(r *http.Request, link string) string {
	own := "'self'"
	if at := strings.Index(r.RequestURI, "/preview/"); at >= 0 && plainHost.MatchString(r.Host) {
		own = r.Host + r.RequestURI[:at] + "/preview/" + link + "/"
	}
	return strings.ReplaceAll("sandbox allow-scripts allow-forms; default-src 'none'; script-src OWN 'unsafe-inline' "+
		"'unsafe-eval' blob:; "+
		"style-src OWN 'unsafe-inline'; img-src OWN data: blob:; font-src OWN data:; media-src OWN data: blob:; "+
		"connect-src OWN data: blob:; worker-src OWN blob:; form-action 'none'; base-uri 'none'; frame-ancestors "+
		"'self'; webrtc 'block'",
		"OWN", own)
}
