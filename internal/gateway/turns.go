package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// maxTurns bounds the runs whose durations a history tells: those of the newest.
const maxTurns = 100

// turn is what tells which run a message belongs to.
type turn struct {
	Role   message.Role `json:"type"`
	Kwargs struct {
		RunID json.RawMessage `json:"run_id"` // a client may have written anything
	} `json:"additional_kwargs"`
}

// turns adds to the messages of a state what the web client shows beside them: which run an answer or the result of a tool
// is of, and with the last answer of a run how many seconds that took. The run is the one that is noted in the human message
// before; who answers a question of a tool goes on with it.
func (v *viewer) turns(ctx context.Context, values map[string]json.RawMessage) error {
	list, ok := rawjson.Elements(values[agent.Messages.Name()])
	if !ok || len(list) == 0 {
		return nil
	}
	run, last := "", make(map[string]int) // the place of the last answer, by run
	for i, raw := range list {
		var t turn
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		switch t.Role {
		case message.Human:
			run, _ = rawjson.String(t.Kwargs.RunID)
		case message.AI:
			last[run] = i
			list[i] = withRun(raw, run)
		case message.Tool:
			list[i] = withRun(raw, run)
		}
	}
	delete(last, "")
	if err := v.durations(ctx, list, last); err != nil {
		return err
	}
	out, err := json.Marshal(list)
	values[agent.Messages.Name()] = out
	return err
}

// withRun is a message with the run that it is of, if that is known.
func withRun(raw json.RawMessage, run string) json.RawMessage {
	end := len(raw) - 1
	for end > 0 && raw[end] != '}' { // blanks
		end--
	}
	if run == "" {
		return raw
	}
	o := rawjson.Object{Buf: slices.Clone(raw[:end])}
	o.String("run_id", run)
	return append(o.Buf, '}')
}

// durations notes how long runs took, each in its last answer.
func (v *viewer) durations(ctx context.Context, list []json.RawMessage, last map[string]int) error {
	if len(last) == 0 {
		return nil
	}
	runs, err := v.Store.ListRuns(ctx, store.RunFilter{ThreadID: v.thread.ID, Limit: maxTurns})
	if err != nil {
		return err
	}
	for _, run := range runs {
		i, ok := last[run.ID]
		if !ok || run.Active() {
			continue
		}
		members, _ := rawjson.Members(list[i])
		kwargs, _ := rawjson.Members(orEmpty(members["additional_kwargs"]))
		kwargs["turn_duration"] = json.RawMessage(strconv.Itoa(max(0, int(run.UpdatedAt.Sub(run.CreatedAt).Seconds()))))
		members["additional_kwargs"] = object(kwargs)
		list[i] = object(members)
	}
	return nil
}
