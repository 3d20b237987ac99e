package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/id"
)

// DataDir is the folder of everything that Pudu keeps: $PUDU_DATA, else $DEER_FLOW_HOME, else /var/lib/pudu for root
// (uid 0), else $XDG_DATA_HOME/pudu or ~/.local/share/pudu. The result is absolute; the folder may not exist yet.
func DataDir(env Env, uid int) (string, error) {
	for _, name := range []string{"PUDU_DATA", "DEER_FLOW_HOME"} {
		if dir := env.Get(name); dir != "" {
			return filepath.Abs(dir)
		}
	}
	if uid == 0 {
		return "/var/lib/pudu", nil
	}
	if dir := env.Get("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pudu"), nil
	}
	if home := env.Get("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "share", "pudu"), nil
	}
	return "", errors.New("find data folder: HOME is not set: set PUDU_DATA to a folder")
}

var safeID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// maxThreadID is the longest thread id.
const maxThreadID = 64

// maxUserID is the longest user folder name that is kept as it is; file systems end at 255 bytes.
const maxUserID = 128

// UserFolder is the name of a user's folder: the id itself where it is made of letters, digits, "_" and "-", else the id with
// every other character replaced by "-" and a part of its hash behind, so that no two of those share a folder.
func UserFolder(id string) string {
	if safeID.MatchString(id) && len(id) <= maxUserID {
		return id
	}
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && safeID.MatchString(string(r)) {
			return r
		}
		return '-'
	}, id)
	sum := sha256.Sum256([]byte(id))
	return name[:min(len(name), maxUserID)] + "-" + hex.EncodeToString(sum[:])[:16]
}

// CheckThreadID returns an error unless name is 1 to 64 letters, digits, "_" or "-".
func CheckThreadID(name string) error {
	if id.IsName(name, maxThreadID) {
		return nil
	}
	if len(name) > 80 {
		name = name[:80] + "..."
	}
	return fmt.Errorf("thread id %q is not allowed: use 1 to 64 letters, digits, _ and -", name)
}

// ThreadPaths are a thread's folders on this machine. They are for opening as roots; a path of the model is never joined to one.
type ThreadPaths struct {
	UserData, Workspace, Uploads, Outputs string
}

// Thread returns the folders of a user's thread below the data folder. It makes none.
func Thread(data, user, thread string) (ThreadPaths, error) {
	if err := CheckThreadID(thread); err != nil {
		return ThreadPaths{}, err
	}
	root := filepath.Join(data, "users", UserFolder(user), "threads", thread, "user-data")
	return ThreadPaths{
		UserData:  root,
		Workspace: filepath.Join(root, "workspace"),
		Uploads:   filepath.Join(root, "uploads"),
		Outputs:   filepath.Join(root, "outputs"),
	}, nil
}
