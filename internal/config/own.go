package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// checkOwn refuses sections of a program whose names are taken.
func checkOwn(sections map[string]any) error {
	taken := slices.Concat(schemaOf(reflect.TypeFor[Config]()).names, pendingSections())
	for name := range sections {
		if slices.Contains(taken, name) {
			return fmt.Errorf("section %q of the configuration is Pudu's own: give the program's another name", name)
		}
	}
	return nil
}

// own reads a section of the program that embeds this one. What the file leaves open stays as it is.
func (d *decoder) own(f field, into any) {
	if f.value.null() {
		return
	}
	before := len(d.problems)
	raw := d.raw(f.value, f.name)
	if len(d.problems) > before {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		d.failf(f.value.line, f.name, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
}
