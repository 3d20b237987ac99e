package models

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/model/probe"
	"github.com/pudu-ai/pudu/internal/store"
)

// Keeper changes the models that were added while the server works, and says which ones there are. Its errors are those
// of package feature/models and store.ErrNotFound.
type Keeper interface {
	List(ctx context.Context) (models.List, error)
	Providers(ctx context.Context) (models.Providers, error)
	// Add adds a model, and makes it the default if that is said.
	Add(ctx context.Context, g config.Given, standard bool) error
	// Put changes one that was added; with keep it keeps its key if it is given none.
	Put(ctx context.Context, g config.Given, keep bool) error
	Remove(ctx context.Context, name string) error
	// SetStandard makes a model the default; an empty name leaves it to the configuration.
	SetStandard(ctx context.Context, name string) error
	// Test makes a test that has a model do the tasks of pudu doctor model. It has to be called.
	Test(ctx context.Context, t models.Trial) (probe.Test, error)
}

// admins are the routes for who runs the installation: a model is an address that the server calls, with a key.
func (g *Group) admins() []route.Route {
	const read, write = "config:read", "config:write"
	return route.Under("configuration",
		route.Get("/config/models", "List all models, where they and their keys come from, and which is the default",
			g.all).
			Access(access.Admin, read).Of(route.Nobody).Rate(route.Cheap).Body(route.None).
			Audits(audit.Look, "models"),
		route.Get("/config/providers", "List what models can be added of, and what each needs", g.providers).
			Access(access.Admin, read).Of(route.Nobody).Rate(route.Costly).Body(route.None).
			Audits(audit.Look, "models"),
		route.Post("/config/models", "Add a model with its key", g.add).
			Access(access.Admin, write).Of(route.InBody).Rate(route.Write).Body(route.JSON).
			Audits(audit.Change, "model"),
		route.Raw(http.MethodPost, "/config/models/test", "Test a model, also one that is not added yet", g.test).
			Access(access.Admin, write).Of(route.InBody).Rate(route.Work).Body(route.JSON).
			Audits(audit.Look, "model"),
		route.Put("/config/models/{name...}", "Change a model that was added", g.put).
			Access(access.Admin, write).Of(route.Nobody).Rate(route.Write).Body(route.JSON).
			Audits(audit.Change, "model"),
		route.Delete("/config/models/{name...}", "Remove a model that was added, with its key", g.remove).
			Access(access.Admin, write).Of(route.Nobody).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "model"),
		route.Put("/config/default-model", "Choose the model of runs that name none", g.choose).
			Access(access.Admin, write).Of(route.InBody).Rate(route.Write).Body(route.JSON).
			Audits(audit.Change, "default model"),
	)
}

// key is a key that a client sends. What is wrong with it is said without it.
type key struct {
	value config.Secret
	said  bool // also that there is none
}

// ReadFrom implements [route.Reader].
func (k *key) ReadFrom(in *route.Input, name string) {
	raw := in.Raw(name)
	if raw == nil {
		return
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		in.Add("string_type", "Input should be a valid string", nil, in.Loc(name)...)
	}
	k.value, k.said = config.Secret(strings.TrimSpace(text)), true
}

// settings are the further keys of an entry.
type settings json.RawMessage

// ReadFrom implements [route.Reader].
func (s *settings) ReadFrom(in *route.Input, name string) { *s = settings(in.RawObject(name)) }

// entryIn is an entry as clients send it.
type entryIn struct {
	Provider string   `body:"provider" max:"100"`
	Model    string   `body:"model" max:"1000"`
	BaseURL  string   `body:"base_url" max:"4000"`
	Key      key      `body:"api_key"`
	Settings settings `body:"settings"`
}

func (in *entryIn) given(name string) config.Given {
	return config.Given{
		Name: name, Provider: in.Provider, ID: in.Model, BaseURL: in.BaseURL, Key: in.Key.value,
		Settings: json.RawMessage(in.Settings),
	}
}

// answered is the answer to what went wrong.
func answered(err error, name string) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return route.Failf(http.StatusNotFound, "Model '%s' not found", route.Clip(name))
	case errors.Is(err, models.ErrInvalid):
		if wrong, ok := errors.AsType[*config.GivenError](err); ok {
			return &route.Error{Status: http.StatusUnprocessableEntity, Detail: []route.Fault{{
				// it may be a secret
				Type: "value_error", Loc: []any{"body", wrong.Key}, Msg: wrong.Msg, Input: json.RawMessage("null"),
			}}}
		}
		return route.Failf(http.StatusUnprocessableEntity, "%v", err)
	case errors.Is(err, models.ErrConflict):
		return route.Failf(http.StatusConflict, "%v", err)
	case errors.Is(err, models.ErrBusy):
		return &route.Error{Status: http.StatusTooManyRequests, Detail: err.Error(), RetryAfter: 10}
	}
	return err
}

