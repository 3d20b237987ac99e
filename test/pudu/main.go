// Command pudu is the server as the tests of the whole start it: the ordinary program, with a tool beside that asks a
// human.
package main

import (
	"fmt"
	"os"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/tool"
)

func main() {
	ask, err := askHuman()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(pudu.Main(pudu.Program{Version: "test", Tools: []tool.Tool{ask}}))
}
