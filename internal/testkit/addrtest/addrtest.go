// Package addrtest gives addresses of this machine to tests whose servers must know theirs before they listen, or come
// back at the same one. A port of 127.0.0.1 may be taken meanwhile: each connection of another process gets one.
package addrtest

import (
	"fmt"
	"net"
	"os"
	"sync"
)

// given are the addresses that Free has given.
var given sync.Map

// Host is an address of the loopback network that this process alone uses. Where a machine has but one, as macOS, it is
// 127.0.0.1.
func Host() string {
	pid := os.Getpid()
	// Linux numbers processes up to 1<<22.
	host := fmt.Sprintf("127.%d.%d.%d", 1+pid>>16&63, pid>>8&255, pid&255)
	l, err := net.Listen("tcp4", host+":0") //nolint:noctx // returns at once
	if err != nil {
		return "127.0.0.1"
	}
	l.Close()
	return host
}

// Free is an address, with its port, at which nobody listens and which it gives once.
func Free() (string, error) {
	for {
		l, err := net.Listen("tcp4", Host()+":0") //nolint:noctx // returns at once
		if err != nil {
			return "", fmt.Errorf("find a free address: %w", err)
		}
		addr := l.Addr().String()
		if err := l.Close(); err != nil {
			return "", fmt.Errorf("find a free address: %w", err)
		}
		if _, again := given.LoadOrStore(addr, true); !again {
			return addr, nil
		}
	}
}
