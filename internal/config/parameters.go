package config

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// sampling moves the parameters that every provider takes in its request body there; extra_body wins.
func (m *Model) sampling(d *decoder, at string) {
	if !isObject(m.ExtraBody) {
		return // told already
	}
	body := rawjson.Stack(object(m.Extra["model_kwargs"]), object(m.ExtraBody))
	delete(m.Extra, "model_kwargs")
	for _, key := range []string{"top_p", "top_k", "frequency_penalty", "presence_penalty", "seed", "stop"} {
		v, ok := m.Extra[key]
		if !ok {
			continue
		}
		delete(m.Extra, key)
		if _, own := body[key]; own {
			d.warnf(m.Line, at+"."+key, "has no effect beside extra_body.%s", key)
		} else if string(v) != "null" {
			body[key] = v
		}
	}
	if len(body) > 0 {
		m.ExtraBody = encode(body)
	}
}

// chooseWire decides between the wires that one vendor has.
func (m *Model) chooseWire() {
	switch m.Wire {
	case WireGemini:
		if strings.HasSuffix(m.BaseURL, "/openai") { // Google's gateway for OpenAI's clients
			m.Wire = WireOpenAI
		}
	case WireOpenAI:
		if (m.Provider == "openai" || m.Provider == "azure") && m.wantsResponses() && m.Dialect == m.ownDialect() {
			m.Wire = WireResponses
		}
	}
}

// wantsResponses goes by what DeerFlow's class goes by: what the entry says, else arguments that only the Responses API
// has.
func (m *Model) wantsResponses() bool {
	if m.UseResponses != nil {
		return *m.UseResponses
	}
	return m.OutputVersion == "responses/v1" || isTable(m.Reasoning)
}

// parameters moves the arguments that become headers or fields of the body of this wire.
func (m *Model) parameters(d *decoder, at string) {
	for _, key := range []string{"organization", "openai_organization"} {
		if v := m.take(key); v != "" {
			m.header("OpenAI-Organization", v)
		}
	}
	m.betas(d, at)
	body := object(m.ExtraBody)
	for _, key := range []string{"effort", "thinking_level"} {
		if v := m.take(key); v != "" && m.Effort == "" {
			m.Effort = v
		}
	}
	body = rawjson.Stack(m.reasoningArgument(), body)
	if m.StreamUsage != nil && !*m.StreamUsage && m.Wire == WireOpenAI {
		body = rawjson.Stack(map[string]json.RawMessage{"stream_options": json.RawMessage("null")}, body)
	}
	if m.Wire == WireGemini || m.Wire == WireAnthropic {
		body = m.placed(body)
	}
	if m.Says("thinking_budget") && m.ThinkingBudget == 0 && !m.Says("supports_thinking") {
		m.Said = append(m.Said, "supports_thinking") // a budget of nothing: it is not to think
	}
	if len(body) > 0 {
		m.ExtraBody = encode(body)
	}
}

// placed brings sampling parameters of the top level to where the wire has them.
func (m *Model) placed(body map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, k := range slices.Sorted(maps.Keys(body)) {
		out = rawjson.Stack(out, nest(m.place(k), body[k]))
	}
	return out
}

// reasoningArgument reads the argument "reasoning": its effort becomes the model's, the rest goes to the body.
func (m *Model) reasoningArgument() map[string]json.RawMessage {
	if m.Reasoning == nil {
		return nil
	}
	if !isTable(m.Reasoning) {
		if word := text(m.Reasoning); word != "" && m.Effort == "" {
			m.Effort = word
		}
		if string(m.Reasoning) == "false" && !m.Says("supports_thinking") {
			m.Said = append(m.Said, "supports_thinking")
		}
		return nil
	}
	if m.Wire != WireResponses {
		return map[string]json.RawMessage{"reasoning": m.Reasoning}
	}
	rest := object(m.Reasoning)
	if effort := text(rest["effort"]); effort != "" && m.Effort == "" {
		m.Effort = effort
	}
	delete(rest, "effort")
	if len(rest) > 0 { // beside the provider's own fields, so with those of thinking
		m.ThinkingOn = encode(rawjson.Stack(map[string]json.RawMessage{"reasoning": encode(rest)},
			object(m.ThinkingOn)))
	}
	return nil
}

// betas turns Anthropic's list of betas into its header.
func (m *Model) betas(d *decoder, at string) {
	raw, ok := m.Extra["betas"]
	if !ok {
		return
	}
	delete(m.Extra, "betas")
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		d.failf(m.Line, at+".betas", "must be a list of words")
		return
	}
	if len(list) > 0 {
		m.header("anthropic-beta", strings.Join(list, ","))
	}
}

// header sets a header that the entry does not set itself.
func (m *Model) header(name, value string) {
	for k := range m.Headers {
		if strings.EqualFold(k, name) {
			return
		}
	}
	if m.Headers == nil {
		m.Headers = map[string]string{}
	}
	m.Headers[name] = value
}

// take removes a word from the other keys and returns it.
func (m *Model) take(key string) string {
	v, ok := m.Extra[key]
	if !ok {
		return ""
	}
	delete(m.Extra, key)
	return text(v)
}

// azure makes the address of an entry that names Azure's parts of it.
func (m *Model) azure() {
	endpoint, deployment := strings.TrimRight(m.take("azure_endpoint"), "/"), m.take("azure_deployment")
	version := m.take("api_version")
	if v := m.take("openai_api_version"); version == "" {
		version = v
	}
	if endpoint == "" || m.BaseURL != "" {
		return
	}
	if version == "" || deployment == "" && m.ID == "" {
		m.BaseURL = azureBase(endpoint)
		return
	}
	m.BaseURL = endpoint + "/openai/deployments/" + cmp.Or(deployment, m.ID) + "?api-version=" + version
}

// azureBase completes the address of a resource, as the portal shows it, to that of its API without versions.
func azureBase(address string) string {
	if _, path, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/"); path == "" && address != "" {
		return strings.TrimRight(address, "/") + "/openai/v1"
	}
	return address
}

// text is a JSON text, or empty for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
