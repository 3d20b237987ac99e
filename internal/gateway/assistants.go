package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// systemAssistant is the id that LangGraph derives from the name of the graph: UUID 5 of "lead_agent" in the namespace
// 6ba7b821-9dad-11d1-80b4-00c04fd430c8. It stands for the lead agent as it is, and is not stored.
const systemAssistant = "bee7d354-5df5-5f26-a978-10ea053f620d"

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

const (
	maxAssistantName  = 256       // bytes
	maxDescription    = 16 << 10  // bytes
	maxAssistantParts = 256 << 10 // bytes of a config, and of a context
)

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
	return assistantJSON{
		AssistantID: a.ID, GraphID: a.GraphID, Name: a.Name, Description: orNil(a.Description), Config: orEmpty(a.Config),
		Context: orEmpty(a.Context), Metadata: orEmpty(a.Metadata), Version: a.Version,
		CreatedAt: stamp(a.CreatedAt), UpdatedAt: stamp(a.UpdatedAt),
	}
}

// leadAssistant is the one that is always there.
func (s *Server) leadAssistant() assistants.Assistant {
	return assistants.Assistant{
		ID: systemAssistant, GraphID: GraphID, Name: GraphID, Description: "Lead agent", Version: 1,
		Metadata: json.RawMessage(`{"created_by":"system"}`), CreatedAt: s.About.Started, UpdatedAt: s.About.Started,
	}
}

// ThreadMetadata is what a thread tells of its first run, so that clients find the threads of their assistant.
func ThreadMetadata(req runs.Request) json.RawMessage {
	assistant := req.AssistantID
	if assistant == "" || assistant == GraphID {
		assistant = systemAssistant
	}
	return with(nil, map[string]string{"graph_id": GraphID, "assistant_id": assistant})
}

// assistant finds an assistant by its id, or the lead agent by the graph's name or by none. The error is a 404.
func (s *Server) assistant(r *http.Request, idOrName string) (assistants.Assistant, error) {
	id := strings.ToLower(idOrName)
	if idOrName == "" || idOrName == GraphID || id == systemAssistant {
		return s.leadAssistant(), nil
	}
	if !uuid.MatchString(id) {
		return assistants.Assistant{}, notFound("Assistant", clip(idOrName))
	}
	a, err := s.assistants(r.Context()).Assistant(r.Context(), id)
	if errors.Is(err, store.ErrNotFound) {
		return assistants.Assistant{}, notFound("Assistant", id)
	}
	return a, err
}

// getAssistant shows an assistant.
func (s *Server) getAssistant(w http.ResponseWriter, r *http.Request) error {
	a, err := s.assistant(r, r.PathValue("assistant_id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, assistantOf(a))
}

// assistantFilter reads which assistants are meant, and whether the lead agent is one of them.
func (s *Server) assistantFilter(in *input) (f assistants.Filter, lead bool) {
	f = assistants.Filter{
		GraphID: in.text("graph_id", maxAssistantName), Name: in.text("name", maxAssistantName), Metadata: in.filter("metadata"),
	}
	a := s.leadAssistant()
	lead = (f.GraphID == "" || f.GraphID == a.GraphID) && strings.Contains(a.Name, strings.ToLower(f.Name))
	return f, lead && hasMembers(metadataOf(a), f.Metadata)
}

// searchAssistants lists assistants: the lead agent first, whatever the order of the others.
func (s *Server) searchAssistants(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, true)
	if err != nil {
		return err
	}
	f, lead := s.assistantFilter(in)
	p, selected := in.page(10), in.names("select", maxSelect)
	f.Sort = in.oneOf("sort_by", "created_at", "updated_at", "name", "assistant_id", "graph_id")
	f.Ascending = in.oneOf("sort_order", "desc", "asc") == "asc"
	if err := in.err(); err != nil {
		return err
	}
	if f.Sort == "graph_id" { // there is one graph
		f.Sort = "assistant_id"
	}
	out := []assistantJSON{}
	f.Limit, f.Offset = p.limit+1, p.offset
	switch {
	case lead && p.offset == 0:
		out = append(out, assistantOf(s.leadAssistant()))
		f.Limit--
	case lead:
		f.Offset--
	}
	list, err := s.assistants(r.Context()).Search(r.Context(), f)
	if err != nil {
		return err
	}
	for _, a := range list {
		out = append(out, assistantOf(a))
	}
	return replyList(w, out[:p.cut(w, len(out))], selected)
}

// countAssistants counts assistants.
func (s *Server) countAssistants(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, true)
	if err != nil {
		return err
	}
	f, lead := s.assistantFilter(in)
	if err := in.err(); err != nil {
		return err
	}
	n, err := s.assistants(r.Context()).Count(r.Context(), f)
	if err != nil {
		return err
	}
	if lead {
		n++
	}
	return reply(w, http.StatusOK, n)
}

