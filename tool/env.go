package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
)

// Ref says of which run something is.
type Ref struct {
	User, Thread, Run string
	// Agent is the name of the custom agent; empty is the standard one.
	Agent string
	// Parent is the run that has begun this one; empty if a user did.
	Parent string
	// Role and Scopes are what who asked for the run may do; nil scopes are all that the role may. Via is how that
	// one came in, such as "token ci". A run below another has those of that. Empty in a job, and where a program did
	// not say.
	Role   string
	Scopes []string
	Via    string
}

// Env is what a tool, and a hook, may use in a run. What the program did not set up answers with an error that wraps
// [ErrNotSetUp], so also the zero value can be used.
type Env struct {
	Ref Ref
	// Services are what the run's owner has set up. Tools use the methods instead, which say what is missing.
	Services Services
}

// Services are behind an [Env]. Each of them may be nil.
type Services struct {
	// Space has the thread's files and its sandbox.
	Space sandbox.Space
	// HTTP calls public addresses alone.
	HTTP *http.Client
	// Items are the user's.
	Items Items
	// Model finds the model of a role.
	Model func(role string) (model.ChatModel, error)
	// Later takes a job, or says what is wrong with it.
	Later func(j Job) error
}

// Job is work that is to follow a step: it is stored in the step's transaction, for the run's user and thread, and done
// later by a server. A job of the same user, kind and key that waits already is the same job, which has then been asked
// for once more, with the newer body.
type Job struct {
	// Kind says who does it, Key what it is about: texts of 1 to 256 bytes.
	Kind, Key string
	// Body is what the work needs to know, JSON of at most 64 KiB or nil. It holds no secrets: backups have it.
	Body json.RawMessage
	// NotBefore is when it may begin; zero means at once. A job that waits and is asked for again waits until then, but
	// for no longer than the Latest of its first request, whose zero value means its NotBefore.
	NotBefore, Latest time.Time
}

// The roles of models.
const (
	// MainModel is the run's own, CheapModel the one for small work beside it, and VisionModel one that can look at
	// images.
	MainModel   = "main"
	CheapModel  = "cheap"
	VisionModel = "vision"
)

var (
	// ErrNotSetUp says that the program which carries out the run has no such service.
	ErrNotSetUp = errors.New("is not set up in this program")
	// ErrNoItem says that there is no item of the key.
	ErrNoItem = errors.New("no such item")
)

func notSetUp(what string) error { return fmt.Errorf("%s %w", what, ErrNotSetUp) }

// Files are the thread's files. They need no sandbox.
func (e Env) Files() (*sandbox.Files, error) {
	if e.Services.Space == nil {
		return nil, notSetUp("a folder for the thread's files")
	}
	return e.Services.Space.Files(), nil
}

// Shell is the thread's sandbox, started by the first who asks for it. Callers share it and do not close it. Where code
// cannot be isolated the error wraps [sandbox.ErrUnavailable].
func (e Env) Shell(ctx context.Context) (sandbox.Sandbox, error) {
	if e.Services.Space == nil {
		return nil, notSetUp("a sandbox")
	}
	return e.Services.Space.Sandbox(ctx)
}

// HTTP is the client for addresses that a user, a model or a web page has named: none of this machine or of a private
// network can be called by it. Never nil.
func (e Env) HTTP() *http.Client {
	if e.Services.HTTP == nil {
		return &http.Client{Transport: missing{}}
	}
	return e.Services.HTTP
}

// Items is the user's long-term store, which all of the user's threads share. Never nil.
func (e Env) Items() Items {
	if e.Services.Items == nil {
		return missing{}
	}
	return e.Services.Items
}

// Model is the model of a role: [MainModel], [CheapModel] or [VisionModel]. What its calls take counts as the run's.
func (e Env) Model(role string) (model.ChatModel, error) {
	if e.Services.Model == nil {
		return nil, notSetUp("a model for " + role)
	}
	return e.Services.Model(role)
}

// Later has a job done after the step: one that a tool asks for is stored with the result of its call, one that a hook
// asks for with the next step. What is not stored by then, because the process was killed, the tool failed its run or
// asked a person, is asked for again when the call, or the hook, runs again.
func (e Env) Later(j Job) error {
	if e.Services.Later == nil {
		return notSetUp("work that follows a step")
	}
	return e.Services.Later(j)
}

// Item is a document of the long-term store.
type Item struct {
	// Namespace is the item's path: 1 to 16 labels without dots; Key is unique in it.
	Namespace []string
	Key       string
	// Value is a JSON object of at most 1 MiB.
	Value   json.RawMessage
	Updated time.Time // when it was put; read only
	// Score is how well the item matches a search: above 0, at most 1.
	Score float64
}

// Items is the long-term store of one user.
type Items interface {
	// Put adds an item, or gives the one of its key a new value.
	Put(ctx context.Context, i Item) error
	// Get returns an item, or [ErrNoItem].
	Get(ctx context.Context, namespace []string, key string) (Item, error)
	// Delete removes an item; one that is missing is no error.
	Delete(ctx context.Context, namespace []string, key string) error
	// Search returns at most limit items under a prefix of their namespace, the last put first; with words to look for,
	// those that match best.
	Search(ctx context.Context, prefix []string, words string, limit int) ([]Item, error)
}

// missing stands for services that are not there.
type missing struct{}

var (
	_ Items             = missing{}
	_ http.RoundTripper = missing{}
)

func (missing) err() error { return notSetUp("the store of items") }

// RoundTrip implements [http.RoundTripper].
func (missing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, notSetUp("a client for HTTP")
}

// Put implements [Items].
func (m missing) Put(context.Context, Item) error { return m.err() }

// Get implements [Items].
func (m missing) Get(context.Context, []string, string) (Item, error) { return Item{}, m.err() }

// Delete implements [Items].
func (m missing) Delete(context.Context, []string, string) error { return m.err() }

// Search implements [Items].
func (m missing) Search(context.Context, []string, string, int) ([]Item, error) { return nil, m.err() }
