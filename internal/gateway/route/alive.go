package route

import (
	"net/http"
	"sync"
	"time"
)

// KeepAlive writes a line break every so often until quiet is called, so that no proxy takes an answer of JSON that is
// still to come for dead. With the first one the status is 200.
func KeepAlive(w http.ResponseWriter, every time.Duration) (quiet func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(every)
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_, _ = w.Write([]byte("\n")) // a client that has gone ends the request's context
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}
