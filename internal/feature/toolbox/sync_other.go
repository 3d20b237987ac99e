//go:build !linux

package toolbox

// syncAll does nothing: there is no sandbox on such a system that could show a toolbox.
func syncAll(string) error { return nil }
