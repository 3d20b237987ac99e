package history

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
)

// changes are what a run has changed in the workspace and the outputs.
func (g *Group) changes(ctx context.Context, run store.Run) (filehistory.Report, error) {
	past, err := g.Files(ctx, route.Caller(ctx).User, run.ThreadID)
	if err != nil {
		return filehistory.Report{}, err
	}
	list, err := past.Changes(ctx, run.ID)
	return list.Report(true, true), err
}

// deliveryJSON says which files were presented in a run, and by which tools. Of a run that made outputs it says which,
// and whether one of them was presented.
type deliveryJSON struct {
	Presented int                 `json:"presented"`
	Paths     []string            `json:"paths"`
	ByTool    map[string][]string `json:"by_tool"`
	*checkedJSON
}

type checkedJSON struct {
	Verification verificationJSON `json:"verification"`
	Produced     []string         `json:"produced_paths"`
	Shown        []string         `json:"presented_paths"`
	Matched      []string         `json:"matched_paths"`
	Stage        string           `json:"stage"`
	Satisfied    bool             `json:"satisfied"`
}

type verificationJSON struct {
	Source      string `json:"source"`
	Requirement string `json:"requirement"`
}

// presentTool is the tool that presents files.
const presentTool = "present_files"

func delivered(run store.Run, msgs []history.Message, changes filehistory.Report) deliveryJSON {
	out := deliveryJSON{Paths: presented(msgs), ByTool: make(map[string][]string)}
	if out.Presented = len(out.Paths); out.Presented > 0 {
		out.ByTool[presentTool] = out.Paths
	}
	made := changes.Outputs()
	if len(made) == 0 {
		return out
	}
	matched := slices.DeleteFunc(slices.Clone(made), func(p string) bool { return !slices.Contains(out.Paths, p) })
	out.checkedJSON = &checkedJSON{
		Verification: verificationJSON{"outputs_changed", "present_files_matches_produced_output"},
		Produced:     made, Shown: out.Paths, Matched: matched, Stage: "not_started",
		Satisfied: run.Error != store.Undelivered, // it may have been presented before
	}
	if out.Presented > 0 {
		out.Stage = "presented"
	}
	return out
}

// presented are the files that were presented, each once.
func presented(msgs []history.Message) []string {
	all := []string{}
	asked := make(map[string]json.RawMessage) // the arguments of calls, by id
	for _, m := range msgs {
		var said message.Message
		if json.Unmarshal(m.Content, &said) != nil {
			continue
		}
		for _, c := range said.ToolCalls {
			if c.Name == presentTool {
				asked[c.ID] = c.Args
			}
		}
		args := asked[said.ToolCallID]
		if said.Role != message.Tool || args == nil || said.Status == message.StatusError {
			continue
		}
		members, _ := rawjson.Members(args)
		var paths []string
		_ = json.Unmarshal(members["filepaths"], &paths) // of another kind they are none
		for _, p := range paths {
			if clean, err := sandbox.CleanPath(p); err == nil && !slices.Contains(all, clean) {
				all = append(all, clean)
			}
		}
	}
	return all
}
