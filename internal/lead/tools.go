package lead

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/tools/clarify"
	"github.com/pudu-ai/pudu/internal/tools/file"
	"github.com/pudu-ai/pudu/internal/tools/present"
	"github.com/pudu-ai/pudu/internal/tools/shell"
	"github.com/pudu-ai/pudu/internal/tools/view"
	"github.com/pudu-ai/pudu/tool"
)

// tools are the lead agent's tools in the order in which the model sees them.
func tools(c Config) ([]tool.Tool, error) {
	box, files := c.Settings.Sandbox, c.Space.Files()
	limit, err := writeLimit(c.Settings.Env)
	if err != nil {
		return nil, err
	}
	onFiles := file.Config{
		Files: files, ReadMaxChars: unbounded(box.ReadFileOutputMaxChars), ListMaxChars: unbounded(box.LsOutputMaxChars),
		WriteMaxBytes: limit,
	}
	list := append(file.Reading(onFiles), file.Writing(onFiles)...)
	if c.CodeOff == "" {
		list = append(list, shell.New(shell.Config{
			Space: c.Space, MaxChars: unbounded(box.BashOutputMaxChars), Timeout: box.CommandTimeout, Env: environment(box.Environment),
		}))
	}
	list = append(list, present.New(files), clarify.New())
	if c.Vision {
		list = append(list, view.New(view.Config{Files: files}))
	}
	return list, nil
}

// unbounded turns the configuration's "0 means no bound" into the tools' "a negative number means no bound".
func unbounded(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// environment writes variables in a fixed order, so that equal configurations make equal commands.
func environment(vars map[string]string) []string {
	list := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name])
	}
	return list
}

// writeLimit is the bound of one write_file call in bytes, from the environment; 0 leaves the tool's own.
func writeLimit(env config.Env) (int, error) {
	for _, name := range []string{"PUDU_WRITE_FILE_MAX_BYTES", "DEERFLOW_WRITE_FILE_MAX_BYTES"} {
		value := env.Get(name)
		if value == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return 0, fmt.Errorf("%s is %q; it must be a number of bytes, or 0 for no bound", name, value)
		}
		return unbounded(max(n, 0)), nil
	}
	return 0, nil
}
