package assistants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/assistants"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// assistantJSON is an assistant as clients see it.
type assistantJSON struct {
	AssistantID string          `json:"assistant_id"`
	GraphID     string          `json:"graph_id"`
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Config      json.RawMessage `json:"config"`
	Context     json.RawMessage `json:"context"`
	Metadata    json.RawMessage `json:"metadata"`
	Version     int             `json:"version"`
	CreatedAt   string          `json:"created_at"`
	UpdatedAt   string          `json:"updated_at"`
}

func assistantOf(a assistants.Assistant) assistantJSON {
	description := shape.OrNil(a.Description)
	if a.ID == a.Name { // an own agent: as DeerFlow has it, that is a text
		description = &a.Description
	}
	return assistantJSON{
		AssistantID: a.ID, GraphID: a.GraphID, Name: a.Name, Description: description, Config: shape.OrEmpty(a.Config),
		Context: shape.OrEmpty(a.Context), Metadata: shape.OrEmpty(a.Metadata), Version: a.Version,
		CreatedAt: shape.Stamp(a.CreatedAt), UpdatedAt: shape.Stamp(a.UpdatedAt),
	}
}

// leadAssistant is the one that is always there.
func (g *Group) leadAssistant() assistants.Assistant {
	return assistants.Assistant{
		ID: shape.SystemAssistant, GraphID: shape.GraphID, Name: shape.GraphID, Description: "Lead agent", Version: 1,
		Metadata: json.RawMessage(`{"created_by":"system"}`), CreatedAt: g.Started, UpdatedAt: g.Started,
	}
}

// ofAgent is an agent of the caller's as an assistant: its runs are that agent's.
func (g *Group) ofAgent(a agents.Agent) assistants.Assistant {
	return assistants.Assistant{
		ID: a.Name, GraphID: shape.GraphID, Name: a.Name, Description: a.Description, Version: 1,
		Context:  json.RawMessage(`{"agent_name":"` + a.Name + `"}`), // of letters, digits and hyphens
		Metadata: json.RawMessage(`{"created_by":"user"}`), CreatedAt: g.Started, UpdatedAt: g.Started,
	}
}

// Find finds an assistant of the caller's by its id, an own agent by its name, or the lead agent by the graph's name or
// by none. The error is a 404.
func (g *Group) Find(ctx context.Context, idOrName string) (assistants.Assistant, error) {
	id := strings.ToLower(idOrName)
	if idOrName == "" || idOrName == shape.GraphID || id == shape.SystemAssistant {
		return g.leadAssistant(), nil
	}
	if !uuid.MatchString(id) {
		if a, err := g.Agents.Load(route.Caller(ctx).User, id); err == nil {
			return g.ofAgent(a), nil
		}
		return assistants.Assistant{}, route.NotFound("Assistant", route.Clip(idOrName))
	}
	a, err := g.mine(ctx).Assistant(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return assistants.Assistant{}, route.NotFound("Assistant", id)
	}
	return a, err
}

// named is a request about an assistant.
type named struct {
	ID string `path:"assistant_id"`
}

// get shows an assistant.
func (g *Group) get(ctx context.Context, in *named) (assistantJSON, error) {
	a, err := g.Find(ctx, in.ID)
	return assistantOf(a), err
}

// filterIn says which assistants are meant.
type filterIn struct {
	GraphID  string       `body:"graph_id" max:"256"`
	Name     string       `body:"name" max:"256"`
	Metadata route.Filter `body:"metadata"`
}

// filter is which assistants are meant, and whether the lead agent is one of them.
func (g *Group) filter(in *filterIn) (f assistants.Filter, lead bool) {
	f = assistants.Filter{GraphID: in.GraphID, Name: in.Name, Metadata: in.Metadata}
	a := g.leadAssistant()
	lead = (f.GraphID == "" || f.GraphID == a.GraphID) && strings.Contains(a.Name, strings.ToLower(f.Name))
	return f, lead && shape.HasMembers(shape.Members(a.Metadata), f.Metadata)
}

type searchIn struct {
	filterIn

	Limit  int      `body:"limit" default:"10" min:"1" max:"1000"`
	Offset int      `body:"offset" max:"1073741824"`
	Select []string `body:"select" max:"64"`
	SortBy string   `body:"sort_by" enum:"created_at,updated_at,name,assistant_id,graph_id"`
	Order  string   `body:"sort_order" enum:"desc,asc"`
}

