package golden

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
)

// opaque are keys whose values belong to the graph, the model or the server that was recorded, and not to the protocol.
func opaque(set, key string) bool {
	if slices.Contains([]string{"response_metadata", "usage_metadata", "additional_kwargs", "input_schema",
		"output_schema",
		"state_schema", "config_schema", "context_schema", "ctx", "nodes", "input", "edges", "result", "artifact",
		"args"}, key) {
		return true
	}
	if key == "configurable" || key == "context" {
		return true
	}
	return set == "langgraph" &&
		slices.Contains([]string{"values", "metadata", "config", "kwargs", "context", "configurable",
			"payload", "checkpoint_map", "value"}, key)
}

// fixed tells whether the protocol fixes the value of a key, so that it is compared and not only its type.
func fixed(set, key, value string) bool {
	switch key {
	case "status":
		return slices.Contains([]string{"error", "interrupted", "success"}, value)
	case "detail", "msg", "loc":
		return set == "gateway"
	case "type":
		return len(value) < 40
	case "assistant_id", "graph_id":
		return value == "lead_agent"
	case "multitask_strategy", "virtual_path", "filename":
		return true
	}
	return false
}

// shape makes the shape of a JSON value. key is the object's key that holds it; a list hands its own on to its items.
func (c *converter) shape(key string, v any) *Shape {
	switch v := v.(type) {
	case map[string]any:
		if opaque(c.set, key) {
			return &Shape{Kind: Any}
		}
		fields := map[string]*Shape{}
		for k, item := range v {
			if k != c.names(k) || uuid.MatchString(k) { // the keys are ids of tasks
				continue
			}
			fields[k] = c.shape(k, item)
		}
		if _, ok := fields["parent_checkpoint_id"]; ok && c.set == "gateway" {
			keep(fields["metadata"], "source", "step", "parents")
		}
		if (key == "messages" || key == "message") && c.set == "langgraph" {
			keep(&Shape{Fields: fields}, "id", "type", "content")
		}
		return &Shape{Kind: Object, Fields: fields}
	case []any:
		return c.list(key, v)
	case string:
		return c.text(key, v)
	case json.Number:
		return c.scalar(Number, v)
	case bool:
		return c.scalar(Boolean, v)
	case nil:
		return c.scalar(Any, v)
	}
	return &Shape{Kind: Any}
}

// scalar is a number, a boolean or null.
func (c *converter) scalar(kind string, v any) *Shape {
	if c.exact {
		return &Shape{Kind: Is, Text: plain(v)}
	}
	return &Shape{Kind: kind}
}

// keep drops all other keys of an object.
func keep(s *Shape, keys ...string) {
	if s != nil {
		maps.DeleteFunc(s.Fields, func(k string, _ *Shape) bool { return !slices.Contains(keys, k) })
	}
}

func (c *converter) list(key string, v []any) *Shape {
	out := &Shape{Kind: Array}
	if opaque(c.set, key) {
		return &Shape{Kind: Any}
	}
	switch {
	case c.exact && key == "facts": // they are sorted by ids that the server makes
		out.Kind = Mixed
	case c.exact:
		out.Kind = Exactly
	}
	for _, item := range v {
		if c.exact {
			out.Rows = append(out.Rows, c.shape(key, item))
			continue
		}
		out.Items = Merge(out.Items, c.shape(key, item))
	}
	return out
}

var timeText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT`)

func (c *converter) text(key, v string) *Shape {
	if name, ok := c.known(v); ok {
		return &Shape{Kind: Literal, Text: name}
	}
	if fixed(c.set, key, v) || c.exact && !timeText.MatchString(v) {
		return &Shape{Kind: Literal, Text: c.pattern(v)}
	}
	return &Shape{Kind: String}
}
