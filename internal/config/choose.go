package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoModel means that nothing says which model to use. The error around it says how to add one.
var ErrNoModel = errors.New("no language model")

// Demo is the name of the scripted demonstration: a model that is used when it is asked for by this name, and never
// else.
const Demo = "demo"

// DemoModel is the entry of the demonstration. It plays a script that the program brings along.
func DemoModel() Model {
	m := Model{Name: Demo, Provider: "scripted", ID: Demo, DisplayName: "Scripted demonstration", Wire: WireScripted}
	m.defaults()
	return m
}

// IsDemo reports whether the model is the demonstration.
func (m Model) IsDemo() bool { return m.Wire == WireScripted && m.Script == "" }

// Choice is the model of a run and why it is that one.
type Choice struct {
	Model Model
	// Reason is one line for people. It names variables, files and addresses, never a key.
	Reason string
}

// Choose picks the model, the first of: name (--model) or PUDU_MODEL; the one that was made the default, if it can be
// used; the first model of the file; the first provider in the order of [Providers] with a key in the environment
// (OPENAI_BASE_URL alone counts as a server without a key); a local Ollama; the first usable model that was added; else
// [ErrNoModel].
//
// A name is that of a configured model, "provider/model", a provider alone, or [Demo]. ollama lists the models of the
// Ollama server at the address given ([OllamaURL]); it should answer within a second. Nil means not to look for one.
func Choose(cfg *Config, name string, ollama func(baseURL string) ([]string, error)) (Choice, error) {
	c := chooser{cfg: cfg, env: cfg.Env, ollama: ollama}
	if name != "" {
		return c.named(name, "asked for by name")
	}
	if name = c.env.Get("PUDU_MODEL"); name != "" {
		return c.named(name, c.env.describe("PUDU_MODEL"))
	}
	if choice, ok := c.standard(); ok {
		return choice, nil
	}
	if len(cfg.Models) > 0 && !cfg.Models[0].Given { // those that were added come last
		return c.configured(cfg.Models[0], "the first model of "+cfg.Path)
	}
	for _, p := range Providers() {
		if variable := c.trace(p); variable != "" {
			return c.provided(p, "", c.env.describe(variable)+" is set")
		}
	}
	if id := c.local(); id != "" {
		p, _ := provider("ollama")
		return c.provided(p, id, "found a local Ollama")
	}
	for _, m := range cfg.Models {
		if m.Err == nil {
			return c.configured(m, "the first model that was added")
		}
	}
	return Choice{}, noModel(c.env)
}

type chooser struct {
	cfg    *Config
	env    Env
	ollama func(string) ([]string, error)
}

// standard is the model that was made the default. One that is gone, or cannot be used now, is none.
func (c chooser) standard() (Choice, bool) {
	if c.cfg.Standard == "" {
		return Choice{}, false
	}
	choice, err := c.named(c.cfg.Standard, "it was made the default")
	return choice, err == nil
}

// trace returns the variable that shows that a provider is meant to be used.
func (c chooser) trace(p Provider) string {
	if p.Name == "ollama" || p.Model == "" {
		return ""
	}
	if variable, _ := p.key(c.env); variable != "" {
		return variable
	}
	for _, variable := range p.TokenVars {
		if c.env.Get(variable) != "" {
			return variable
		}
	}
	if _, variable := p.address(c.env); p.Name == "openai" {
		return variable
	}
	return ""
}

func (c chooser) named(name, why string) (Choice, error) {
	if m, ok := c.cfg.Model(name); ok {
		return c.configured(m, why)
	}
	if name == Demo {
		return Choice{Model: DemoModel(), Reason: "the scripted demonstration: " + why}, nil
	}
	prefix, id, _ := strings.Cut(name, "/")
	p, ok := provider(prefix)
	if !ok {
		known := append(providerNames(), Demo)
		for _, m := range c.cfg.Models {
			known = append(known, m.Name)
		}
		return Choice{},
			fmt.Errorf("choose model %q (%s): no configured model has this name, and it is not provider/model with "+
				"one of %s%s",
				name, why, strings.Join(providerNames(), ", "), suggest(prefix, known))
	}
	return c.provided(p, id, why)
}

