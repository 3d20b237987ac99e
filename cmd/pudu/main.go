// Command pudu is the program: everything is constructed in internal/app.
package main

import (
	"os"

	"github.com/pudu-ai/pudu/internal/app"
)

// version is set by the build.
var version = "dev"

func main() { os.Exit(app.Main(version)) }
