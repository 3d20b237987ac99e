package addrtest_test

import (
	"net"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/addrtest"
)

func TestFree(t *testing.T) {
	seen := make(map[string]bool)
	for range 200 {
		addr, err := addrtest.Free()
		if err != nil {
			t.Fatal(err)
		}
		if seen[addr] {
			t.Fatalf("%s was given twice", addr)
		}
		seen[addr] = true
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}

// TestHost: connections of other processes, which get ports of 127.0.0.1, take none of it.
func TestHost(t *testing.T) {
	l, err := net.Listen("tcp", addrtest.Host()+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	host, _, _ := net.SplitHostPort(conn.LocalAddr().String())
	if addrtest.Host() != "127.0.0.1" && host != "127.0.0.1" {
		t.Fatalf("a connection took a port of %s", host)
	}
}
