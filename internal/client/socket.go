package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
)

// SocketName is the name of the socket in the data folder.
const SocketName = "pudu.sock"

// errNobody: nobody listens at the socket.
var errNobody = errors.New("nobody listens there")

// Listen makes the socket in the data folder, which the caller has locked. Only the folder's owner can open it. One
// that is there was left by a killed server. Closing the listener removes it.
func Listen(ctx context.Context, dir string) (net.Listener, error) {
	if err := remove(dir); err != nil {
		return nil, err
	}
	var l net.Listener
	err := inFolder(dir, func(path string) (err error) {
		var c net.ListenConfig
		if l, err = c.Listen(ctx, "unix", path); err != nil {
			return err
		}
		if u, ok := l.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false) // the path may be another's then
		}
		return os.Chmod(path, 0o600) // the folder is its owner's alone, as a rule; this is for one that is not
	})
	if err != nil && l != nil {
		err = errors.Join(err, l.Close())
	}
	if err != nil {
		return nil, err
	}
	return &listener{l, dir}, nil
}

type listener struct {
	net.Listener

	dir string
}

// Close implements [net.Listener].
func (l *listener) Close() error { return errors.Join(l.Listener.Close(), remove(l.dir)) }

func remove(dir string) error {
	if err := os.Remove(filepath.Join(dir, SocketName)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// inFolder calls do with a path of the socket that is short enough for the system, whose bound is about 100 bytes.
func inFolder(dir string, do func(path string) error) error {
	const most = 100
	if path := filepath.Join(dir, SocketName); len(path) <= most {
		return do(path)
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("the data folder %s has too long a name for a socket; choose a shorter one", dir)
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), SocketName))
}

// dialer connects to the socket of a data folder, whatever address is asked for.
func dialer(dir string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
		err = inFolder(dir, func(path string) error {
			var d net.Dialer
			conn, err = d.DialContext(ctx, "unix", path)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNobody, err)
		}
		return conn, nil
	}
}
