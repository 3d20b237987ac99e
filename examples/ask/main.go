// Command ask is the whole agent in a Go program, with a tool that asks a person before it acts. The first run stops at
// the question; the answer is given in a second one, which may as well come days later and in another process.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/tool"
)

type order struct {
	Product string `json:"product" doc:"Which product."`
	Pieces  int    `json:"pieces" doc:"How many."`
}

// buy orders something, once a person has said yes. What stands before the question runs again after the answer, so
// nothing is done there.
func buy(_ context.Context, call *tool.Call, o order) (*tool.Result, error) {
	answer, err := call.Ask(map[string]string{"question": fmt.Sprintf("Order %d of %s?", o.Pieces, o.Product)})
	if err != nil {
		return nil, err
	}
	if string(answer) != `"yes"` { // it is JSON
		return tool.Text("The person said no. Nothing was ordered."), nil
	}
	return tool.Text(fmt.Sprintf("Ordered: %d of %s.", o.Pieces, o.Product)), nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	p, err := pudu.Open(ctx, pudu.Options{
		System: "You look after the stock of a shop for tents.",
		Tools:  []tool.Tool{tool.MustNew(tool.Spec{Name: "buy", Description: "Orders pieces of a product."}, buy)},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	task := pudu.Task{Thread: pudu.NewThreadID(), Text: "We are short of tents. Get three."}
	question, err := show(ctx, p, task)
	if err != nil || question == "" {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s [yes/no] ", question)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return err
	}
	_, err = show(ctx, p, pudu.Task{Thread: task.Thread, Answer: strings.TrimSpace(line)})
	return err
}

// show prints what the agent says, and returns what it asks; empty if it asks nothing.
func show(ctx context.Context, p *pudu.Pudu, task pudu.Task) (question string, err error) {
	for ev, err := range p.Run(ctx, task) {
		if err != nil {
			return "", err
		}
		switch what := ev.Data.(type) {
		case event.Chunk:
			fmt.Print(what.Text)
		case event.Interrupt:
			var value struct{ Question string }
			if err := json.Unmarshal(what.Value, &value); err != nil {
				return "", err
			}
			question = value.Question
		}
	}
	return question, nil
}
