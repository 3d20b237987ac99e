//go:build !linux

package pgtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
)

var errNotHere = errors.New("test servers are made on Linux only; run these tests there, or in a container")

func unprivileged() (*account, error) { return nil, errNotHere }

func (s *Server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, program, args...)
}

func (s *Server) watch() error    { return errNotHere }
func (s *Server) spawn() error    { return errNotHere }
func (s *Server) alive() bool     { return false }
func (s *Server) shutdown() error { return errNotHere }

// Kill is not available here.
func (s *Server) Kill() error { return errNotHere }

// Signal is not available here.
func (s *Server) Signal(os.Signal) error { return errNotHere }

// Stop is not available here.
func (s *Server) Stop() error { return errNotHere }
