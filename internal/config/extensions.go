package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// readExtensions reads extensions_config.json: $DEER_FLOW_EXTENSIONS_CONFIG_PATH, else beside the configuration, else
// in the working directory; mcp_config.json is its older name.
func (c *Config) readExtensions(cwd string) ([]Warning, error) {
	path, data, err := findExtensions(c, cwd)
	if err != nil || path == "" {
		return nil, err
	}
	var content map[string]json.RawMessage
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, jsonError(path, data, err)
	}
	c.Extensions = data
	c.SkillSwitches = skillSwitches(content["skills"])
	var filled []string
	for key, raw := range content {
		if key == "skills" {
			continue
		}
		if s := strings.Join(strings.Fields(string(raw)), ""); s != "{}" && s != "[]" && s != "null" {
			filled = append(filled, key)
		}
	}
	if len(filled) == 0 {
		return nil, nil
	}
	slices.Sort(filled)
	return []Warning{{File: path, Text: "not built yet, without effect: " + strings.Join(filled, ", ")}}, nil
}

func findExtensions(c *Config, cwd string) (path string, data []byte, err error) {
	if named := c.Env.Get("DEER_FLOW_EXTENSIONS_CONFIG_PATH"); named != "" {
		path = under(cwd, named)
		if data, err = readFile(path, maxFile); err != nil {
			return "", nil, fmt.Errorf("read extensions named by %s: %w",
				c.Env.describe("DEER_FLOW_EXTENSIONS_CONFIG_PATH"), err)
		}
		return path, data, nil
	}
	dirs := []string{cwd}
	if c.Path != "" {
		dirs = []string{filepath.Dir(c.Path), cwd}
	}
	for _, dir := range dirs {
		for _, name := range []string{"extensions_config.json", "mcp_config.json"} {
			path = filepath.Join(dir, name)
			data, err = readFile(path, maxFile)
			if err == nil {
				return path, data, nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return "", nil, fmt.Errorf("read extensions %s: %w", path, err)
			}
		}
	}
	return "", nil, nil
}

// jsonError adds the line to what the JSON decoder says.
func jsonError(path string, data []byte, err error) error {
	line := 0
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		line = 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
	}
	return &Error{File: path, Line: line, Text: "must hold a JSON object: " + err.Error()}
}
