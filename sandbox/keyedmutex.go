package sandbox

import "sync"

// keyedMutex is a mutex per key that exists while somebody holds it or waits for it. The zero value is ready.
type keyedMutex struct {
	mu   sync.Mutex
	held map[string]*countedMutex
}

type countedMutex struct {
	sync.Mutex
	users int
}

func (k *keyedMutex) lock(key string) (unlock func()) {
	k.mu.Lock()
	if k.held == nil {
		k.held = map[string]*countedMutex{}
	}
	m := k.held[key]
	if m == nil {
		m = &countedMutex{}
		k.held[key] = m
	}
	m.users++
	k.mu.Unlock()
	m.Lock()
	return func() {
		m.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if m.users--; m.users == 0 {
			delete(k.held, key)
		}
	}
}
