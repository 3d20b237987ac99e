// Package gateway is the HTTP edge: the LangGraph API, DeerFlow's routes beside it, and what operators look at. It turns
// requests into calls of the runs manager and the store, and what a run says into the frames of a stream.
//
//	request -> guard (who may call) -> routes.go (which handler) -> one file per group -> runs.Manager, store, follow.Hub
//
// A newcomer opens routes.go first: it is the list of all routes. Every route is served at the root, where LangGraph's
// SDKs look for it, and under /api and /api/langgraph, where DeerFlow's web client does.
package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// GraphID is the one graph there is: the lead agent.
const GraphID = "lead_agent"

// Config is what a Server needs. Manager, Hub, Store, Items, Assistants and Files are required.
type Config struct {
	Manager *runs.Manager
	Hub     Follower
	Store   store.Store
	// Items and Assistants are those of all users.
	Items      *items.Items
	Assistants *assistants.Assistants
	// Files opens the files of a user's thread; the caller closes them.
	Files func(user access.User, threadID string) (*sandbox.Files, error)
	// DeleteThread removes a user's thread with its files; its error is the store's.
	DeleteThread func(ctx context.Context, u access.User, threadID string) error
	// User is every caller's, until there are accounts.
	User access.User
	// Models are those that a run may name; the first is the default.
	Models []Model
	// Answers is nil if there is a model that can answer the request, else says how to add one; nil means that there is.
	Answers func(req runs.Request) error
	// Guard says who may call.
	Guard Guard
	// Ready is nil when runs can be taken, else why not.
	Ready func(ctx context.Context) error
	// About is what the start page and /info tell.
	About About
	// Metrics serves the figures for Prometheus; nil leaves the route out.
	Metrics http.Handler
	// Watch is told of requests and streams; nil is nobody.
	Watch Watcher
	// Limits bounds what a request may ask for.
	Limits Limits
	Log    *slog.Logger
	Now    func() time.Time
}

// Follower yields the events of a user's run after an id, first from the log and then live, until the run is at its end, and
// returns the run. It is a follow.Hub.
type Follower interface {
	Follow(ctx context.Context, u access.User, runID string, after event.ID, yield func([]event.Event) error) (store.Run, error)
}

// Watcher counts requests and streams. It is a metrics.Metrics.
type Watcher interface {
	// Answered tells of a request that was answered, by the path of its route.
	Answered(route, method string, status int, took time.Duration)
	// Streaming tells of a stream that begins (1) or ends (-1).
	Streaming(change int)
	// Refused tells of a request without a good token.
	Refused()
}

// nobody watches.
type nobody struct{}

func (nobody) Answered(string, string, int, time.Duration) {}
func (nobody) Streaming(int)                               {}
func (nobody) Refused()                                    {}

// Model is one that a run may name.
type Model struct {
	Name, DisplayName, Model, Description string

	Thinking, ReasoningEffort, Vision bool
	// Hidden keeps it out of the list: clients choose the first one of that by themselves.
	Hidden bool
}

// About describes the server to people.
type About struct {
	Version string
	PID     int // of the process
	Model   string
	Why     string // the model was chosen
	Sandbox string
	Notes   []string // are warnings
	Data    string   // the data folder, or the database
	Address string   // as http://HOST:PORT
	// Examples are commands that try the server; where there is a token they need PUDU_TOKEN.
	Examples []string
	// NoModel says how to add a model; empty if there is one.
	NoModel string
	Started time.Time
}

// Limits are the bounds of a request. Zero fields have their defaults.
type Limits struct {
	Body      int64         // bytes of a JSON body; 16 MiB
	Upload    int64         // bytes of one uploaded file; 50 MiB
	Files     int           // of one upload; 10
	Uploads   int64         // bytes of all files of one upload; 100 MiB
	History   int           // bytes of the values of a history; 16 MiB. Entries behind that come without their messages
	Heartbeat time.Duration // of a quiet stream; 15 s
	Write     time.Duration // that a client may take for one piece of a stream; 30 s
}

