// Command program is the whole agent in a Go program: its chain, tools, sandbox and store, and a tool of the program's
// own.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/examples"
	"github.com/pudu-ai/pudu/tool"
)

type query struct {
	Product string `json:"product" doc:"Which product."`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	stock := tool.MustNew(tool.Spec{Name: "stock", Description: "Tells how many pieces of a product there are.",
		Effect: tool.ReadOnly},
		func(_ context.Context, _ *tool.Call, q query) (*tool.Result, error) {
			return tool.Text("There are 12 pieces of " + q.Product + "."), nil
		})
	p, err := pudu.Open(ctx, pudu.Options{Tools: []tool.Tool{stock}})
	if err != nil {
		return err
	}
	defer p.Close()
	task := pudu.Task{
		Thread:  pudu.NewThreadID(),
		Text:    "Which product sold best, and how many are left? Write it to best.md.",
		Files:   map[string][]byte{"sales.csv": examples.SalesCSV},
		Context: map[string]any{"is_plan_mode": true},
	}
	for ev, err := range p.Run(ctx, task) {
		if err != nil {
			return err
		}
		switch what := ev.Data.(type) {
		case event.Chunk:
			fmt.Print(what.Text)
		case event.ToolEnd:
			log.Printf("%s: %s", what.Tool, what.Summary)
		}
	}
	best, err := p.ReadFile(ctx, task.Thread, "/mnt/user-data/outputs/best.md")
	fmt.Printf("\n\n%s", best)
	return err
}
