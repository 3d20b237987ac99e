//go:build linux

package bwrap

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// stream carries one output of a command from a FIFO to a writer. It ends when the last process that has it open ends,
// which may be long after the command.
type stream struct {
	r    *os.File
	hold *os.File // keeps the FIFO open until the command's shell has opened it
	w    io.Writer

	caughtUp chan struct{} // what was in the FIFO when catchUp was called has been written
	once     sync.Once
	done     chan struct{} // the end was reached
}

// openStream makes the FIFO at path, the sandbox user's, and opens it for reading.
func openStream(path string, who identity, w io.Writer) (*stream, error) {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make fifo: %w", err)
	}
	r, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open fifo: %w", err)
	}
	hold, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err == nil {
		err = who.give(path)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("open fifo %s: %w", filepath.Base(path), err)
	}
	return &stream{r: r, hold: hold, w: w, caughtUp: make(chan struct{}), done: make(chan struct{})}, nil
}

// pump copies until the end. A writer that fails is not called again, but the reading goes on: a full pipe would stop
// the command.
func (s *stream) pump() {
	defer close(s.done)
	defer s.r.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := s.r.Read(buf)
		s.write(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.r.SetReadDeadline(time.Time{})
			err = s.finishPresent(buf)
			s.once.Do(func() { close(s.caughtUp) })
		}
		if err != nil {
			return
		}
	}
}

// finishPresent reads as much as is in the FIFO right now and no more, as there may be no end to it.
func (s *stream) finishPresent(buf []byte) error {
	present := 0
	s.control(func(fd int) { present, _ = unix.IoctlGetInt(fd, unix.TIOCINQ) })
	for present > 0 {
		n, err := s.r.Read(buf[:min(len(buf), present)])
		s.write(buf[:n])
		if err != nil {
			return err
		}
		present -= n
	}
	return nil
}

func (s *stream) control(f func(fd int)) {
	if raw, err := s.r.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}

func (s *stream) write(p []byte) {
	if len(p) == 0 || s.w == nil {
		return
	}
	if _, err := s.w.Write(p); err != nil {
		s.w = nil
	}
}

// release lets the stream end with its last writer.
func (s *stream) release() { s.hold.Close() }

// catchUp waits until all that the command's shell has written has reached the writer, at most for patience.
func (s *stream) catchUp(patience time.Duration) {
	s.r.SetReadDeadline(time.Now())
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.caughtUp:
	case <-s.done:
	case <-timer.C:
	}
}

// finish waits for the end, which is near, at most for patience.
func (s *stream) finish(patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
	}
}
