package server

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Environment leaves out of the variables what would make the server another one on another machine.
func Environment(vars []string) []string {
	return slices.DeleteFunc(slices.Clone(vars), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "PUDU_") || strings.HasPrefix(name, "DEER") ||
			strings.HasSuffix(name, "_API_KEY")
	})
}

const keptOutput = 256 << 10

// Output keeps the end of what a server prints, at most 256 KiB, and finds its address in it. [NewOutput] makes it; it
// is for one start.
type Output struct {
	address chan string // gets one

	mu    sync.Mutex
	kept  bytes.Buffer
	found bool
}

// NewOutput makes an Output for Stdout and Stderr of a server.
func NewOutput() *Output { return &Output{address: make(chan string, 1)} }

// Address gets the address, such as "http://127.0.0.1:4711", once the server says that it is ready there.
func (o *Output) Address() <-chan string { return o.address }

var addressIn = regexp.MustCompile(`ready at.* (http://[0-9.]+:\d+)`)

// Write never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept.Write(p)
	if whole, end := o.kept.Bytes(), bytes.LastIndexByte(o.kept.Bytes(), '\n'); !o.found && end >= 0 {
		if at := addressIn.FindSubmatch(whole[:end]); at != nil {
			o.found = true
			o.address <- string(at[1])
		}
	}
	if more := o.kept.Len() - keptOutput; more > 0 {
		o.kept.Next(more)
	}
	return len(p), nil
}

// String is what is kept.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.String()
}
