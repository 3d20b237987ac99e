//go:build !unix

package load

// raiseFileLimit has nothing to raise on this system.
func raiseFileLimit() int { return 0 }
