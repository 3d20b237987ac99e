package files

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

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
		return content{}, route.Failf(http.StatusRequestEntityTooLarge, "Skill archive is larger than %d bytes", maxSkill)
	}
	raw, err := readMember(h, info.Size(), member)
	if err != nil {
		return content{}, err
	}
	return content{name: path.Base(member), size: int64(len(raw)), data: bytes.NewReader(raw), cached: true}, nil
}

var errNoSkill = errors.New("a folder")

func readMember(h io.ReaderAt, size int64, member string) ([]byte, error) {
	bad := func(why string) error {
		return route.Failf(http.StatusUnprocessableEntity, "Skill archive cannot be read: %s", why)
	}
	z, err := zip.NewReader(h, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // nothing is unpacked
		return nil, bad(route.Clip(err.Error()))
	}
	f := findMember(z, member)
	if f == nil {
		return nil, route.Failf(http.StatusNotFound, "File '%s' not found in skill archive", member)
	}
	r, err := f.Open()
	if err != nil {
		return nil, bad(route.Clip(err.Error()))
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxMember+1)) // what the archive says of the size is a claim
	switch {
	case err != nil:
		return nil, bad(route.Clip(err.Error()))
	case len(raw) > maxMember:
		return nil, route.Failf(http.StatusRequestEntityTooLarge, "File '%s' is larger than %d bytes", member, maxMember)
	}
	return raw, nil
}

// findMember finds a file by its name, or by its name without the one folder that everything is in; nil if there is none.
func findMember(z *zip.Reader, member string) *zip.File {
	var inner *zip.File
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if f.Name == member {
			return f
		}
		if _, rest, ok := strings.Cut(f.Name, "/"); ok && rest == member && inner == nil {
			inner = f
		}
	}
	return inner
}
