// Command inventory is a pudu of your own: the whole command line and server, with a section of config.yaml, a
// connection that is opened at the start and closed at the stop, a tool that works on it, and a hook on the events of
// all runs.
//
//	inventory:
//	  file: stock.csv
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync/atomic"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/tool"
)

func main() {
	var i inventory
	os.Exit(pudu.Main(pudu.Program{
		Version:  "inventory 1",
		Sections: map[string]any{"inventory": &i.settings},
		Start:    i.start,
		Stop:     i.stop,
		Events:   i.count,
		System:   "You look after the stock of a shop.",
		Without:  []string{"TitleMiddleware"},
	}))
}

type inventory struct {
	settings struct {
		File string `json:"file"`
	}
	file  *os.File
	calls atomic.Int64
}

// start opens what the section names, and brings the tool that works on it.
func (i *inventory) start(_ context.Context, s *pudu.Setup) (err error) {
	if i.settings.File == "" {
		return errors.New(`config.yaml has no "file" in its section "inventory"`)
	}
	if i.file, err = os.Open(i.settings.File); err != nil {
		return err
	}
	s.Tools = append(s.Tools,
		tool.MustNew(tool.Spec{Name: "stock", Description: "Tells how many pieces of a product there are.",
			Effect: tool.ReadOnly}, i.stock))
	return nil
}

func (i *inventory) stop(context.Context) error {
	fmt.Fprintf(os.Stderr, "tools were called %d times\n", i.calls.Load())
	return i.file.Close()
}

// count sees the events of all runs, of several at the same time.
func (i *inventory) count(e pudu.RunEvent) {
	if _, ok := e.Event.Data.(event.ToolEnd); ok {
		i.calls.Add(1)
	}
}

func (i *inventory) stock(_ context.Context, _ *tool.Call, in struct {
	Product string `json:"product" doc:"Which product."`
},
) (*tool.Result, error) {
	lines := bufio.NewScanner(io.NewSectionReader(i.file, 0, math.MaxInt64))
	for lines.Scan() {
		if product, pieces, _ := strings.Cut(lines.Text(), ","); product == in.Product {
			return tool.Text(pieces + " pieces of " + product), nil
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the stock: %w", err)
	}
	return tool.Error("There is no product " + in.Product + "."), nil
}
