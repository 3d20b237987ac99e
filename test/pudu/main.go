// Command pudu is the server as the tests of the whole start it: the ordinary program, with a tool beside that asks a human.
package main

import (
	"os"

	"github.com/pudu-ai/pudu/internal/app"
)

func main() { os.Exit(app.Main("test")) }
