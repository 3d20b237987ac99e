// Package gateway is the HTTP edge: the LangGraph API, DeerFlow's routes beside it, and what operators look at. It
// turns requests into calls of the runs manager and the store, and what a run says into the frames of a stream.
//
//	request -> guard (who calls) -> routes.go (which route) -> route (may he, what is it about) -> the handler of a group
//
// A newcomer opens routes.go first: it is the list of all routes, made of the groups, a package each. Every route is
// served at the root, where LangGraph's SDKs look for it, and under /api and /api/langgraph, where DeerFlow's web
// client does.
package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"

	"github.com/pudu-ai/pudu/internal/access"
	modelroutes "github.com/pudu-ai/pudu/internal/gateway/models"
	"github.com/pudu-ai/pudu/internal/gateway/pages"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	runroutes "github.com/pudu-ai/pudu/internal/gateway/runs"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// GraphID is the one graph there is: the lead agent.
const GraphID = shape.GraphID

// What a [Config] is made of.
type (
	// Model is one that a run may name.
	Model = shape.Model
	// Limits are the bounds of a request.
	Limits = route.Limits
	// About describes the server to people.
	About = shape.About
	// Follower yields the events of runs.
	Follower = runroutes.Follower
)

// Config is what a Server needs. Manager, Hub, Store, Items, Assistants, Agents and Files are required.
type Config struct {
	Manager *runs.Manager
	Hub     Follower
	Store   store.Store
	// Items, Assistants and Folders are those of all users.
	Items      *items.Items
	Assistants *assistants.Assistants
	Folders    *folders.Folders
	// Memory is what is remembered of all users, and Told what a run was told of it.
	Memory *memory.Memory
	Told   func(ctx context.Context, u access.User, run store.Run) ([]memory.Told, error)
	// Skills are those of all users.
	Skills *skills.Skills
	// Agents are those that users have made; AgentsOff switches off the routes that change them.
	Agents    *agents.Folder
	AgentsOff bool
	// Approvals are what all users have approved of calls to come.
	Approvals *approval.Grants
	// News tells users what is new on their threads.
	News *news.Hub
	// Sessions are those of browsers; nil is none.
	Sessions *session.Sessions
	// Histories are the messages of all threads by pages.
	Histories *history.Histories
	// Calls are what models were sent in all runs.
	Calls *calls.Calls
	// Searches find words in the threads of all users.
	Searches *search.Searches
	// Bin puts threads into the bin, and takes them out.
	Bin *bin.Bin
	// Jobs are what follows, of all users.
	Jobs *job.Queue
	// Audit keeps who did what; nil keeps nothing.
	Audit *audit.Log
	// Record makes a test of a finished run of a user's thread.
	Record func(ctx context.Context, u access.User, thread, run string) ([]byte, error)
	// Files opens the files of a user's thread; the caller closes them.
	Files func(ctx context.Context, user access.User, threadID string) (*sandbox.Files, error)
	// FolderFiles opens the files of a user's folder of threads, which may have FolderQuota bytes; the caller closes
	// them. The error is [store.ErrNotFound] if he has no such folder. DeleteFolder removes a folder with them.
	FolderFiles  func(ctx context.Context, user access.User, folder string) (*sandbox.Files, error)
	FolderQuota  int64
	DeleteFolder func(ctx context.Context, user access.User, folder string) error
	// Links are those to previews of files, and Makers knows who made which files; nil knows no more than their paths
	// say.
	Links  *threadfiles.Links
	Makers threadfiles.Makers
	// CloneFiles copies the files of a user's thread to another one, and reports whether there were any; with a time,
	// as they were then. nil copies none.
	CloneFiles func(ctx context.Context, u access.User, from, to string, then time.Time) (bool, error)
	// FileHistory is that of the files of a user's thread.
	FileHistory filehistory.Find
	// DeleteThread removes a user's thread with its files; its error is the store's.
	DeleteThread func(ctx context.Context, u access.User, threadID string) error
	// User is every caller's, until there are accounts; Role and Scopes are what every caller may do. Without them he
	// is an admin with all scopes.
	User   access.User
	Role   access.Role
	Scopes []string
	// Via says how callers without a token come in, for the audit log; empty is "loopback" or "open address".
	Via string
	// Models are those that a run may name; the first is the default.
	Models []Model
	// Keeper changes them, for admins.
	Keeper modelroutes.Keeper
	// Toolbox has the Python packages of the sandbox.
	Toolbox *toolbox.Kit
	// Answers is nil if there is a model that can answer the request, else says how to add one; nil means that there
	// is.
	Answers func(req runs.Request) error
	// Guard says who may call.
	Guard Guard
	// Browsers is the guard of the address where browsers sign in, if that is another one; nil means Guard.
	Browsers *Guard
	// Ready is nil when runs can be taken, else why not.
	Ready func(ctx context.Context) error
	// About is what the start page and /info tell.
	About About
	// Metrics serves the figures for Prometheus; nil leaves the route out.
	Metrics http.Handler
	// Watch is told of requests and streams; nil is nobody.
	Watch route.Watcher
	// Limits bounds what a request may ask for, and Rates how many a user may send a minute; nil has the defaults.
	Limits Limits
	Rates  route.Rates
	Log    *slog.Logger
	Now    func() time.Time
}

