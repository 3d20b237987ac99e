package durablecontext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
)

// skillsRead returns the skills that calls of the answer, which is message at, have read, unless they are known from
// these very reads.
func (m *Middleware) skillsRead(
	answer *message.Message, msgs []message.Message, at int, known []threadstate.SkillEntry,
) []threadstate.SkillEntry {
	var read []threadstate.SkillEntry
	for _, c := range answer.ToolCalls {
		if !bytes.Contains(c.Args, []byte(skills.FileName)) || !slices.Contains(m.cfg.ReadTools, c.Name) {
			continue
		}
		file := m.skillPath(c.Args)
		i := slices.IndexFunc(msgs[at+1:],
			func(r message.Message) bool { return r.Role == message.Tool && r.ToolCallID == c.ID })
		if file == "" || i < 0 || failed(msgs[at+1+i]) {
			continue
		}
		entry := describe(file, msgs[at+1+i].Text())
		entry.LoadedAt = at + 1 + i
		if k := slices.IndexFunc(known, func(e threadstate.SkillEntry) bool { return e.Path == file }); k >= 0 {
			if known[k].LoadedAt == entry.LoadedAt {
				continue
			}
			if entry.Description == "" { // only a part of the file was read
				entry.Name, entry.Description = known[k].Name, known[k].Description
			}
		}
		read = append(read, entry)
	}
	return read
}

// skillPath is the file that the arguments name if it is a skill's, else "".
func (m *Middleware) skillPath(args json.RawMessage) string {
	var in struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	file := path.Clean(in.Path)
	if path.Base(file) != skills.FileName || !strings.HasPrefix(file, path.Clean(m.cfg.SkillsRoot)+"/") {
		return ""
	}
	return file
}

func failed(m message.Message) bool {
	if m.Status == message.StatusError {
		return true
	}
	meta, ok := toolmeta.Of(m)
	return ok && meta.Status == toolmeta.StatusError
}

// describe reads name and description from a skill file; the name of its folder serves if there is none.
func describe(file, text string) threadstate.SkillEntry {
	e := threadstate.SkillEntry{Path: file}
	e.Name, e.Description = skills.Describe(text)
	e.Name = cmp.Or(e.Name, path.Base(path.Dir(file)))
	return e
}
