//go:build linux && race

package cluster

// raced says that the tests were built with the race detector; so is the server then.
const raced = true
