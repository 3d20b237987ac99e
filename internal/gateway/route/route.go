// Package route is what the routes of the gateway have in common: their columns, and how a request is read and
// answered.
//
//	request -> Access (403) -> Rate (429) -> path, query, headers, body by the tags of In (422) -> Of (404) -> handler -> Out
//
// A group of routes, such as internal/gateway/threads, makes its routes with [Get], [Post] and the others, whose
// handler takes a typed request and returns a typed answer, or with [Raw], whose handler writes the answer itself:
// uploads, ranges, streams. Every column must be filled in, one after the other, or the route is no [Route] and the
// group does not compile. The gateway puts the groups into one list and serves it; openapi.json is made of the types.
package route

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/store"
)

// Anyone is the role of a route that needs no principal: it tells no more than that the server is there.
const Anyone access.Role = ""

// Owner says what a route is about, and how that is found.
type Owner string

// The owners.
const (
	// Nobody: nothing of a user's.
	Nobody Owner = "nobody"
	// User: what belongs to the caller, which the handler asks the caller's own store for.
	User Owner = "user"
	// Thread: the caller's thread of the path, or a 404. The field of In with `of:"thread"` gets it.
	Thread Owner = "thread"
	// ThreadOrNew: a thread that need not be there yet, but is not somebody else's.
	ThreadOrNew Owner = "thread or new"
	// ThreadName: any id that a thread may have. The handler asks the caller's own store for it, where somebody else's
	// is as missing as one that nobody has.
	ThreadName Owner = "thread name"
	// Run: the caller's run of the path, on the thread of the path if that names one, or a 404. `of:"run"` gets it.
	Run Owner = "run"
	// RunName: any id that a run may have, on the thread of the path, which is a ThreadName.
	RunName Owner = "run name"
	// InBody: the body names it; the handler asks the caller's own store.
	InBody Owner = "in body"
)

// Rate says how much work a request is. Of each class a user may send so many a minute as [Rates] says; openapi.json
// shows it.
type Rate string

// The classes of work.
const (
	Free   Rate = "free"   // nothing is looked up
	Cheap  Rate = "cheap"  // a look at the database
	Write  Rate = "write"  // a transaction
	Costly Rate = "costly" // many rows, or whole files
	Work   Rate = "work"   // a model is asked
	Stream Rate = "stream" // the connection stays open
)

// Bound is what a route reads of a request's body, and how much.
type Bound string

// The bounds.
const (
	None  Bound = "none"          // no body is read
	JSON  Bound = "json"          // an object of at most Limits.Body bytes
	Maybe Bound = "optional json" // the same, or nothing
	List  Bound = "json list"     // a list of at most Limits.Body bytes
	Form  Bound = "form"          // files; the handler bounds them by Limits.Uploads
)

// Route is one entry of the list of routes.
type Route struct {
	Method string
	// Path is below the mount points, with parameters as in http.ServeMux.
	Path string
	// Group is whose route it is, for the documentation; Summary is one line for people.
	Group, Summary string
	// Role and Scope are what the caller must have.
	Role  access.Role
	Scope string
	Owner Owner
	Rate  Rate
	Bound Bound
	// Verb and Kind are what the audit log says of a request that was carried out: what was done to which kind of
	// object. Without a verb it tells of those alone that the caller may not send.
	Verb audit.Verb
	Kind string

	// Foreign says that pages of any origin may load it, also those of none.
	Foreign bool

	in      *plan
	out     reflect.Type // nil if the handler writes the answer itself
	handler handler
}

// handler reads the request, does the work and writes the answer.
type handler func(e *Env, w *answer, r *http.Request, rt *Route) error

// Audits has the audit log tell of requests that were carried out. The object is named by the parameters of the path,
// or by In if that is an [Audited].
func (r Route) Audits(verb audit.Verb, kind string) Route {
	r.Verb, r.Kind = verb, kind
	return r
}

// FromAnywhere lets pages of any origin load the route, also those of none: its path is the permission.
func (r Route) FromAnywhere() Route {
	r.Foreign = true
	return r
}

// Audited is an In that knows better than the path what the audit log is to say of its object. Without ok it says
// nothing.
type Audited interface {
	Audited() (object string, ok bool)
}

// Template is the path as OpenAPI writes it, each parameter in braces by its name alone.
func (r Route) Template() string { return strings.NewReplacer("...}", "}", "{$}", "").Replace(r.Path) }

// Under puts routes into a group.
func Under(group string, list ...Route) []Route {
	for i := range list {
		list[i].Group = group
	}
	return list
}

// The steps of making a route: each has one method, which fills in one column and leads to the next.
type (
	// NeedsAccess is a route that does not say who may call it.
	NeedsAccess struct{ r Route }
	// NeedsOwner is a route that does not say what it is about.
	NeedsOwner struct{ r Route }
	// NeedsRate is a route that does not say how much work it is.
	NeedsRate struct{ r Route }
	// NeedsBody is a route that does not say what it reads.
	NeedsBody struct{ r Route }
)

// Access says who may call: whoever has the role, or one that may do more, and the scope if the token is narrowed to
// some.
func (n NeedsAccess) Access(role access.Role, scope string) NeedsOwner {
	n.r.Role, n.r.Scope = role, scope
	return NeedsOwner(n)
}

