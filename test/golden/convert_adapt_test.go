package golden

import (
	"encoding/json"
	"regexp"
	"strings"
)

// adapt makes a request for the graphs of the recorded server one for ours: theirs keep a log of words and obey a
// "mode", ours keeps messages, and the script of the model obeys the words.
func adapt(set string, t *trace) {
	if set == "gateway" { // the places of other rows are other ones here
		t.path = strings.NewReplacer("messages?limit=1&after_seq=3", "messages?limit=1&after_seq=${p1}",
			"after_seq=3&before_seq=9", "after_seq=${p1}&before_seq=${p2}").Replace(t.path)
	}
	if set != "langgraph" || t.absent {
		return
	}
	t.path = system.ReplaceAllString(t.path, "lead_agent")
	t.path = regexp.MustCompile(`/assistants/(plain|parent)\b`).ReplaceAllString(t.path, "/assistants/lead_agent")
	if _, ok := t.headers["last-event-id"]; ok { // ids have another form here
		t.headers["last-event-id"] = "-1"
	}
	var v any
	if json.Unmarshal([]byte(t.body), &v) != nil {
		return
	}
	v = adaptValue("", v)
	if m, ok := v.(map[string]any); ok && (m["interrupt_before"] != nil || m["interrupt_after"] != nil) &&
		m["input"] != nil {
		m["input"] = state(map[string]any{"log": []any{"look into it"}}) // a run with a step to stop at
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return
	}
	t.body = string(raw)
}

func adaptValue(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if key == "input" || key == "values" || key == "update" {
			return state(v)
		}
		for k, item := range v {
			v[k] = adaptValue(k, item)
		}
	case []any:
		for i, item := range v {
			v[i] = adaptValue(key, item)
		}
	case string:
		return adaptText(key, v)
	}
	return v
}

func adaptText(key, v string) string {
	switch key {
	case "assistant_id", "graph_id", "assistantId":
		if strings.HasSuffix(v, "_agent") || v == "plain" || v == "parent" || system.MatchString(v) {
			return "lead_agent"
		}
	case "as_node", "interrupt_before", "interrupt_after", "goto":
		switch v {
		case "first", "last", "model_request":
			return "model"
		case "work":
			return "tools"
		}
	}
	return v
}

// state turns an update of their graph into one of ours.
func state(v map[string]any) map[string]any {
	log, ok := v["log"].([]any)
	mode, _ := v["mode"].(string)
	if !ok && mode == "" {
		if _, counts := v["count"]; counts {
			return map[string]any{"title": "counted"}
		}
		return v
	}
	words := []string{mode}
	for _, word := range log {
		if s, ok := word.(string); ok {
			words = append(words, s)
		}
	}
	return map[string]any{"messages": []any{map[string]any{"role": "user",
		"content": strings.TrimSpace(strings.Join(words, " "))}}}
}
