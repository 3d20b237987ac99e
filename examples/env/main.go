// Command env is a tool that uses what a run offers it: the thread's files, its sandbox, and the user's long-term
// store, which the next thread has too.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

type note struct {
	Title string `json:"title" doc:"A word for it."`
	Text  string `json:"text" doc:"What is to be remembered."`
}

// remember keeps a note for all threads of the user, and shows it as a file of this one.
func remember(ctx context.Context, call *tool.Call, in note) (*tool.Result, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	if err := call.Env.Items().
		Put(ctx, tool.Item{Namespace: []string{"notes"}, Key: in.Title, Value: raw}); err != nil {
		return nil, err
	}
	files, err := call.Env.Files()
	if err != nil {
		return nil, err
	}
	if err := files.WriteFile(sandbox.Outputs+"/"+in.Title+".txt", []byte(in.Text), false); err != nil {
		return nil, err
	}
	return tool.Text(fmt.Sprintf("Noted, %s words.", words(ctx, call, in.Title))), nil
}

// words counts them with a command, where there is a sandbox: it is started for the first who asks for one.
func words(ctx context.Context, call *tool.Call, title string) string {
	box, err := call.Env.Shell(ctx)
	if err != nil {
		return "uncounted"
	}
	var out strings.Builder
	if _, err := box.Run(ctx, sandbox.Command{Script: "wc -w < " + sandbox.Outputs + "/" + title + ".txt",
		Stdout: &out}); err != nil {
		return "uncounted"
	}
	return strings.TrimSpace(out.String())
}

// recall finds the user's notes.
func recall(ctx context.Context, call *tool.Call, in struct{ About string }) (*tool.Result, error) {
	found, err := call.Env.Items().Search(ctx, []string{"notes"}, in.About, 10)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, i := range found {
		var n note
		if err := json.Unmarshal(i.Value, &n); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s: %s\n", n.Title, n.Text)
	}
	return tool.Text(b.String()), nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	p, err := pudu.Open(ctx, pudu.Options{Tools: []tool.Tool{
		tool.MustNew(tool.Spec{Name: "remember", Description: "Keeps a note.", Effect: tool.Idempotent}, remember),
		tool.MustNew(tool.Spec{Name: "recall", Description: "Finds notes about something.", Effect: tool.ReadOnly},
			recall),
	}})
	if err != nil {
		return err
	}
	defer p.Close()
	for _, text := range []string{"Remember that the deer come at dawn.", "What do you know about deer?"} {
		for ev, err := range p.Run(ctx, pudu.Task{Thread: pudu.NewThreadID(), Text: text}) {
			if err != nil {
				return err
			}
			if end, ok := ev.Data.(event.ToolEnd); ok {
				fmt.Println(end.Tool + ": " + end.Summary)
			}
		}
	}
	return nil
}
