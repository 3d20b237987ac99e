//go:build linux && race

package longrun

// raced says that the tests were built with the race detector; so is the server then.
const raced = true
