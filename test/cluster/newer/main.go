// Command newer plays the next version of pudu in the tests of package cluster: it has a kind of jobs, and a tool that
// asks for one, which the version before does not know. It is built with schema.sql as one more migration.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/tool"
)

// kind is the kind of jobs.
const kind = "newer"

type args struct {
	To string `json:"to" doc:"The URL that is told of the run."`
}

// told is what the URL is told.
type told struct {
	Run string `json:"run_id"`
}

// later asks for a job that tells a URL of the run.
func later(_ context.Context, call *tool.Call, in args) (*tool.Result, error) {
	body, err := json.Marshal(in)
	if err == nil {
		err = call.Env.Later(tool.Job{Kind: kind, Key: call.Env.Ref.Run, Body: body})
	}
	return tool.Text("It will be told."), err
}

// tell does the job.
func tell(ctx context.Context, j pudu.Job) error {
	var in args
	if err := json.Unmarshal(j.Body, &in); err != nil {
		return err
	}
	body, err := json.Marshal(told{kind + " " + j.Key})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, in.To, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if err = resp.Body.Close(); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	return err
}

func main() {
	tools := []tool.Tool{tool.MustNew(tool.Spec{Name: "tell_later", Description: "Tells a URL of the run.",
		Effect: tool.Idempotent}, later)}
	os.Exit(pudu.Main(pudu.Program{Version: "newer", Tools: tools,
		Jobs: []pudu.JobKind{{Name: kind, Tries: 5, Run: tell}}}))
}