// search lists assistants: the lead agent first, whatever the order of the others.
func (g *Group) search(ctx context.Context, in *searchIn) (out route.Page[assistantJSON], err error) {
	f, lead := g.filter(&in.filterIn)
	f.Sort, f.Ascending = in.SortBy, in.Order == "asc"
	if f.Sort == "graph_id" { // there is one graph
		f.Sort = "assistant_id"
	}
	all := []assistantJSON{}
	f.Limit, f.Offset = in.Limit+1, in.Offset
	switch {
	case lead && in.Offset == 0:
		all = append(all, assistantOf(g.leadAssistant()))
		f.Limit--
	case lead:
		f.Offset--
	}
	list, err := g.mine(ctx).Search(ctx, f)
	if err != nil {
		return out, err
	}
	for _, a := range list {
		all = append(all, assistantOf(a))
	}
	out = route.PageOf(all, in.Limit, in.Offset)
	out.Select = in.Select
	return out, nil
}

// count counts assistants.
func (g *Group) count(ctx context.Context, in *filterIn) (int, error) {
	f, lead := g.filter(in)
	n, err := g.mine(ctx).Count(ctx, f)
	if lead {
		n++
	}
	return n, err
}

// setIn is what a client sets of an assistant.
type setIn struct {
	GraphID     string          `body:"graph_id" max:"256"`
	Name        string          `body:"name" max:"256"`
	Description string          `body:"description" max:"16384"`
	Config      json.RawMessage `body:"config" max:"262144"`
	Context     json.RawMessage `body:"context" max:"262144"`
	Metadata    route.Metadata  `body:"metadata"`
	Body        route.Rest      `body:"*"`
}

// onto sets it; members that are missing stay as they are. Metadata is merged, member by member.
func (in *setIn) onto(a *assistants.Assistant) {
	for name, texts := range map[string]struct {
		to   *string
		text string
	}{"graph_id": {&a.GraphID, in.GraphID}, "name": {&a.Name, in.Name},
		"description": {&a.Description, in.Description}} {
		if in.Body.Raw(name) != nil {
			*texts.to = texts.text
		}
	}
	if in.Config != nil {
		a.Config = in.Config
	}
	if in.Context != nil {
		a.Context = in.Context
	}
	members := shape.Members(a.Metadata)
	maps.Copy(members, shape.Members(json.RawMessage(in.Metadata)))
	a.Metadata = route.Object(members)
}

func (g *Group) check(in *route.Input, a assistants.Assistant) error {
	if len(a.Metadata) > route.MaxMetadata {
		in.Add("too_long", "Dictionary should have at most 65536 bytes of JSON", nil, in.Loc("metadata")...)
	}
	if err := in.Err(); err != nil {
		return err
	}
	if a.GraphID != shape.GraphID {
		return route.NotFound("Graph", route.Clip(a.GraphID))
	}
	g.checkOptions(in)
	return in.Err()
}

// holds reports whether secrets hold anything.
func holds(secrets json.RawMessage) bool {
	var list map[string]json.RawMessage
	return secrets != nil && (json.Unmarshal(secrets, &list) != nil || len(list) > 0)
}

// checkOptions refuses an assistant with secrets, and one whose runs would name a model that is not there: they would
// get another one.
func (g *Group) checkOptions(in *route.Input) {
	config := in.Object("config")
	for _, options := range []*route.Input{in.Object("context"), config.Object("context"),
		config.Object("configurable")} {
		if holds(options.Raw("secrets")) { // an assistant is kept as it is
			in.Add("value_error", "Value error, secrets are for one run: send them with its request", nil,
				options.Loc("secrets")...)
		}
		for _, key := range []string{"model_name", "model"} {
			name, _ := rawjson.String(options.Raw(key))
			if _, known := shape.Find(g.Models, name); name == "" || known {
				continue
			}
			names := make([]string, len(g.Models))
			for i, m := range g.Models {
				names[i] = m.Name
			}
			in.Add("value_error", fmt.Sprintf("Value error, Model '%s' is not configured; choose among %s",
				route.Clip(name), strings.Join(names, ", ")),
				route.Quoted(options.Raw(key)), options.Loc(key)...)
		}
	}
}

type createIn struct {
	ID string `body:"assistant_id"`
	setIn

	IfExists string `body:"if_exists" enum:"raise,do_nothing"`
}