func (c chooser) configured(m Model, why string) (Choice, error) {
	if m.Err != nil {
		return Choice{}, fmt.Errorf("use model %s (%s): %w%s", m.Name, why, m.Err, c.others(m.Name))
	}
	return Choice{Model: m, Reason: reason(m, "", why)}, nil
}

// others names the configured models that could be used instead.
func (c chooser) others(than string) string {
	var names []string
	for _, m := range c.cfg.Models {
		if m.Err == nil && m.Name != than {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; or use --model with one of " + strings.Join(names, ", ")
}

// provided makes a model from the table of providers and the environment.
func (c chooser) provided(p Provider, id, why string) (Choice, error) {
	m := Model{Provider: p.Name, ID: cmp.Or(id, c.defaultID(p))}
	if m.ID == "" {
		return Choice{}, fmt.Errorf("use provider %s (%s): which model? %s", p.Name, why, howToName(p))
	}
	m.Name = p.Name + "/" + m.ID
	if p.Wire == WireScripted {
		m.Script, m.ID = m.ID, filepath.Base(m.ID)
	}
	m.defaults()
	if err := m.connect(p, c.env); err != nil {
		return Choice{}, fmt.Errorf("use model %s (%s): %w", m.Name, why, err)
	}
	m.chooseWire()
	_, variable := p.address(c.env)
	return Choice{Model: m, Reason: reason(m, c.from(variable), why)}, nil
}

// defaultID is the model of a provider when only the provider is known. A server without a key is no vendor's: it
// hardly has the vendor's default model.
func (c chooser) defaultID(p Provider) string {
	if p.ModelVar != "" {
		if id := c.env.Get(p.ModelVar); id != "" {
			return id
		}
	}
	if p.Name == "ollama" {
		return c.local()
	}
	_, key := p.key(c.env)
	if _, variable := p.address(c.env); key == "" && variable != "" {
		return ""
	}
	return p.Model
}

func (c chooser) from(variable string) string {
	if variable == "" {
		return ""
	}
	return " (" + c.env.describe(variable) + ")"
}

// local returns the model to use of a local Ollama: OLLAMA_MODEL, else the first that can chat.
func (c chooser) local() string {
	if c.ollama == nil {
		return ""
	}
	names, err := c.ollama(OllamaURL(c.env))
	if err != nil {
		return "" // no server there: not an error, only nothing found
	}
	if id := c.env.Get("OLLAMA_MODEL"); id != "" {
		return id
	}
	i := slices.IndexFunc(names, func(n string) bool { return n != "" && !strings.Contains(n, "embed") })
	if i < 0 {
		return ""
	}
	return names[i]
}

func howToName(p Provider) string {
	if p.Name == "ollama" {
		return "no model was found at the Ollama server: run `ollama pull` with one, or write --model ollama/MODEL"
	}
	if p.ModelVar != "" {
		return "set " + p.ModelVar + ", or write --model " + p.Name + "/MODEL"
	}
	return "write --model " + p.Name + "/MODEL"
}

func reason(m Model, from, why string) string {
	s := "model " + m.Name
	if m.BaseURL != "" {
		s += " at " + ShownURL(m.BaseURL) + from
	}
	return s + ": " + why
}

// noModel says how to get one.
func noModel(env Env) error {
	var b strings.Builder
	for _, p := range Providers() {
		if p.Model != "" {
			fmt.Fprintf(&b, "\n  %-18s %s: %s", p.KeyVars[0], p.Title, p.KeyURL)
		}
	}
	where := "a .env file here"
	if path := CredentialsPath(env); path != "" {
		where += ", or " + path
	}
	return fmt.Errorf("%w: set the key of one provider in the environment, %s:%s\n"+
		"or start Ollama with a model on this machine, set OPENAI_BASE_URL and OPENAI_MODEL\n"+
		"for another local server, add one with pudu models add, or write models: into config.yaml", ErrNoModel, where,
		b.String())
}
