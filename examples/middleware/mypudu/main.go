// Command mypudu is Pudu, the command line and the server, with a middleware beside its own.
package main

import (
	"os"

	"example.com/redact"
	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/agent"
)

func main() {
	os.Exit(pudu.Main(pudu.Program{
		Middlewares: []agent.Middleware{redact.Middleware{}},
	}))
}