// all lists the models.
func (g *Group) all(ctx context.Context, _ *nothing) (models.List, error) { return g.Keeper.List(ctx) }

// providers lists the vendors.
func (g *Group) providers(ctx context.Context, _ *nothing) (models.Providers, error) {
	return g.Keeper.Providers(ctx)
}

// shown is a model as the list has it now, unless something went wrong before.
func (g *Group) shown(ctx context.Context, name string, err error) (out models.Listed, _ error) {
	if err != nil {
		return out, answered(err, name)
	}
	list, err := g.Keeper.List(ctx)
	for _, m := range list.Models {
		if m.Name == name && m.Origin == models.Added {
			return m, err
		}
	}
	return out, answered(errors.Join(err, store.ErrNotFound), name) // removed meanwhile
}

type addIn struct {
	Name string `body:"name" max:"1000"`
	entryIn

	Default bool `body:"default"`
}

// Audited implements [route.Audited].
func (in *addIn) Audited() (object string, ok bool) {
	g := in.given(in.Name)
	return g.FullName(), true
}

func (g *Group) add(ctx context.Context, in *addIn) (models.Listed, error) {
	given := in.given(in.Name)
	return g.shown(ctx, given.FullName(), g.Keeper.Add(ctx, given, in.Default))
}

type putIn struct {
	Name string `path:"name"`
	entryIn
}

// put changes a model. Without an api_key it keeps the one that it has; an empty one takes it away.
func (g *Group) put(ctx context.Context, in *putIn) (models.Listed, error) {
	return g.shown(ctx, in.Name, g.Keeper.Put(ctx, in.given(in.Name), !in.Key.said))
}

type nameIn struct {
	Name string `path:"name"`
}

func (g *Group) remove(ctx context.Context, in *nameIn) (route.Status, error) {
	return http.StatusNoContent, answered(g.Keeper.Remove(ctx, in.Name), in.Name)
}

type chooseIn struct {
	Name string `body:"name" max:"1000"`
}

// Audited implements [route.Audited].
func (in *chooseIn) Audited() (object string, ok bool) { return in.Name, true }

// choose makes a model the default; an empty name, or null, leaves it to the configuration.
func (g *Group) choose(ctx context.Context, in *chooseIn) (models.List, error) {
	if err := g.Keeper.SetStandard(ctx, in.Name); err != nil {
		return models.List{}, answered(err, in.Name)
	}
	return g.Keeper.List(ctx)
}

type testIn struct {
	addIn

	// First leaves it at the first task: whether the model answers.
	First bool `body:"first"`
}

// Audited implements [route.Audited]. A test of the default names none.
func (in *testIn) Audited() (object string, ok bool) {
	if in.Provider == "" {
		return in.Name, true
	}
	return in.addIn.Audited()
}

// examinedJSON is what the tasks showed, as pudu doctor model --json has it.
type examinedJSON struct {
	probe.Examined

	// Summary is the verdict in a sentence.
	Summary string `json:"summary"`
}

// lines is the type of an answer that is one JSON object a line.
const lines = "application/x-ndjson"

// test tests an entry, or, without a provider, the model of the name. It takes its time: until the verdict is there the
// answer has blanks. A client that takes lines gets each result as soon as it is known, and the verdict as the last
// one.
func (g *Group) test(w http.ResponseWriter, r *http.Request, in *testIn) error {
	t := models.Trial{Given: in.given(in.Name), Keep: !in.Key.said, First: in.First}
	test, err := g.Keeper.Test(r.Context(), t)
	if err != nil {
		return answered(err, in.Name)
	}
	if strings.Contains(r.Header.Get("Accept"), lines) {
		return g.tell(w, r, test)
	}
	w.Header().Set("Content-Type", "application/json")
	quiet := route.KeepAlive(w, g.Limits.Heartbeat/3)
	ctx, stop := g.Until(r.Context())
	defer stop()
	x, err := test(ctx, func(probe.Result) {})
	quiet()
	if err != nil {
		panic(http.ErrAbortHandler) // a cut connection
	}
	return json.NewEncoder(w).Encode(examinedJSON{x, x.Sentence()})
}

// tell writes the results of a test as they come.
func (g *Group) tell(w http.ResponseWriter, r *http.Request, test probe.Test) error {
	out := route.NewOutlet(w, g.Limits, lines, "\n")
	defer out.Close()
	ctx, stop := g.Until(r.Context())
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	line := func(v any) {
		err := out.Write(func(add route.Add) error {
			return add(func(b []byte) ([]byte, error) {
				raw, err := json.Marshal(v)
				return append(append(b, raw...), '\n'), err
			})
		})
		if err != nil {
			cancel() // nobody reads: the model is not asked for more
		}
	}
	x, err := test(ctx, func(r probe.Result) { line(r) })
	if err != nil || ctx.Err() != nil {
		panic(http.ErrAbortHandler) // a cut connection: a test without a last line has none
	}
	line(examinedJSON{x, x.Sentence()})
	return nil
}
