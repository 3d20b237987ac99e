package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
)

// maxUpload bounds one uploaded file.
const maxUpload = 512 << 20

func readUpload(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, usageError("--file %s: %w", path, errors.Unwrap(err))
	case !st.Mode().IsRegular():
		return nil, usageError("--file %s: not a regular file; to show a folder use --mount", path)
	case st.Size() > maxUpload:
		return nil, usageError("--file %s: larger than %d MiB; to show its folder use --mount", path, maxUpload>>20)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError("--file %s: %w", path, errors.Unwrap(err))
	}
	return raw, nil
}

// mention tells the agent of the uploads, in the message's additional_kwargs.files and in its text.
func (t *turn) mention(m message.Message) (message.Message, error) {
	type upload struct {
		Filename string `json:"filename"`
		Size     int    `json:"size"`
		Path     string `json:"path"`
		Status   string `json:"status"`
	}
	var list []upload
	for _, name := range slices.Sorted(maps.Keys(t.uploads)) {
		u := upload{Filename: name, Size: len(t.uploads[name]), Path: sandbox.Uploads + "/" + name, Status: "uploaded"}
		list = append(list, u)
		note := fmt.Sprintf("\n\n(Uploaded file: %s, %d bytes)", u.Path, u.Size)
		m.Content = append(m.Content, message.Text(note))
	}
	if len(list) == 0 {
		return m, nil
	}
	enc, err := json.Marshal(list)
	if err != nil {
		return m, err
	}
	m.Kwargs = message.Fields{"files": enc}
	return m, nil
}
