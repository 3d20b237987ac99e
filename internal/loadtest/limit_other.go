//go:build !unix

package loadtest

// raiseFileLimit has nothing to raise on this system.
func raiseFileLimit() int { return 0 }
