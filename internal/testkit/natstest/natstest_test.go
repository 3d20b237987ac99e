package natstest

import (
	"net"
	"testing"
)

func TestServerGoesAndComesBackOnItsPort(t *testing.T) {
	s := Start(t)
	address := s.Address()
	for range 3 {
		dial(t, address, true)
		s.Stop()
		s.Stop()
		dial(t, address, false)
		s.Restart()
		if s.Address() != address || s.URL() != "nats://"+address {
			t.Fatalf("it was at %s and is at %s", address, s.URL())
		}
	}
	dial(t, address, true)
}

func dial(t *testing.T, address string, want bool) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if (err == nil) != want {
		t.Fatalf("dial: %v", err)
	}
	if err == nil {
		conn.Close()
	}
}