// Of says what the route is about.
func (n NeedsOwner) Of(o Owner) NeedsRate { n.r.Owner = o; return NeedsRate(n) }

// Rate says how much work it is.
func (n NeedsRate) Rate(c Rate) NeedsBody { n.r.Rate = c; return NeedsBody(n) }

// Body says what is read of the body; the route is whole.
func (n NeedsBody) Body(b Bound) Route { n.r.Bound = b; return n.r }

// Get makes a route. In is a struct whose fields are filled by their tags (see [Raw]); Out is answered as JSON, unless
// it is a [Responder]. The other functions do the same for other methods.
func Get[In, Out any](path, summary string, h func(context.Context, *In) (Out, error)) NeedsAccess {
	return typed(http.MethodGet, path, summary, h)
}

// Post makes a route.
func Post[In, Out any](path, summary string, h func(context.Context, *In) (Out, error)) NeedsAccess {
	return typed(http.MethodPost, path, summary, h)
}

// Put makes a route.
func Put[In, Out any](path, summary string, h func(context.Context, *In) (Out, error)) NeedsAccess {
	return typed(http.MethodPut, path, summary, h)
}

// Patch makes a route.
func Patch[In, Out any](path, summary string, h func(context.Context, *In) (Out, error)) NeedsAccess {
	return typed(http.MethodPatch, path, summary, h)
}

// Delete makes a route.
func Delete[In, Out any](path, summary string, h func(context.Context, *In) (Out, error)) NeedsAccess {
	return typed(http.MethodDelete, path, summary, h)
}

func typed[In, Out any](method, path, summary string, h func(context.Context, *In) (Out, error)) NeedsAccess {
	n := Raw(method, path, summary, func(w http.ResponseWriter, r *http.Request, in *In) error {
		out, err := h(r.Context(), in)
		if err != nil {
			return err
		}
		return respond(w, out)
	})
	n.r.out = reflect.TypeFor[Out]()
	return n
}

// Raw makes a route whose handler writes the answer. The fields of In have one of the tags path, query, header and
// body, each with the name of what is read there; `of:"thread"` and `of:"run"` get what [NeedsOwner.Of] has found.
// Beside them stand default, min, max, enum and required; docs/api.md has the whole. A field whose type is a [Reader]
// reads itself.
func Raw[In any](method, path, summary string, h func(http.ResponseWriter, *http.Request, *In) error) NeedsAccess {
	p := planOf(reflect.TypeFor[In]())
	return NeedsAccess{Route{Method: method, Path: path, Summary: summary, in: p,
		handler: func(e *Env, w *answer, r *http.Request, rt *Route) error {
			in := new(In)
			if err := p.read(e, w, r, rt, reflect.ValueOf(in).Elem()); err != nil {
				return err
			}
			w.audited, _ = any(in).(Audited)
			return h(w, r, in)
		}}}
}

// patience is how long a request waits for a database that cannot be reached.
const patience = time.Second

// Handler serves the route: an error becomes the answer, and the answer is counted.
func (r Route) Handler(e *Env) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		out := &answer{
			ResponseWriter: w, rc: http.NewResponseController(w), wait: e.Limits.Write, status: http.StatusOK,
		}
		start := time.Now()
		defer func() { e.answered(req, r, out.status, time.Since(start)) }()
		req = req.WithContext(store.WithPatience(req.Context(), patience))
		err := r.allowed(Caller(req.Context()))
		if err == nil {
			err = e.inTime(req, r.Rate)
		}
		if err == nil {
			err = r.handler(e, out, req, &r)
		}
		r.record(e, req, out.audited, err)
		if err != nil {
			e.Fail(out, req, err)
		}
	})
}

// record tells the audit log what came of a request: that it was carried out, or that the caller may not send it.
func (r Route) record(e *Env, req *http.Request, in Audited, err error) {
	entry := audit.Of(Caller(req.Context()), r.Verb, r.Kind, object(r.Path, req))
	var no *Error
	switch {
	case errors.As(err, &no) && no.Status == http.StatusForbidden:
		entry.Refused = fmt.Sprint(no.Detail)
		if r.Verb == "" {
			entry.Verb, entry.Kind, entry.Object = audit.Call, "route", r.Method+" "+r.Template()
		}
	case err != nil || r.Verb == "":
		return
	case in != nil:
		var ok bool
		if entry.Object, ok = in.Audited(); !ok {
			return
		}
	}
	e.Audit.Record(req.Context(), entry)
}

var inPath = regexp.MustCompile(`\{(\w+)[^}]*\}`)

// object are the parameters of the path.
func object(path string, req *http.Request) string {
	var values []string
	for _, m := range inPath.FindAllStringSubmatch(path, -1) {
		values = append(values, req.PathValue(m[1]))
	}
	return strings.Join(values, "/")
}

// GrantScope is the scope of who may approve calls to come, also with the answer to a question.
const GrantScope = "approvals:write"

// allowed refuses who may not call the route; the answer names what is missing.
func (r Route) allowed(by access.Principal) error {
	if r.Role == Anyone {
		return nil
	}
	if err := by.May(r.Role, r.Scope); err != nil {
		return Failf(http.StatusForbidden, "%v", err)
	}
	return nil
}