// take reads what a client sets of an assistant; members that are missing stay as they are. Metadata is merged, member by
// member.
func (in *input) take(a *assistants.Assistant) {
	if in.raw("graph_id") != nil {
		a.GraphID = in.text("graph_id", maxAssistantName)
	}
	if in.raw("name") != nil {
		a.Name = in.text("name", maxAssistantName)
	}
	if in.raw("description") != nil {
		a.Description = in.text("description", maxDescription)
	}
	if raw := in.bounded("config", maxAssistantParts); raw != nil {
		a.Config = raw
	}
	if raw := in.bounded("context", maxAssistantParts); raw != nil {
		a.Context = raw
	}
	members := metadataOf(*a)
	more, _ := rawjson.Members(in.metadata("metadata"))
	maps.Copy(members, more)
	a.Metadata = object(members)
}

func (s *Server) checkAssistant(in *input, a assistants.Assistant) error {
	if len(a.Metadata) > maxMetadata {
		in.add("too_long", "Dictionary should have at most 65536 bytes of JSON", nil, in.loc("metadata")...)
	}
	if err := in.err(); err != nil {
		return err
	}
	if a.GraphID != GraphID {
		return notFound("Graph", clip(a.GraphID))
	}
	s.checkModels(in)
	return in.err()
}

// checkModels refuses an assistant whose runs would name a model that is not there: they would get another one.
func (s *Server) checkModels(in *input) {
	config := in.object("config")
	for _, options := range []*input{in.object("context"), config.object("context"), config.object("configurable")} {
		for _, key := range []string{"model_name", "model"} {
			name, _ := rawjson.String(options.raw(key))
			if name == "" || slices.ContainsFunc(s.Models, func(m Model) bool { return m.Name == name }) {
				continue
			}
			names := make([]string, len(s.Models))
			for i, m := range s.Models {
				names[i] = m.Name
			}
			in.add("value_error", fmt.Sprintf("Value error, Model '%s' is not configured; choose among %s", clip(name), strings.Join(names, ", ")),
				quoted(options.raw(key)), options.loc(key)...)
		}
	}
}

// createAssistant makes an assistant. One that exists is an error, or is answered as it is with if_exists "do_nothing".
func (s *Server) createAssistant(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, false)
	if err != nil {
		return err
	}
	now := s.Now()
	a := assistants.Assistant{ID: strings.ToLower(in.str("assistant_id")), Name: "Untitled", Version: 1, CreatedAt: now, UpdatedAt: now}
	if a.ID == "" {
		a.ID = id.New(now)
	}
	if !uuid.MatchString(a.ID) {
		in.add("uuid_parsing", "Input should be a valid UUID", quoted(in.raw("assistant_id")), in.loc("assistant_id")...)
	}
	if in.raw("graph_id") == nil {
		in.add("missing", "Field required", nil, in.loc("graph_id")...)
	}
	in.take(&a)
	raise := in.oneOf("if_exists", "raise", "do_nothing") == "raise"
	if err := s.checkAssistant(in, a); err != nil {
		return err
	}
	err = store.ErrConflict
	if a.ID != systemAssistant {
		err = s.assistants(r.Context()).Create(r.Context(), a)
	}
	if errors.Is(err, store.ErrConflict) {
		if raise {
			return failf(http.StatusConflict, "Assistant %s already exists", a.ID)
		}
		a, err = s.assistant(r, a.ID)
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, assistantOf(a))
}

