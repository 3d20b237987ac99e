package clarification

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	fieldTypes = []string{"text", "textarea", "number", "select", "multi_select", "checkbox", "date"}
	// prototypeNames are members of every object of JavaScript; a client that keeps answers in an object must not
	// meet them. Those that start with __ are refused by rule.
	prototypeNames = []string{"prototype", "constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty",
		"isPrototypeOf", "propertyIsEnumerable"}
)

// fields reads a form. One field that cannot be shown safely drops the form: half of a form would be answered as if it
// were the whole.
func fields(raw json.RawMessage) []Field {
	list := fieldList(raw)
	if len(list) == 0 || len(list) > maxFields {
		return nil
	}
	var out []Field
	for _, v := range list {
		f, ok := parseField(v)
		if !ok || slices.ContainsFunc(out, func(o Field) bool { return o.Name == f.Name }) {
			return nil
		}
		out = append(out, f)
	}
	return out
}

// fieldList finds the fields in an array, in a string that holds one, or in an object that wraps one.
func fieldList(raw json.RawMessage) []json.RawMessage {
	for range 3 {
		raw = bytes.TrimSpace(unquote(raw))
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			return list
		}
		if _, one := object(raw)["name"]; one {
			return []json.RawMessage{raw}
		}
		inner := values(raw)
		if len(inner) != 1 {
			return nil
		}
		raw = inner[0]
	}
	return nil
}

func parseField(raw json.RawMessage) (Field, bool) {
	m := object(raw)
	f := Field{
		Name:        text(m["name"], maxText),
		Label:       text(m["label"], maxText),
		Type:        strings.ToLower(text(m["type"], maxText)),
		Required:    truth(m["required"]),
		Placeholder: text(m["placeholder"], maxText),
		Options:     options(m["options"]),
	}
	if f.Label == "" {
		f.Label = f.Name
	}
	choice := f.Type == "select" || f.Type == "multi_select"
	if !slices.Contains(fieldTypes, f.Type) || choice && len(f.Options) == 0 {
		f.Type, choice = "text", false
	}
	if !choice {
		f.Options = nil
	}
	return f, f.safe(choice)
}

func (f Field) safe(choice bool) bool {
	if !validName(f.Name) || strings.HasPrefix(f.Name, "__") || slices.Contains(prototypeNames, f.Name) {
		return false
	}
	if utf8.RuneCountInString(f.Label) > maxLabel || utf8.RuneCountInString(f.Placeholder) > maxLabel {
		return false
	}
	return !choice || showable(f.Options)
}

// validName reports whether a name is a letter or _ followed by up to 63 letters, digits and _.- of any script. A
// pattern that says the same takes milliseconds to compile, in every start of the program.
func validName(name string) bool {
	for i, c := range name {
		first := c == '_' || unicode.IsLetter(c)
		if !first && (i == 0 || c != '.' && c != '-' && !unicode.IsNumber(c)) {
			return false
		}
	}
	return name != "" && utf8.RuneCountInString(name) <= 64
}

func truth(raw json.RawMessage) bool {
	switch strings.ToLower(text(raw, maxLabel)) {
	case "true", "yes", "1":
		return true
	}
	return false
}
