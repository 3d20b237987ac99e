// Package natstest runs a real NATS server inside of a test. It can be stopped and started again on its port, as a
// server that goes away and comes back.
package natstest

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startLimit bounds how long a server may take until it answers.
const startLimit = 10 * time.Second

// Server is a NATS server on a port of 127.0.0.1. Its methods are for one goroutine at a time, URL for many.
type Server struct {
	t      testing.TB
	opts   server.Options
	server *server.Server // nil when it does not run
}

// Start starts a server that asks for no password and waits until it answers. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartWith(t, server.Options{})
}

// StartWith is Start with options, such as Username and Password, Authorization (a token) or MaxPayload. The port is
// its own choice.
func StartWith(t testing.TB, opts server.Options) *Server {
	t.Helper()
	opts.Host, opts.Port, opts.NoLog, opts.NoSigs = "127.0.0.1", server.RANDOM_PORT, true, true
	s := &Server{t: t, opts: opts}
	s.Restart()
	t.Cleanup(s.Stop)
	return s
}

// Address is the server's host and port, also while it does not run.
func (s *Server) Address() string { return net.JoinHostPort(s.opts.Host, strconv.Itoa(s.opts.Port)) }

// URL is where clients find it, also while it does not run. Credentials do not stand in it.
func (s *Server) URL() string { return "nats://" + s.Address() }

// Options are what the next Restart starts it with.
func (s *Server) Options() *server.Options { return &s.opts }

// Stop ends the server and with it its connections. One that does not run is no error.
func (s *Server) Stop() {
	if s.server == nil {
		return
	}
	s.server.Shutdown()
	s.server.WaitForShutdown()
	s.server = nil
}

// Restart stops the server if it runs, and starts one on the same port.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	opts := s.opts // the server changes its own
	srv, err := server.NewServer(&opts)
	if err != nil {
		s.t.Fatalf("make NATS server: %v", err)
	}
	go srv.Start() // returns when it listens
	s.server = srv
	if !srv.ReadyForConnections(startLimit) {
		s.t.Fatalf("start NATS server: it does not answer on port %d", s.opts.Port)
	}
	if addr, ok := srv.Addr().(*net.TCPAddr); ok {
		s.opts.Port = addr.Port
	}
}
