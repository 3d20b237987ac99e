package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Authorization says what users of a role may use.
type Authorization struct {
	Enabled bool `key:"enabled"`
	// FailClosed refuses what cannot be judged, such as a role that is not defined; else it is allowed.
	FailClosed bool `key:"fail_closed"`
	// DefaultRole is the role of users without one.
	DefaultRole string                `key:"default_role"`
	Provider    AuthorizationProvider `key:"provider"`
	Line        int                   `key:"@line"`
}

// AuthorizationProvider is the provider with its settings.
type AuthorizationProvider struct {
	// Use is [RBAC] where the section is enabled.
	Use string `key:"use"`
	// Roles are the settings of [RBAC].
	Roles  Roles
	Config later `key:"config"`
	Line   int   `key:"@line"`
}

// RBAC is the provider that knows what each role may use.
const RBAC = "rbac"

// Roles are the roles by name.
type Roles map[string]RolePolicy

// RolePolicy is what a role may use, by kind of resource; nil means everything of the kind.
type RolePolicy struct {
	Tools      *Access `key:"tools"`
	Models     *Access `key:"models"`
	Skills     *Access `key:"skills"`
	Sandbox    *Access `key:"sandbox"`
	MCPServers *Access `key:"mcp_servers"`
	Routes     *Access `key:"routes"`
}

// Access lists what is allowed and what is denied, as patterns. What is denied is denied whatever is allowed.
type Access struct {
	// Allow is everything if nil, and nothing if empty.
	Allow Names `key:"allow"`
	Deny  Words `key:"deny"`
}

// Names is a list, nil for all ("*" or true), or empty for none (false).
type Names []string

var _ custom = (*Names)(nil)

func (n *Names) decode(d *decoder, t *tree, at string) {
	switch strings.ToLower(t.text) {
	case "*", "true":
		*n = nil
		return
	case "false":
		*n = Names{}
		return
	}
	if t.kind != yaml.SequenceNode {
		d.failf(t.line, at, `must be a list of names, "*" for all or [] for none, got %s`, t.what())
		*n = Names{}
		return
	}
	d.list(t, at, reflect.ValueOf(n).Elem(), "")
}

var _ custom = (*Access)(nil)

func (a *Access) decode(d *decoder, t *tree, at string) {
	notNull(d, t, at)
	d.table(t, at, reflect.ValueOf(a).Elem())
	checkPatterns(d, t.line, join(at, "allow"), a.Allow)
	checkPatterns(d, t.line, join(at, "deny"), a.Deny)
}

var _ custom = (*RolePolicy)(nil)

func (r *RolePolicy) decode(d *decoder, t *tree, at string) {
	notNull(d, t, at)
	d.table(t, at, reflect.ValueOf(r).Elem())
	for _, f := range t.fields {
		if f.name != "tools" {
			d.laterKey(f, join(at, f.name))
		}
	}
}

// notNull refuses keys without a value: what is left out is allowed, and nobody should get that by a slip.
func notNull(d *decoder, t *tree, at string) {
	for _, f := range t.fields {
		if f.value.null() {
			d.failf(f.line, join(at, f.name), "is empty: write what is allowed, or remove the key to allow everything")
		}
	}
}

// laterKey notes a key that loads and has no effect yet.
func (d *decoder) laterKey(f field, at string) {
	if !f.value.null() {
		d.later = append(d.later, fmt.Sprintf("%s (line %d)", at, f.line))
	}
}

var _ custom = (*Authorization)(nil)

// decode reads the section. The settings of the provider are looked at only where it is used.
func (a *Authorization) decode(d *decoder, t *tree, at string) {
	d.table(t, at, reflect.ValueOf(a).Elem())
	if !a.Enabled {
		return
	}
	p := &a.Provider
	class := p.Use[strings.LastIndex(p.Use, ":")+1:]
	if p.Use != RBAC && class != "RbacAuthorizationProvider" {
		d.failf(max(a.Line, p.Line), join(at, "provider.use"),
			`%q cannot be loaded: Pudu has %q; nobody could be refused anything`, p.Use, RBAC)
		return
	}
	p.Use = RBAC
	settings, where := t.find("provider").find("config"), join(at, "provider.config")
	var s struct {
		Roles Roles `key:"roles" required:"true"`
	}
	if settings.null() {
		d.failf(max(a.Line, p.Line), where, `needs the key "roles"`)
		return
	}
	notNull(d, settings, where)
	notNull(d, settings.find("roles"), join(where, "roles"))
	d.value(settings, where, reflect.ValueOf(&s).Elem(), "")
	p.Roles = s.Roles
	if _, ok := p.Roles[a.DefaultRole]; !ok && p.Roles != nil {
		known := slices.Sorted(maps.Keys(p.Roles))
		d.failf(a.Line, join(at, "default_role"), "%q is no role: one of %s%s", a.DefaultRole,
			strings.Join(known, ", "), suggest(a.DefaultRole, known))
	}
}
