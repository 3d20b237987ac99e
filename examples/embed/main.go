// Command embed is an agent in a Go program: a tool, a middleware, and a run whose events are ranged over.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/tool"
)

type logger struct{}

func (logger) Name() string { return "LoggerMiddleware" }
func (logger) WrapToolCall(ctx context.Context, req *agent.ToolRequest, next agent.ToolHandler) (*tool.Result, error) {
	log.Printf("%s %s", req.Call.Name, req.Call.Args)
	return next(ctx, req)
}

func main() {
	weather := tool.MustNew(tool.Spec{Name: "weather", Description: "Tells the weather in a city."},
		func(_ context.Context, _ *tool.Call, in struct{ City string }) (*tool.Result, error) {
			return tool.Text("Sunny in " + in.City), nil
		})
	a, err := pudu.New(pudu.Config{Tools: []tool.Tool{weather}, Middlewares: []agent.Middleware{logger{}}})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range a.NewThread().Run(context.Background(), "What is the weather in Oslo?") {
		if err != nil {
			log.Fatal(err)
		} else if chunk, ok := ev.Data.(event.Chunk); ok {
			fmt.Print(chunk.Text)
		}
	}
}
