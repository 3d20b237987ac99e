package config

import (
	"errors"
	"path/filepath"
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
