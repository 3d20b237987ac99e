package userdata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/pudu-ai/pudu/sandbox"
)

// skillsView holds, for each user, a copy of the skills that are switched on, made anew from the database: no backup
// has it.
const (
	skillsView = "skills_view"
	shown      = "shown"
)

// SkillsPath is where a thread sees the skills of its user.
const SkillsPath = "/mnt/skills"

// Skills opens the folder with the copies of the user's skills, which is made if need be. What lies in its folder
// [Shown] is what threads see.
func (u User) Skills() (*os.Root, error) {
	dir, err := u.skills()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, shown), 0o755); err != nil { //nolint:gosec // the sandbox of root runs as another user, who must get there
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the skills of a user: %w", err)
	}
	return root, nil
}

// Shown is the folder of [User.Skills] that threads see.
const Shown = shown

// SkillsMount shows the skills to a thread. It makes no folder.
func (u User) SkillsMount() (sandbox.Mount, error) {
	dir, err := u.skills()
	return sandbox.Mount{Host: filepath.Join(dir, shown), Path: SkillsPath, ReadOnly: true}, err
}

func (u User) skills() (string, error) {
	if err := u.user.Check(); err != nil {
		return "", fmt.Errorf("find the skills of a user: %w", err)
	}
	return filepath.Join(u.disk.dir, skillsView, folderOf(u.user.ID())), nil
}

// removeSkills removes the copies. That there are none is no error.
func (u User) removeSkills(root *os.Root) error {
	name := path.Join(skillsView, folderOf(u.user.ID()))
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return sandbox.RemoveAll(root, name)
}
