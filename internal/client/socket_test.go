package client_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/client"
)

// TestTheSocketIsItsOwnersAlone: also where a killed server has left one, and in a folder whose name is too long for a
// socket.
func TestTheSocketIsItsOwnersAlone(t *testing.T) {
	for name, dir := range map[string]string{"short": t.TempDir(),
		"long": filepath.Join(t.TempDir(), strings.Repeat("long/", 40))} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, client.SocketName)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := client.Listen(t.Context(), dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s: the socket is still there: %v", name, err)
		}
		if _, ok := l.Addr().(*net.UnixAddr); !ok {
			t.Errorf("%s: the address is %v", name, l.Addr())
		}
	}
	if _, err := client.Listen(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a socket was made in no folder")
	}
}