// create makes an assistant. One that exists is an error, or is answered as it is with if_exists "do_nothing".
func (g *Group) create(ctx context.Context, in *createIn) (assistantJSON, error) {
	now := g.Now()
	a := assistants.Assistant{ID: strings.ToLower(in.ID), Name: "Untitled", Version: 1, CreatedAt: now, UpdatedAt: now}
	if a.ID == "" {
		a.ID = id.New(now)
	}
	body := in.Body
	if !uuid.MatchString(a.ID) {
		body.Add("uuid_parsing", "Input should be a valid UUID", route.Quoted(body.Raw("assistant_id")),
			body.Loc("assistant_id")...)
	}
	body.Demand("graph_id")
	in.onto(&a)
	if err := g.check(body.Input, a); err != nil {
		return assistantJSON{}, err
	}
	err := store.ErrConflict
	if a.ID != shape.SystemAssistant {
		err = g.mine(ctx).Create(ctx, a)
	}
	if errors.Is(err, store.ErrConflict) {
		if in.IfExists == "raise" {
			return assistantJSON{}, route.Failf(http.StatusConflict, "Assistant %s already exists", a.ID)
		}
		a, err = g.Find(ctx, a.ID)
	}
	return assistantOf(a), err
}

// own is an assistant that a client has made and may change.
func (g *Group) own(ctx context.Context, id string) (assistants.Assistant, error) {
	a, err := g.Find(ctx, id)
	if err == nil && a.ID == shape.SystemAssistant {
		err = route.Failf(http.StatusForbidden,
			"The assistant %s belongs to the server; make one of your own to change it",
			shape.GraphID)
	}
	return a, err
}

type patchIn struct {
	named
	setIn
}

// patch makes a new version of an assistant.
func (g *Group) patch(ctx context.Context, in *patchIn) (out assistantJSON, err error) {
	a, err := g.own(ctx, in.ID)
	if err != nil {
		return out, err
	}
	in.onto(&a)
	if err := g.check(in.Body.Input, a); err != nil {
		return out, err
	}
	a.UpdatedAt = g.Now()
	a, err = g.mine(ctx).Update(ctx, a)
	return assistantOf(a), err
}

type removeIn struct {
	named

	Threads bool `query:"delete_threads"`
}

// remove removes an assistant with all its versions. Runs and threads that it was used for stay.
func (g *Group) remove(ctx context.Context, in *removeIn) ([]string, error) {
	if in.Threads {
		return nil, route.Failf(http.StatusUnprocessableEntity,
			"delete_threads is not supported; delete the threads one by one")
	}
	a, err := g.own(ctx, in.ID)
	if err == nil {
		err = g.mine(ctx).Delete(ctx, a.ID)
	}
	return []string{a.ID}, err
}

type versionsIn struct {
	named

	Limit  int          `body:"limit" default:"10" min:"1" max:"1000"`
	Offset int          `body:"offset" max:"1073741824"`
	Match  route.Filter `body:"metadata"`
}

// versions lists the versions of an assistant, the newest first.
func (g *Group) versions(ctx context.Context, in *versionsIn) (out route.Page[assistantJSON], err error) {
	a, err := g.Find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	list := []assistants.Assistant{a}
	if a.ID != shape.SystemAssistant {
		if list, err = g.mine(ctx).Versions(ctx, a.ID, 1000, 0); err != nil { // filtered here
			return out, err
		}
	}
	all := []assistantJSON{}
	for _, a := range list {
		if shape.HasMembers(shape.Members(a.Metadata), in.Match) {
			all = append(all, assistantOf(a))
		}
	}
	return route.PageOf(all[min(in.Offset, len(all)):], in.Limit, in.Offset), nil
}

type latestIn struct {
	named

	Version int `body:"version" min:"1" required:""`
}

// latest puts a version of an assistant in force.
func (g *Group) latest(ctx context.Context, in *latestIn) (out assistantJSON, err error) {
	a, err := g.Find(ctx, in.ID)
	if err == nil && a.Version != in.Version {
		a, err = g.mine(ctx).SetLatest(ctx, a.ID, in.Version)
		if errors.Is(err, store.ErrNotFound) {
			err = route.Failf(http.StatusNotFound, "Version %d of assistant %s not found", in.Version,
				route.Clip(in.ID))
		}
	}
	return assistantOf(a), err
}