func (l Limits) withDefaults() Limits {
	or := func(v *int64, def int64) {
		if *v == 0 {
			*v = def
		}
	}
	or(&l.Body, 16<<20)
	or(&l.Upload, 50<<20)
	or(&l.Uploads, 100<<20)
	if l.Files == 0 {
		l.Files = 10
	}
	if l.History == 0 {
		l.History = 16 << 20
	}
	if l.Heartbeat == 0 {
		l.Heartbeat = 15 * time.Second
	}
	if l.Write == 0 {
		l.Write = 30 * time.Second
	}
	return l
}

// Server answers the requests. It is an http.Handler.
type Server struct {
	Config

	mux      *http.ServeMux
	stopping context.Context // ends when the streams shall
	stop     context.CancelFunc
	saves    sync.Mutex // one edit of an artifact at a time
}

var _ http.Handler = (*Server)(nil)

// New makes a server.
func New(c Config) *Server {
	c.Limits = c.Limits.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Watch == nil {
		c.Watch = nobody{}
	}
	s := &Server{Config: c, mux: http.NewServeMux()}
	s.stopping, s.stop = context.WithCancel(context.Background())
	for _, r := range Routes() {
		s.mux.Handle(r.Method+" "+r.Path, s.handler(r))
	}
	return s
}

// Stop ends all streams and waits, so that the listener can close. The runs go on; clients come back for the rest.
func (s *Server) Stop() { s.stop() }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = s.identified(w, r)
	asks := s.Guard.asks()
	if !s.Guard.admit(w, r, asks) {
		return
	}
	r, ok := s.authenticated(w, r, asks)
	if !ok {
		return
	}
	r, known := s.route(r)
	if !known {
		s.unrouted(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// route takes the mount point and slashes too many off the path, and reports whether a route matches.
func (s *Server) route(r *http.Request) (*http.Request, bool) {
	path := oneSlash(r.URL.Path)
	for _, mount := range []string{"/api/langgraph", "/api"} {
		if rest, ok := strings.CutPrefix(path, mount); ok && strings.HasPrefix(rest, "/") {
			path = rest
			break
		}
	}
	next := r.WithContext(r.Context())
	next.URL = literal(tidy(path))
	next.URL.RawQuery = r.URL.RawQuery
	_, pattern := s.mux.Handler(next)
	return next, pattern != ""
}

// base is what goes before the path in a Content-Location: "/api" for a request that came under it.
func base(r *http.Request) string {
	if strings.HasPrefix(oneSlash(r.RequestURI), "/api/") {
		return "/api"
	}
	return ""
}

// unrouted answers a request that no route takes.
func (s *Server) unrouted(w http.ResponseWriter, r *http.Request) {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" {
			allow = append(allow, method)
		}
	}
	if len(allow) == 0 {
		s.fail(w, r, &Error{Status: http.StatusNotFound, Detail: "Not Found"})
		return
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	s.fail(w, r, &Error{Status: http.StatusMethodNotAllowed, Detail: "Method Not Allowed"})
}

// patience is how long a request waits for a database that cannot be reached.
const patience = time.Second

// handler wraps a route's function: its error becomes the answer, and the answer is counted.
func (s *Server) handler(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &answer{ResponseWriter: w, rc: http.NewResponseController(w), wait: s.Limits.Write, status: http.StatusOK}
		start := time.Now()
		defer func() { s.answered(r, route, out.status, time.Since(start)) }()
		r = r.WithContext(store.WithPatience(r.Context(), patience))
		if err := route.handle(s, out, r); err != nil {
			s.fail(out, r, err)
		}
	})
}

// answer remembers the status that is sent. The client has some time for each piece of it: one that takes nothing is cut
// off, however long the answer is.
type answer struct {
	http.ResponseWriter

	rc     *http.ResponseController
	wait   time.Duration
	status int
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	for written := 0; ; {
		_ = a.rc.SetWriteDeadline(time.Now().Add(a.wait)) // of a recorder in a test there is none
		n, err := a.ResponseWriter.Write(p[written:min(written+piece, len(p))])
		if written += n; err != nil || written == len(p) {
			return written, err
		}
	}
}

// Unwrap lets an http.ResponseController reach what is beneath.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
