package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pudu-ai/pudu/internal/access"
)

// Change is what shall become of an agent; nil fields stay as they are.
type Change struct {
	Soul, Description, Model *string
	// Skills and ToolGroups may be empty, which means none.
	Skills, ToolGroups *[]string
	// Set has new values of any keys of config.yaml; nil clears one. Of model_settings, a map, the members replace
	// those that there are.
	Set *map[string]any
}

// Create makes a user's agent, or changes the one of that name. It needs a soul. An agent of that name in the shared
// folder is [ErrShared]: a second one would hide it.
func (f *Folder) Create(user access.User, name string, c Change) error {
	if c.Soul == nil {
		return ErrNoSoul
	}
	_, err := f.edit(user, name, c, true)
	return err
}

// Update changes a user's agent and returns the keys that have another value now, in the order soul, description,
// skills, tool_groups, model. It is [ErrNotFound] if there is none, and [ErrShared] if it cannot be changed.
func (f *Folder) Update(user access.User, name string, c Change) (changed []string, err error) {
	return f.edit(user, name, c, false)
}

func (f *Folder) edit(user access.User, name string, c Change, create bool) (changed []string, err error) {
	dir, name, err := f.own(user, name)
	if err != nil {
		return nil, err
	}
	if c.Soul != nil {
		if err := checkSoul(*c.Soul); err != nil {
			return nil, err
		}
	}
	err = f.change(func(root *os.Root) error {
		a, doc, err := load(root, dir, name)
		if create && errors.Is(err, ErrNotFound) {
			doc, err = (&document{body: &yaml.Node{}}).with("name", name)
		}
		if err == nil && a.Shared {
			err = fmt.Errorf("%w: %s", ErrShared, name)
		}
		if err != nil {
			return err
		}
		changed, err = apply(root, path.Join(dir, name), a, doc, c)
		return err
	})
	return changed, err
}

// apply writes what differs. The config.yaml comes last: with it a new folder becomes an agent.
func apply(root *os.Root, dir string, a Agent, doc *document, c Change) (changed []string, err error) {
	doc, edits, err := c.edits(a, doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(dir, configFile), err)
	}
	if c.Soul != nil && strings.TrimSpace(*c.Soul) != a.Soul {
		if err := write(root, path.Join(dir, soulFile), []byte(strings.TrimSpace(*c.Soul)+"\n")); err != nil {
			return nil, err
		}
		changed = append(changed, "soul")
	}
	file := path.Join(dir, configFile)
	if _, missing := root.Stat(file); len(edits) == 0 && !errors.Is(missing, fs.ErrNotExist) {
		return changed, nil
	}
	return append(changed, edits...), write(root, file, []byte(doc.text))
}

// edits returns the document after the change, and the keys that have another value in it.
func (c Change) edits(a Agent, doc *document) (*document, []string, error) {
	var keys []string
	var err error
	set := func(key string, differs bool, value any) {
		if differs && err == nil {
			keys = append(keys, key)
			doc, err = doc.with(key, value)
		}
	}
	if c.Description != nil {
		set("description", strings.TrimSpace(*c.Description) != a.Description, strings.TrimSpace(*c.Description))
	}
	if c.Skills != nil {
		set("skills", a.Skills == nil || !slices.Equal(*c.Skills, a.Skills), orEmpty(*c.Skills))
	}
	if c.ToolGroups != nil {
		set("tool_groups", a.ToolGroups == nil || !slices.Equal(*c.ToolGroups, a.ToolGroups), orEmpty(*c.ToolGroups))
	}
	if c.Model != nil {
		set("model", *c.Model != a.Model, *c.Model)
	}
	if c.Set != nil {
		for _, key := range slices.Sorted(maps.Keys(*c.Set)) {
			set(key, true, merged(a, key, (*c.Set)[key]))
		}
	}
	if err == nil {
		_, _, err = decode([]byte(doc.text)) // nothing is left that cannot be read
	}
	return doc, keys, err
}

// merged is the new value of a key.
func merged(a Agent, key string, value any) any {
	members, ok := value.(map[string]any)
	if key != "model_settings" || !ok {
		return value
	}
	all := map[string]any{}
	if a.Settings.Temperature != nil {
		all["temperature"] = *a.Settings.Temperature
	}
	if a.Settings.MaxTokens > 0 {
		all["max_tokens"] = a.Settings.MaxTokens
	}
	maps.Copy(all, members)
	return all
}

// orEmpty keeps a list without entries from being written as null, which means all.
func orEmpty(list []string) []string { return append([]string{}, list...) }
