// Package buffertest has the buffer that tests hand to code which writes from several goroutines, such as a log.
package buffertest

import (
	"bytes"
	"sync"
)

// Buffer keeps what is written to it. The zero value is empty and ready for use.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer]. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is all that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
