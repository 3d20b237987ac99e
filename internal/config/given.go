package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Given is an entry of models that stands in no file: somebody has added it while the program works.
type Given struct {
	Name     string // empty means provider/model
	Provider string
	ID       string // what the provider calls the model
	BaseURL  string // empty means the provider's own, or that of its variable
	Key      Secret // empty means that of the environment, if BaseURL is empty too
	// Settings is a JSON object with further keys of an entry, of those in [GivenKeys]; nil is none.
	Settings json.RawMessage
}

// GivenError says what is wrong with a key of an entry.
type GivenError struct {
	Key string // name, provider, model, base_url, api_key or settings
	Msg string // never has the value of a secret
}

// Error implements error.
func (e *GivenError) Error() string { return e.Key + ": " + e.Msg }

func wrong(key, format string, args ...any) error {
	return &GivenError{key, fmt.Sprintf(format, args...)}
}

// Bounds of an entry.
const (
	maxGivenName     = 200
	maxGivenID       = 300
	maxGivenURL      = 2000
	maxGivenKey      = 16 << 10
	maxGivenSettings = 16 << 10
)

// GivenKeys are the keys that Settings may have. The others would read variables or files of this machine, or hold
// secrets in the clear.
func GivenKeys() []string {
	return []string{
		"context_window", "description", "display_name", "fallbacks", "max_tokens", "pricing", "rate_limit",
		"reasoning_effort", "stream_chunk_timeout", "supports_reasoning_effort", "supports_thinking", "supports_vision",
		"temperature", "thinking_budget", "timeout", "use_responses_api", "when_thinking_disabled",
		"when_thinking_enabled",
	}
}

// FullName is the name by which runs ask for the model.
func (g *Given) FullName() string { return cmp.Or(g.Name, g.Provider+"/"+g.ID) }

// Model makes the model of the entry. The error says what is wrong with the entry; a model that is right and cannot be
// used here and now, such as one without a key, has an Err instead. Neither ever has the key in it.
//
// Of the environment, which is env, it takes the address and the key of the provider where the entry has no address of
// its own: no key of this machine goes to an address that somebody gave.
func (g *Given) Model(env Env) (Model, error) {
	p, err := g.check()
	if err != nil {
		return Model{}, err
	}
	d := &decoder{env: EnvFrom(func(name string) (string, bool) { return "$" + name, true })} // a "$NAME" is text here
	m := Model{Given: true}
	if err := g.decode(d, &m); err != nil {
		return Model{}, err
	}
	m.Name, m.Provider, m.ID, m.BaseURL, m.Key = g.FullName(), p.Name, g.ID, g.BaseURL, g.Key
	if g.BaseURL != "" {
		env = Env{}
	}
	m.settle(d, p, env)
	for _, problem := range d.problems {
		if e, ok := errors.AsType[*Error](problem); ok {
			e.Line = 0 // there is no file
		}
	}
	return m, d.err()
}

// settle completes an entry as resolve does with one of a file.
func (m *Model) settle(d *decoder, p Provider, env Env) {
	const at = "settings"
	m.defaults()
	m.thinking(d, at)
	m.sampling(d, at)
	m.azure()
	if err := m.connect(p, env); err != nil {
		m.disable(err)
		return
	}
	m.chooseWire()
	m.parameters(d, at)
}

// decode reads the settings into a model.
func (g *Given) decode(d *decoder, m *Model) error {
	if len(g.Settings) == 0 {
		return nil
	}
	var members map[string]any
	dec := json.NewDecoder(bytes.NewReader(g.Settings))
	dec.UseNumber()
	if len(g.Settings) > maxGivenSettings || dec.Decode(&members) != nil || dec.More() {
		return wrong("settings", "must be an object of at most %d bytes", maxGivenSettings)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(GivenKeys(), name) {
			return fmt.Errorf("settings.%.60s: is none of %s%s", name, strings.Join(GivenKeys(), ", "),
				suggest(name, GivenKeys()))
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	t, err := parseTree("settings", text) // JSON that is written anew is YAML
	if err != nil {
		return err
	}
	d.value(t, "settings", reflect.ValueOf(m).Elem(), "")
	m.Line = 0 // there is no file
	return nil
}

// check looks at all but the settings.
func (g *Given) check() (Provider, error) {
	p, known := provider(g.Provider)
	switch {
	case !known || p.Wire == WireScripted:
		names := slices.DeleteFunc(providerNames(), func(n string) bool { return n == "scripted" })
		return p, wrong("provider", "%.40q is none of %s%s", g.Provider, strings.Join(names, ", "),
			suggest(g.Provider, names))
	case !isLine(g.ID, maxGivenID):
		return p, wrong("model", "must be what %s calls the model, one line of at most %d bytes", p.Title, maxGivenID)
	}
	return p, cmp.Or(checkGivenName(g.FullName()), checkGivenURL(g.BaseURL), checkGivenKey(g.Key))
}

// isLine reports whether s is text of some length without control characters and without space around it.
func isLine(s string, most int) bool {
	return s != "" && len(s) <= most && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, unicode.IsControl)
}

// givenName keeps to what stands in the path of a URL as it is.
var givenName = regexp.MustCompile(`^[A-Za-z0-9_@][A-Za-z0-9_.:@+-]*(/[A-Za-z0-9_@][A-Za-z0-9_.:@+-]*)*$`)

func checkGivenName(name string) error {
	switch {
	case len(name) > maxGivenName || !givenName.MatchString(name):
		return wrong("name",
			"%.60q must be at most %d letters, digits and ._:@+-, in parts that / joins; give the model such a name",
			name, maxGivenName)
	case name == Demo:
		return wrong("name", "%q is the scripted demonstration; give the model another name", name)
	}
	return nil
}

// checkGivenURL refuses what could hide a secret: an address is shown and stored as it is.
func checkGivenURL(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	switch {
	case len(address) > maxGivenURL || checkURL(address) != nil || err != nil:
		return wrong("base_url", "must be an address such as https://host/v1")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return wrong("base_url",
			"must have no user, password, query or fragment: an address is shown to people; the key belongs into "+
				"api_key")
	}
	return nil
}

func checkGivenKey(key Secret) error {
	bad := func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }
	if len(key) > maxGivenKey || strings.ContainsFunc(string(key), bad) {
		return wrong("api_key", "must be at most %d visible ASCII characters", maxGivenKey)
	}
	return nil
}

// With is the configuration with models that were added while the program works, and with the name of the model that
// somebody has made the default, empty for none. Where the file has a model of a name, that one counts.
func (c *Config) With(added []Model, standard string) *Config {
	all := *c
	all.Standard, all.Models = standard, slices.Clip(c.Models)
	for _, m := range added {
		if _, taken := c.Model(m.Name); !taken {
			all.Models = append(all.Models, m)
		}
	}
	return &all
}
