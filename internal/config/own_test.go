package config

import (
	"strings"
	"testing"
)

// stock is a section of a program that embeds this one.
type stock struct {
	URL   string `json:"url"`
	Limit int    `json:"limit"`
}

func TestOwnSections(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		want  stock
		fails string
	}{
		"given":      {"stock: {url: http://s, limit: 3}", stock{"http://s", 3}, ""},
		"a variable": {"stock: {url: $STOCK_URL}", stock{"http://env", 10}, ""},
		"left out":   {"log_level: info", stock{"", 10}, ""},
		"null":       {"stock:", stock{"", 10}, ""},
		"an unknown key": {"log_level: info\nstock:\n  ulr: x", stock{},
			`config.yaml:3: stock: unknown field "ulr"`},
		"a wrong kind": {"stock: {limit: many}", stock{}, "config.yaml:1: stock: cannot unmarshal string"},
		"a variable that is not": {"stock: {url: $NOT_SET}", stock{},
			"config.yaml:1: stock: the variable NOT_SET is not set"},
		"another name": {"stok: {url: x}", stock{}, `unknown section; did you mean "stock"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := stock{Limit: 10}
			env := EnvFrom(vars(map[string]string{"STOCK_URL": "http://env"}))
			_, warnings, err := LoadOptions{Sections: map[string]any{"stock": &got}}.parse("config.yaml",
				[]byte(tt.text), env)
			if tt.fails == "" && (err != nil || got != tt.want || len(warnings) > 0) {
				t.Errorf("%+v, %v, %v", got, warnings, err)
			}
			if tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("error %v, want %s", err, tt.fails)
			}
		})
	}
	for _, taken := range []string{"models", "memory"} {
		if _, _, err := Load(LoadOptions{Cwd: t.TempDir(), Sections: map[string]any{taken: &stock{}}}); err == nil ||
			!strings.Contains(err.Error(), taken) {
			t.Errorf("a section called %s: %v", taken, err)
		}
	}
}
