package agents

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// Names of the files.
const (
	configFile = "config.yaml"
	soulFile   = "SOUL.md"
)

// Folder is the data folder, as far as it holds agents:
//
//	users/USER/agents/NAME/   config.yaml and SOUL.md of a user's agent
//	users/USER/USER.md        what the user tells all agents about himself
//	agents/NAME/              the same of an old version, for all users, only to be read
//	SOUL.md                   of the standard agent
//
// A folder without a config.yaml is no agent. Links that lead out of the data folder are not followed. Each file is
// written as a whole or not at all, and a Folder changes one agent at a time.
type Folder struct {
	dir string
	mu  sync.Mutex
}

// NewFolder makes a Folder of the data folder. It need not exist yet.
func NewFolder(dir string) *Folder { return &Folder{dir: dir} }

func shared(name string) string { return path.Join("agents", name) }

// Load reads a user's agent. [ErrNotFound] says that there is none of the name; other errors name the file, and the
// line if there is one.
func (f *Folder) Load(user access.User, name string) (Agent, error) {
	dir, name, err := f.own(user, name)
	if err != nil {
		return Agent{}, err
	}
	root, err := os.OpenRoot(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Agent{}, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	if err != nil {
		return Agent{}, fmt.Errorf("open the data folder: %w", cause(err))
	}
	defer root.Close()
	a, _, err := load(root, dir, name)
	return a, err
}

// own returns the folder of a user's agents and the agent's name in it.
func (f *Folder) own(user access.User, name string) (dir, clean string, err error) {
	if clean, err = CheckName(name); err == nil {
		dir, err = f.of(user)
	}
	return dir, clean, err
}

// of returns the folder of a user's agents.
func (f *Folder) of(user access.User) (string, error) { return userdata.New(f.dir).User(user).Agents() }

// load returns the agent of the folder, or the shared one, and its config.yaml.
func load(root *os.Root, dir, name string) (Agent, *document, error) {
	for _, at := range []string{path.Join(dir, name), shared(name)} {
		raw, err := read(root, path.Join(at, configFile), maxConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Agent{}, nil, err
		}
		doc, a, err := decode(raw)
		if err != nil {
			return Agent{}, nil, fmt.Errorf("%s: %w", path.Join(at, configFile), err)
		}
		a.Name, a.Shared = name, at == shared(name)
		a.Soul, err = readSoul(root, path.Join(at, soulFile))
		return a, doc, err
	}
	return Agent{}, nil, fmt.Errorf("%w: %s; there are: %s", ErrNotFound, name, strings.Join(names(root, dir), ", "))
}

// maxNamed bounds how many agents a message names.
const maxNamed = 20

// names are the agents of a folder and the shared ones, as far as a message needs them; "none" if there are none.
func names(root *os.Root, dir string) []string {
	list := all(root, dir)
	if len(list) > maxNamed {
		list = append(list[:maxNamed], "...")
	}
	if len(list) == 0 {
		return []string{"none"}
	}
	return list
}

// StandardSoul reads the soul of the standard agent; empty if it has none.
func (f *Folder) StandardSoul() (string, error) {
	root, err := os.OpenRoot(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("open the data folder: %w", cause(err))
	}
	defer root.Close()
	return readSoul(root, soulFile)
}

// SetStandardSoul writes the soul of the standard agent.
func (f *Folder) SetStandardSoul(soul string) error {
	if err := checkSoul(soul); err != nil {
		return err
	}
	return f.change(func(root *os.Root) error { return write(root, soulFile, []byte(soul)) })
}

// change runs do with the data folder opened, one after the other.
func (f *Folder) change(do func(*os.Root) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(f.dir, 0o755); err != nil { //nolint:gosec // as the data folder is made elsewhere
		return fmt.Errorf("make the data folder: %w", cause(err))
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return fmt.Errorf("open the data folder: %w", cause(err))
	}
	defer root.Close()
	return do(root)
}

func readSoul(root *os.Root, file string) (string, error) { return readText(root, file, MaxSoul) }

// readText reads a text without the blanks around it; empty if there is no such file.
func readText(root *os.Root, file string, limit int64) (string, error) {
	raw, err := read(root, file, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && !utf8.Valid(raw) {
		err = fmt.Errorf("%s: it is no text in UTF-8", file)
	}
	return strings.TrimSpace(string(raw)), err
}

// read reads a regular file of at most limit bytes. The error names the path below the data folder alone.
func read(root *os.Root, file string, limit int64) ([]byte, error) {
	info, err := root.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, cause(err))
	}
	h, err := root.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, cause(err))
	}
	defer h.Close()
	raw, err := io.ReadAll(io.LimitReader(h, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, cause(err))
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("read %s: it is larger than %d bytes", file, limit)
	}
	return bytes.TrimPrefix(raw, []byte("\ufeff")), nil
}

// write replaces a file: readers see the old content or the new one.
func write(root *os.Root, file string, data []byte) error {
	err := root.MkdirAll(path.Dir(file), 0o755)
	temp := path.Join(path.Dir(file), "."+rand.Text()+".tmp")
	if err == nil {
		err = writeNew(root, temp, data)
	}
	if err == nil {
		err = root.Rename(temp, file)
	}
	if err != nil {
		_ = root.Remove(temp)
		return fmt.Errorf("write %s: %w", file, cause(err))
	}
	return nil
}

func writeNew(root *os.Root, file string, data []byte) error {
	h, err := root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = h.Write(data)
	return errors.Join(err, h.Sync(), h.Close())
}

// cause drops what names paths of the host.
func cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
