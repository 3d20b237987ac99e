package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// mount is a mount of [Files] with its host folder, which may be opened when it is first used.
type mount struct {
	Mount
	uid, gid int // of what is created; 0 means the server
	make     bool

	mu     sync.Mutex
	root   *os.Root // nil until it is used
	closed bool
}

// prepare opens the folder at once. What is created in a folder of somebody else's is to be his.
func (m *mount) prepare(foreign bool) error {
	root, err := m.open()
	if err == nil && foreign && os.Geteuid() == 0 {
		m.uid, m.gid = folderOwner(root)
	}
	return err
}

// open returns the folder, which is made if need be.
func (m *mount) open() (*os.Root, error) { return m.opened(m.make) }

// look returns the folder; nil if it is not there because nobody has used it.
func (m *mount) look() (*os.Root, error) {
	root, err := m.opened(false)
	if m.make && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return root, err
}

func (m *mount) opened(missing bool) (*os.Root, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fs.ErrClosed
	}
	m.Mend()
	if m.root != nil {
		return m.root, nil
	}
	root, err := os.OpenRoot(m.Host)
	if missing && errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(m.Host, 0o755); err == nil { //nolint:gosec // the sandbox of root runs as another user, who must get there
			root, err = os.OpenRoot(m.Host)
		}
	}
	m.root = root
	return root, err
}

func (m *mount) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.root == nil {
		return nil
	}
	return m.root.Close()
}

// own gives an open file to the mount's owner. It works on the descriptor: a path may lead elsewhere by now.
func (m *mount) own(h *os.File) error {
	if os.Geteuid() != 0 || m.uid <= 0 && m.gid <= 0 {
		return nil
	}
	keep := func(id int) int {
		if id <= 0 {
			return -1
		}
		return id
	}
	return h.Chown(keep(m.uid), keep(m.gid))
}
