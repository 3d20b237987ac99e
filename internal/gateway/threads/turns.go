package threads

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// maxTurns bounds the runs whose durations a history tells: those of the newest.
const maxTurns = 100

// turns adds to the messages of a state what the web client shows beside them: which run an answer or the result of a
// tool is of, and with the last answer of a run how many seconds that took. The run is the one that is noted in the
// human message before; who answers a question of a tool goes on with it.
func (v *viewer) turns(ctx context.Context, values map[string]json.RawMessage) error {
	list, ok := rawjson.Elements(values[agent.Messages.Name()])
	if !ok || len(list) == 0 {
		return nil
	}
	run, last := "", make(map[string]int) // the place of the last answer, by run
	for i, raw := range list {
		members, _ := rawjson.Members(raw)
		role, _ := rawjson.String(members["type"])
		switch message.Role(role) {
		case message.Human:
			kwargs, _ := rawjson.Members(members["additional_kwargs"])
			run, _ = rawjson.String(kwargs["run_id"]) // a client may have written anything
			continue
		case message.AI:
			last[run] = i
		case message.Tool:
		default:
			continue
		}
		if run != "" && members["run_id"] == nil {
			list[i] = withRun(raw, run)
		}
	}
	delete(last, "")
	if err := v.durations(ctx, list, last); err != nil {
		return err
	}
	out := []byte{'['}
	for i, raw := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	values[agent.Messages.Name()] = append(out, ']')
	return nil
}

// withRun is a message with the run that it is of.
func withRun(raw json.RawMessage, run string) json.RawMessage {
	raw, _ = bytes.CutSuffix(bytes.TrimSpace(raw), []byte{'}'})
	o := rawjson.Object{Buf: slices.Clone(raw)}
	o.String("run_id", run)
	return append(o.Buf, '}')
}

// durations notes how long runs took, each in its last answer.
func (v *viewer) durations(ctx context.Context, list []json.RawMessage, last map[string]int) error {
	if len(last) == 0 {
		return nil
	}
	runs, err := v.Mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: v.thread.ID, Limit: maxTurns})
	if err != nil {
		return err
	}
	for _, run := range runs {
		i, ok := last[run.ID]
		if !ok || run.Active() {
			continue
		}
		members, _ := rawjson.Members(list[i])
		kwargs, _ := rawjson.Members(shape.OrEmpty(members["additional_kwargs"]))
		kwargs["turn_duration"] = json.RawMessage(strconv.Itoa(max(0, int(run.UpdatedAt.Sub(run.CreatedAt).Seconds()))))
		members["additional_kwargs"] = route.Object(kwargs)
		list[i] = route.Object(members)
	}
	return nil
}
