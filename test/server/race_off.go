//go:build !race

package server

// Raced says that the tests were built with the race detector; so are the servers of [Build].
const Raced = false
