// Command jobs is a tool that leaves slow work to a job: the job is stored with the tool's result, so that it is not
// lost if the process ends, and is tried again if it fails.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/tool"
)

const sending = "send-report"

type report struct {
	To   string `json:"to" doc:"Who is to get it."`
	Text string `json:"text"`
}

// send has a report sent after this step. The same report to the same person is one job, however often it is asked for.
func send(_ context.Context, call *tool.Call, in report) (*tool.Result, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	if err := call.Env.Later(tool.Job{Kind: sending, Key: in.To, Body: raw}); err != nil {
		return nil, err
	}
	return tool.Text("The report will be sent."), nil
}

// deliver does such a job. Its first try fails here, as a server that is down would have it.
func deliver(sent chan<- string) func(context.Context, pudu.Job) error {
	return func(_ context.Context, j pudu.Job) error {
		var r report
		if err := json.Unmarshal(j.Body, &r); err != nil {
			return err
		}
		if j.Attempt == 1 {
			return errors.New("the mail server is down")
		}
		sent <- fmt.Sprintf("try %d for the user %s: to %s: %s", j.Attempt, j.Env.Ref.User, r.To, r.Text)
		return nil
	}
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	sent := make(chan string, 1)
	p, err := pudu.Open(ctx, pudu.Options{
		Tools: []tool.Tool{tool.MustNew(tool.Spec{Name: "send_report", Description: "Sends a report.",
			Effect: tool.Idempotent}, send)},
		Jobs: []pudu.JobKind{{Name: sending, Slots: 2, Tries: 5, Run: deliver(sent)}},
	})
	if err != nil {
		return err
	}
	defer p.Close()
	p.Handler() // from now on this process does what a server does, and with it jobs
	for _, err := range p.Run(ctx, pudu.Task{Thread: pudu.NewThreadID(), Text: "Send Ada what we have found."}) {
		if err != nil {
			return err
		}
	}
	fmt.Fprintln(os.Stderr, "The run has ended.")
	fmt.Println(<-sent)
	return nil
}
