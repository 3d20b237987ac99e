package sandbox

import (
	"sync"
	"testing"
	"time"
)

// users waits until so many hold the lock of a key or wait for it.
func users(t *testing.T, k *keyedMutex, key string, n int) {
	t.Helper()
	// between two looks at a condition
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		k.mu.Lock()
		got := 0
		if m := k.held[key]; m != nil {
			got = m.users
		}
		k.mu.Unlock()
		if got == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d hold the lock or wait for it, want %d", got, n)
		}
	}
}

// TestKeyedMutex: of one key there is one holder at a time, also when some wait while it is given on; who holds another
// key is in nobody's way, and nothing is left when nobody holds it.
func TestKeyedMutex(t *testing.T) {
	var k keyedMutex
	unlock := k.lock("a")
	k.lock("b")()
	var (
		waiting sync.WaitGroup
		mu      sync.Mutex
		holders int
		most    int
	)
	in, out := make(chan struct{}), make(chan struct{})
	wait := func() {
		waiting.Go(func() {
			unlock := k.lock("a")
			mu.Lock()
			holders++
			most = max(most, holders)
			mu.Unlock()
			in <- struct{}{}
			<-out
			mu.Lock()
			holders--
			mu.Unlock()
			unlock()
		})
	}
	wait()
	users(t, &k, "a", 2)
	select {
	case <-in:
		t.Fatal("two hold the lock")
	default:
	}
	unlock()
	<-in // holds it now
	wait()
	users(t, &k, "a", 2)
	wait()
	users(t, &k, "a", 3)
	for range 2 {
		out <- struct{}{}
		<-in
	}
	out <- struct{}{}
	waiting.Wait()
	if most != 1 || len(k.held) != 0 {
		t.Errorf("at most %d held the lock at once, %d locks are left", most, len(k.held))
	}
}
