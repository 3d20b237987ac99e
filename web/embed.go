// Package web is the user interface as it is served: what scripts/web build has made of web/src. It is committed, so
// that the program is built without Node; scripts/web proves that it is the build of the source beside it.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files are the page index.html, and what it loads below assets.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return files
}
