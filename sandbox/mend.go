package sandbox

import (
	"os"
	"strings"
)

// OfThread reports whether a mount is one of the folders that belong to a thread, and not a person's.
func (m Mount) OfThread() bool { return strings.HasPrefix(m.Path, UserData+"/") }

// Mend gives the owner of a thread's own folder the right to list, enter and change it again, which code of the thread
// can take with chmod: it would lock the thread and the server out. Other mounts stay as they are, and so does what is
// inside the folder. A folder that cannot be mended says why when it is used.
//
// The folder is named by its path on the host. Nothing inside a sandbox can put a link there.
func (m Mount) Mend() {
	if m.ReadOnly || !m.OfThread() {
		return
	}
	info, err := os.Lstat(m.Host)
	if err != nil || !info.IsDir() || info.Mode()&0o700 == 0o700 {
		return
	}
	_ = os.Chmod(m.Host, info.Mode()|0o700)
}

// Mend mends all mounts. A provider does so before each command: the last one may have locked its own folder.
func (s Spec) Mend() {
	for _, m := range s.Mounts {
		m.Mend()
	}
}
