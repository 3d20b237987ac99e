// Package userdata knows where a user's things lie on disk. It is the one place that joins such a path; everything that
// opens, counts, backs up or removes files of users asks it. Below the data folder there are
//
//	users/USER/agents/NAME/                 the user's own agents
//	users/USER/threads/THREAD/user-data/    workspace, uploads and outputs of a thread, which its sandbox shows
//	users/USER/threads/THREAD/history/      what these files were before, which its sandbox does not see
//	users/USER/threads/.going-THREAD        the note that a thread's rows are being deleted, and its folder then
//	skills_view/USER/shown/                 copies of the skills that are switched on, which sandboxes show
//	users/USER/threads/.gone-RANDOM/        a thread's folder that is being removed
//
//	disk.User(user).Thread(id) -> Space{ Mounts, SandboxID, Files, Open, Remove }
//	disk.Of(thread) -> that of its root, for a hidden thread
//	disk.User(user).Agents()
package userdata

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// Root is the folder of all users' things, below the data folder.
const Root = "users"

const (
	threads  = "threads"
	shared   = "folders"
	userData = "user-data"
	removed  = ".gone-"
	going    = ".going-"
)

// folders are a thread's own, below its user-data.
func folders() []string { return []string{"workspace", "uploads", "outputs"} }

// Disk is a data folder.
type Disk struct{ dir string }

// New returns the Disk of a data folder, which need not exist yet.
func New(dir string) Disk { return Disk{dir} }

// User is what a Disk has of one user.
type User struct {
	disk Disk
	user access.User
}

// User binds the disk to a user. All that it is asked for is [access.ErrNoUser] if that is nobody.
func (d Disk) User(user access.User) User { return User{d, user} }

// Agents is the folder of the user's own agents, as a path below the data folder.
func (u User) Agents() (string, error) { return u.folder("agents") }

func (u User) folder(name string) (string, error) {
	if err := u.user.Check(); err != nil {
		return "", fmt.Errorf("find the folder of a user: %w", err)
	}
	return path.Join(Root, folderOf(u.user.ID()), name), nil
}

// Thread is where a thread of the user works. It makes no folder.
func (u User) Thread(id string) (Space, error) {
	if err := CheckThreadID(id); err != nil {
		return Space{}, err
	}
	folder, err := u.folder(threads)
	if err != nil {
		return Space{}, err
	}
	return Space{Folder{u.disk.dir, path.Join(folder, id)}, sandboxID(u.user, id)}, nil
}

// Of is where a thread works: a hidden one on the files of its root, and in the sandbox of that.
func (d Disk) Of(t store.Thread) (Space, error) {
	return d.User(access.FromRow(t.UserID)).Thread(cmp.Or(t.Root, t.ID))
}

// Remove removes all that the disk has of the user. That there is nothing is no error.
func (u User) Remove() error {
	folder, err := u.folder("")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(u.disk.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	if err := u.removeSkills(root); err != nil {
		return fmt.Errorf("remove the skills of user %q: %w", u.user.ID(), err)
	}
	if _, err := root.Lstat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := sandbox.RemoveAll(root, folder); err != nil {
		return fmt.Errorf("remove the files of user %q: %w", u.user.ID(), err)
	}
	return nil
}

// Threads are the folders of all users' threads, those whose removal was cut off among them.
func (d Disk) Threads() (list []Folder, err error) {
	names, err := d.ofUsers(threads)
	for _, name := range names {
		list = append(list, Folder{d.dir, name})
	}
	return list, err
}

// Going are the folders that were to go with their threads' rows when a process was killed, and of those that go now;
// see [Folder.Going].
func (d Disk) Going() (list []Folder, err error) {
	err = d.eachUser(func(root *os.Root, user string) error {
		entries, err := entriesOf(root, path.Join(user, threads))
		for _, e := range entries {
			if id, ok := strings.CutPrefix(e.Name(), going); ok && CheckThreadID(id) == nil {
				list = append(list, Folder{d.dir, path.Join(user, threads, id)})
			}
		}
		return err
	})
	return list, err
}

// ofUsers are the paths of what stands in a folder of each user, what is being removed among it.
func (d Disk) ofUsers(kind string) (list []string, err error) {
	err = d.eachUser(func(root *os.Root, user string) error {
		names, err := foldersIn(root, path.Join(user, kind))
		for _, name := range names {
			if Removed(name) || CheckThreadID(path.Base(name)) == nil { // else it is somebody else's
				list = append(list, name)
			}
		}
		return err
	})
	return list, err
}

// eachUser has do look into each user's folder. A data folder that is not there has none.
func (d Disk) eachUser(do func(root *os.Root, user string) error) error {
	root, err := os.OpenRoot(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	users, err := foldersIn(root, Root)
	for i := 0; err == nil && i < len(users); i++ {
		err = do(root, users[i])
	}
	return err
}

// foldersIn are the paths of the folders in a folder. One that is not there is empty.
func foldersIn(root *os.Root, folder string) (list []string, err error) {
	entries, err := entriesOf(root, folder)
	for _, e := range entries {
		if e.IsDir() {
			list = append(list, path.Join(folder, e.Name()))
		}
	}
	return list, err
}

func entriesOf(root *os.Root, folder string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(root.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return entries, err
}

// Removed reports whether a path below the data folder is what is left of a thread, or of a folder of threads, that is
// being removed.
func Removed(name string) bool {
	parts := strings.Split(name, "/")
	return len(parts) == 4 && parts[0] == Root && (parts[2] == threads || parts[2] == shared) &&
		strings.HasPrefix(parts[3], removed)
}

// MountOf returns the folder of a thread's sandbox that something lies in, both as paths below the data folder.
func MountOf(name string) (folder string, ok bool) {
	const depth = 6 // users/USER/threads/THREAD/user-data/FOLDER
	parts := strings.Split(name, "/")
	if len(parts) <= depth || parts[0] != Root || parts[2] != threads || parts[4] != userData {
		return "", false
	}
	return strings.Join(parts[:depth], "/"), true
}

const (
	// maxThreadID is the longest thread id, and maxUserID the longest user id that is a folder's name as it is: file
	// systems end at 255 bytes.
	maxThreadID = 64
	maxUserID   = 128
)

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

// hashed matches what folderOf makes of an id that is no folder's name.
var hashed = regexp.MustCompile(`-[0-9a-f]{16}$`)

// folderOf is the name of a user's folder: the id itself where it is made of letters, digits, "_" and "-", else the id
// with every other character replaced by "-" and a part of its hash behind. An id that looks like such a name gets a
// hash too, so that no two users share a folder.
func folderOf(user string) string {
	if id.IsName(user, maxUserID) && !hashed.MatchString(user) {
		return user
	}
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && id.IsName(string(r), 1) {
			return r
		}
		return '-'
	}, user)
	return name[:min(len(name), maxUserID)] + "-" + hashOf(user)[:16]
}

// sandboxID names the sandbox of a user's thread. For the default user that is the thread's id, as it was when there
// was no other: a server of root gives the files of a sandbox to an account that follows from its id, and files that
// exist keep theirs.
func sandboxID(user access.User, thread string) string {
	if user == access.Default() && thread[0] != '-' { // with which no id of a sandbox begins
		return thread
	}
	return hashOf(user.ID())[:32] + "." + thread
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