// nobody watches.
type nobody struct{}

func (nobody) Answered(string, string, int, time.Duration) {}
func (nobody) Streaming(int)                               {}
func (nobody) Refused()                                    {}
func (nobody) Limited(string)                              {}

// Server answers the requests. It is an http.Handler.
type Server struct {
	Config

	env    *route.Env
	mux    *http.ServeMux
	routes map[string]route.Route // by the patterns of the mux
	groups []group
	runs   *runroutes.Group
	pages  *pages.Group
	tries  tries
	stop   context.CancelFunc
}

var _ http.Handler = (*Server)(nil)

// New makes a server.
func New(c Config) *Server {
	c.Limits = c.Limits.WithDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Watch == nil {
		c.Watch = nobody{}
	}
	s := &Server{Config: c, mux: http.NewServeMux(), routes: make(map[string]route.Route)}
	s.env = &route.Env{Store: c.Store, Limits: c.Limits, Log: c.Log, Now: c.Now, Watch: c.Watch, Audit: c.Audit}
	if c.Rates == nil {
		c.Rates = route.DefaultRates()
	}
	s.env.Limited(c.Rates, s.Guard.asks)
	s.env.Stopping, s.stop = context.WithCancel(context.Background())
	s.makeGroups()
	for _, r := range s.Routes() {
		pattern := r.Method + " " + r.Path
		s.routes[pattern] = r
		s.mux.Handle(pattern, r.Handler(s.env))
	}
	return s
}

// Stop ends all streams and waits, so that the listener can close. The runs go on; clients come back for the rest.
func (s *Server) Stop() { s.stop() }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = s.identified(w, r)
	asks := s.Guard.asks()
	next, pattern := s.route(r)
	to, routed := s.routes[pattern]
	if !s.Guard.admit(w, r, asks, to.Foreign) {
		return
	}
	if pattern == "" && looks(r) {
		_ = s.pages.Missing(w, next) // the page is a constant
		return
	}
	next, ok := s.authenticated(w, next, asks, routed && to.Role == route.Anyone)
	switch {
	case !ok:
	case pattern == "":
		s.unrouted(w, next)
	default:
		s.mux.ServeHTTP(w, next)
	}
}

// looks reports whether somebody looks for a page, rather than a program for an answer.
func looks(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// route takes the mount point and slashes too many off the path, and finds the pattern that it matches; empty is none.
func (s *Server) route(r *http.Request) (next *http.Request, pattern string) {
	path := oneSlash(r.URL.Path)
	for _, mount := range []string{"/api/langgraph", "/api"} {
		if rest, ok := strings.CutPrefix(path, mount); ok && strings.HasPrefix(rest, "/") {
			path = rest
			break
		}
	}
	next = r.WithContext(r.Context())
	next.URL = literal(tidy(path))
	next.URL.RawQuery = r.URL.RawQuery
	_, pattern = s.mux.Handler(next)
	return next, pattern
}

// unrouted answers a request that no route takes.
func (s *Server) unrouted(w http.ResponseWriter, r *http.Request) {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" {
			allow = append(allow, method)
		}
	}
	if len(allow) == 0 {
		s.env.Fail(w, r, &route.Error{Status: http.StatusNotFound, Detail: "Not Found"})
		return
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	s.env.Fail(w, r, &route.Error{Status: http.StatusMethodNotAllowed, Detail: "Method Not Allowed"})
}

// Report is what a webhook is told of a run that has ended: the run, and the values of its state.
func (s *Server) Report(ctx context.Context, run store.Run) ([]byte, error) {
	return s.runs.Report(ctx, run)
}

// ThreadMetadata is what a thread tells of its first run, so that clients find the threads of their assistant.
func ThreadMetadata(req runs.Request) json.RawMessage { return shape.ThreadMetadata(req) }
