package files

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/sandbox"
)

const (
	skillExt = ".skill"
	// maxSkill bounds the archive, maxMember one file in it, in bytes.
	maxSkill  = 16 << 20
	maxMember = 16 << 20
)

// cutSkill takes a path that leads into a skill, which is an archive, apart.
func cutSkill(p string) (archive, member string, ok bool) {
	for i := range len(p) {
		if p[i] == '/' && strings.HasSuffix(p[:i], skillExt) {
			return p[:i], p[i+1:], true
		}
	}
	return "", "", false
}

// openMember reads a file of a skill's archive. errNoSkill says that there is a folder at this path.
func openMember(files *sandbox.Files, archive, member string) (content, error) {
	h, err := openArtifact(files, archive)
	switch {
	case errors.Is(err, sandbox.ErrIsDir):
		return content{}, errNoSkill
	case errors.Is(err, fs.ErrNotExist):
		return content{}, route.Failf(http.StatusNotFound, "Skill file not found: %s", archive[1:])
	case err != nil:
		return content{}, artifactError(err, archive[1:])
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return content{}, err
	}
	if info.Size() > maxSkill {
		return content{}, route.Failf(http.StatusRequestEntityTooLarge, "Skill archive is larger than %d bytes",
			maxSkill)
	}
	raw, err := skills.ReadMember(h, info.Size(), member, maxMember)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{}, route.Failf(http.StatusNotFound, "File '%s' not found in skill archive", member)
	case errors.Is(err, skills.ErrLarge):
		return content{}, route.Failf(http.StatusRequestEntityTooLarge, "File '%s' is larger than %d bytes", member,
			maxMember)
	case err != nil:
		return content{}, route.Failf(http.StatusUnprocessableEntity, "Skill archive cannot be read: %s",
			route.Clip(err.Error()))
	}
	return content{name: path.Base(member), size: int64(len(raw)), data: bytes.NewReader(raw), cached: true}, nil
}

var errNoSkill = errors.New("a folder")
