//go:build !unix

package toolbox

import "os"

// flock locks nothing: there is no sandbox on such a system that could show a toolbox.
func flock(*os.File, bool) error { return nil }
