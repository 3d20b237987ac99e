package openai

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// members are the fields of a body that stand before its messages.
type members []member

type member struct {
	key   string
	value []byte
}

// none is the least of the efforts.
const none = "none"

// head makes them: what the protocol and the settings ask for, then the configuration's extra body, which wins, and at
// last its fields for thinking, which are merged into all of it.
func (m *Model) head(req *model.Request, f *fixed, s model.Settings) members {
	d := m.dialect
	h := append(make(members, 0, 8), member{"model", quoted(m.cfg.Model)}, member{"stream", []byte("true")})
	if d.wholeCalls && len(req.Tools) > 0 {
		h[1].value = []byte("false")
	} else if !d.noOptions {
		h = append(h, member{"stream_options", []byte(`{"include_usage":true}`)})
	}
	if len(req.Tools) > 0 {
		h = append(h, member{"tools", f.encodedTools})
	}
	h.merge(d.always)
	m.settings(&h, s)
	h = m.extra(h)
	if s.Thinking != nil {
		own := m.cfg.ThinkingOff
		if *s.Thinking {
			own = m.cfg.ThinkingOn
		}
		for _, key := range slices.Sorted(maps.Keys(own)) {
			h.mergeField(m.fieldName(key), own[key])
		}
	}
	return h
}

// settings translates the settings of one call.
func (m *Model) settings(h *members, s model.Settings) {
	if s.Temperature != nil {
		h.mergeField("temperature", strconv.AppendFloat(nil, *s.Temperature, 'g', -1, 64))
	}
	if s.MaxTokens > 0 {
		h.mergeField(cmp.Or(m.dialect.maxTokens, "max_tokens"), strconv.AppendInt(nil, int64(s.MaxTokens), 10))
	}
	t := m.dialect.thinks(m.cfg.Model)
	if t == nil {
		return
	}
	if s.Effort == none && t.off != "" &&
		!slices.ContainsFunc(t.levels, func(l level) bool { return l.effort == none }) {
		s.Thinking = new(bool)
	}
	switch {
	case s.Thinking != nil && !*s.Thinking:
		if m.cfg.ThinkingOff == nil {
			h.merge(t.off)
		}
		return
	case s.Thinking != nil && m.cfg.ThinkingOn == nil:
		h.merge(t.on)
	}
	if s.Effort != "" && t.effort != "" {
		h.effort(t, s.Effort)
	}
}

// effort writes an effort in the vendor's way.
func (h *members) effort(t *thinking, effort string) {
	value := t.nearest(effort)
	if value == "" {
		return
	}
	outer, inner, nested := strings.Cut(t.effort, ".")
	if nested {
		value = `{"` + inner + `":` + value + `}`
	}
	h.mergeField(outer, []byte(value))
}

// extra puts the configuration's extra body behind what it replaces; null leaves a field out.
func (m *Model) extra(h members) members {
	if len(m.cfg.ExtraBody) == 0 {
		return h
	}
	h = slices.DeleteFunc(h, func(f member) bool {
		_, own := m.cfg.ExtraBody[f.key]
		return own && !locked(f.key)
	})
	for _, key := range slices.Sorted(maps.Keys(m.cfg.ExtraBody)) {
		if raw := m.cfg.ExtraBody[key]; !locked(key) && len(raw) > 0 && string(raw) != "null" {
			h = append(h, member{key, raw})
		}
	}
	return h
}

// locked are the fields that no configuration changes.
func locked(key string) bool { return key == "messages" || key == "stream" }

// fieldName is the vendor's name of a field of the protocol.
func (m *Model) fieldName(key string) string {
	if key == "max_tokens" && m.dialect.maxTokens != "" {
		return m.dialect.maxTokens
	}
	return key
}

func (h members) find(key string) int {
	return slices.IndexFunc(h, func(f member) bool { return f.key == key })
}

// merge adds fields that are given as JSON without braces.
func (h *members) merge(fields string) {
	if fields == "" {
		return
	}
	var f message.Fields
	_ = json.Unmarshal([]byte("{"+fields+"}"), &f) // of the table, whose test reads it all
	for _, key := range slices.Sorted(maps.Keys(f)) {
		h.mergeField(key, f[key])
	}
}

// mergeField adds a field; an object is merged into the one that stands there, and null removes it.
func (h *members) mergeField(key string, value []byte) {
	i := h.find(key)
	switch {
	case locked(key) || len(value) == 0:
	case string(value) == "null":
		if i >= 0 {
			*h = slices.Delete(*h, i, i+1)
		}
	case i >= 0:
		(*h)[i].value = rawjson.MergeValue((*h)[i].value, value)
	default:
		*h = append(*h, member{key, value})
	}
}

func quoted(s string) []byte { return rawjson.AppendString(nil, s) }

func quote(s string) string { return string(quoted(s)) }