// ownAssistant is the assistant of the path, if it is one that a client has made and may change.
func (s *Server) ownAssistant(r *http.Request) (assistants.Assistant, error) {
	a, err := s.assistant(r, r.PathValue("assistant_id"))
	if err == nil && a.ID == systemAssistant {
		err = failf(http.StatusForbidden, "The assistant %s belongs to the server; make one of your own to change it", GraphID)
	}
	return a, err
}

// patchAssistant makes a new version of an assistant.
func (s *Server) patchAssistant(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, false)
	if err != nil {
		return err
	}
	a, err := s.ownAssistant(r)
	if err != nil {
		return err
	}
	in.take(&a)
	if err := s.checkAssistant(in, a); err != nil {
		return err
	}
	a.UpdatedAt = s.Now()
	if a, err = s.assistants(r.Context()).Update(r.Context(), a); err != nil {
		return err
	}
	return reply(w, http.StatusOK, assistantOf(a))
}

// deleteAssistant removes an assistant with all its versions. Runs and threads that it was used for stay.
func (s *Server) deleteAssistant(w http.ResponseWriter, r *http.Request) error {
	q := query{r: r}
	if q.boolean("delete_threads") {
		return failf(http.StatusUnprocessableEntity, "delete_threads is not supported; delete the threads one by one")
	}
	if err := q.err(); err != nil {
		return err
	}
	a, err := s.ownAssistant(r)
	if err == nil {
		err = s.assistants(r.Context()).Delete(r.Context(), a.ID)
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, []string{a.ID})
}

// assistantVersions lists the versions of an assistant, the newest first.
func (s *Server) assistantVersions(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, true)
	if err != nil {
		return err
	}
	p, match := in.page(10), in.filter("metadata")
	if err := in.err(); err != nil {
		return err
	}
	a, err := s.assistant(r, r.PathValue("assistant_id"))
	if err != nil {
		return err
	}
	list := []assistants.Assistant{a}
	if a.ID != systemAssistant {
		list, err = s.assistants(r.Context()).Versions(r.Context(), a.ID, 1000, 0) // filtered here
	}
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(a assistants.Assistant) bool { return !hasMembers(metadataOf(a), match) })
	list = list[min(p.offset, len(list)):]
	out := make([]assistantJSON, p.cut(w, min(len(list), p.limit+1)))
	for i := range out {
		out[i] = assistantOf(list[i])
	}
	return reply(w, http.StatusOK, out)
}

func metadataOf(a assistants.Assistant) map[string]json.RawMessage {
	members, _ := rawjson.Members(orEmpty(a.Metadata))
	return members
}

// latestAssistant puts a version of an assistant in force.
func (s *Server) latestAssistant(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, false)
	if err != nil {
		return err
	}
	version := in.integer("version", 0, 1, 1<<31-1)
	if in.raw("version") == nil {
		in.add("missing", "Field required", nil, in.loc("version")...)
	}
	if err := in.err(); err != nil {
		return err
	}
	a, err := s.assistant(r, r.PathValue("assistant_id"))
	if err == nil && a.Version != version {
		a, err = s.assistants(r.Context()).SetLatest(r.Context(), a.ID, version)
		if errors.Is(err, store.ErrNotFound) {
			err = failf(http.StatusNotFound, "Version %d of assistant %s not found", version, clip(r.PathValue("assistant_id")))
		}
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, assistantOf(a))
}
