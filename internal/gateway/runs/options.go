package runs

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/assistants"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// What a request says about its run beside the input: the options of the agent in its context and its config.

// serverOwned are the options that tell whom a run belongs to and how it came. Only this program says that: a client
// that could would give itself rights, or take a person's place. (github_token is a secret.)
var serverOwned = []string{
	"user_id", "user_role", "is_internal", "authz_attributes", "oauth_provider", "oauth_id", "channel_user_id",
	"channel_name", "non_interactive", "github_token",
}

// sanitized is a config or context without secrets, which a run may use but nobody may keep, and without what only the
// server can say. What is no object, which is a fault already, becomes nil.
func sanitized(raw json.RawMessage) json.RawMessage {
	members, ok := rawjson.Members(raw)
	if !ok {
		return nil
	}
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool {
		return name == "secrets" || strings.HasPrefix(name, "__") || slices.Contains(serverOwned, name)
	})
	for _, name := range []string{"context", "configurable"} {
		if clean := sanitized(members[name]); clean != nil {
			members[name] = clean
		}
	}
	return route.Object(members)
}

// standOn lays the request on what its assistant sets: an option that the request names, wherever it does, is the
// request's.
func (o *order) standOn(a assistants.Assistant) {
	base, context := shape.Members(sanitized(a.Config)), sanitized(a.Context)
	config := shape.Members(o.Config)
	own := make(map[string]bool)
	for _, raw := range []json.RawMessage{o.Context, config["context"], config["configurable"]} {
		for name, v := range shape.Members(raw) {
			own[name] = own[name] || string(v) != "null" // which says nothing
		}
	}
	o.Context = over(context, o.Context, own)
	for _, part := range []string{"context", "configurable"} {
		merged := over(base[part], config[part], own)
		if delete(base, part); merged != nil {
			config[part] = merged
		}
	}
	if len(base)+len(config) > 0 {
		o.Config = over(route.Object(base), route.Object(config), nil)
	}
	if o.MaxSteps == 0 { // of an assistant that nobody has checked
		o.MaxSteps = optionsOf(o.Config).Integer("recursion_limit", 0, 1, maxSteps)
	}
	if o.Model == "" && !own["model_name"] {
		conf := shape.Members(o.Config)["configurable"]
		o.Model = cmp.Or(optionsOf(o.Context).Str("model_name"), optionsOf(conf).Str("model_name"))
	}
}

func optionsOf(raw json.RawMessage) *route.Input { return &route.Input{Members: shape.Members(raw)} }

// over adds to an object what a lower one has beside it, but for the options named; nil if there is nothing in either.
func over(low, high json.RawMessage, but map[string]bool) json.RawMessage {
	members := shape.Members(low)
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return but[name] })
	if len(members) == 0 {
		return high
	}
	for name, v := range shape.Members(high) {
		if string(v) != "null" || members[name] == nil {
			members[name] = v
		}
	}
	return route.Object(members)
}
