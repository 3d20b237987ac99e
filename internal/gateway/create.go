package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/message"
)

const (
	maxMessages = 1000 // of one input
	maxNodes    = 100  // of a list of breakpoints
	maxKey      = 200  // bytes of an idempotency key
	// maxModelName bounds the name of a model, in bytes: the log tells of unknown ones.
	maxModelName = 256
	// maxDelay bounds after_seconds.
	maxDelay = 30 * 24 * time.Hour
	maxSteps = 1 << 30
)

// order is a request for a run, as it came.
type order struct {
	runs.Request

	modes []frames.Mode
	// choice says that somebody chose the model for this run: it must be there. One that stands in config.configurable or
	// with an assistant was meant for any server; an unknown name there means the default model.
	choice bool
}

// order reads a request for a run. An empty thread id is a stateless one: it makes a thread, or names it in its config.
func (s *Server) order(w http.ResponseWriter, r *http.Request, threadID string) (order, error) {
	in, err := s.body(w, r, true)
	if err != nil {
		return order{}, err
	}
	return s.orderOf(r, in, threadID)
}

func (s *Server) orderOf(r *http.Request, in *input, threadID string) (order, error) {
	by := logctx.Of(r.Context())
	o := order{Request: runs.Request{
		RequestID: by.Request, Token: by.Token,
		ThreadID: threadID, UserID: caller(r.Context()).User.ID(), Subgraphs: in.boolean("stream_subgraphs", false),
		OnDisconnect:    in.oneOf("on_disconnect", "continue", runs.CancelRun),
		OnCompletion:    in.oneOf("on_completion", "keep", runs.DeleteThread),
		Strategy:        in.strategy(base(r)),
		InterruptBefore: in.names("interrupt_before", maxNodes), InterruptAfter: in.names("interrupt_after", maxNodes),
		Metadata: in.rawObject("metadata"), Key: r.Header.Get("Idempotency-Key"),
	}}
	o.MustExist = in.oneOf("if_not_exists", "reject", "create") == "reject" && threadID != ""
	o.takeModes(in)
	o.takeInput(in)
	o.takeCommand(in)
	o.takeCheckpoint(in)
	o.takeTimes(in, s.Now())
	o.takeWebhook(in)
	o.takeConfig(in, s.Now())
	switch {
	case len(o.Key) > maxKey:
		in.add("string_too_long", fmt.Sprintf("String should have at most %d characters", maxKey), nil, "header", "idempotency-key")
	case !utf8.ValidString(o.Key) || strings.ContainsRune(o.Key, 0):
		in.add("string_unicode", "Input should be a valid string of UTF-8 without NUL", nil, "header", "idempotency-key")
	}
	name := in.str("assistant_id")
	if err := in.err(); err != nil {
		return o, err
	}
	if o.choice && o.Model != "" && !slices.ContainsFunc(s.Models, func(m Model) bool { return m.Name == o.Model }) {
		return o, failf(http.StatusBadRequest, "Model '%s' is not in the configured model allowlist", clip(o.Model))
	}
	if err := s.takeAssistant(r, &o, name); err != nil {
		return o, err
	}
	if err := s.answerable(o.Request); err != nil {
		return o, err
	}
	return o, s.warn(&o, in)
}

// answerable refuses a run that no model can answer, before it is admitted. It is the client's request that cannot be
// carried out here, not a server in trouble: nobody shall try again.
func (s *Server) answerable(req runs.Request) error {
	if s.Answers == nil {
		return nil
	}
	if err := s.Answers(req); err != nil {
		return failf(http.StatusUnprocessableEntity, "There is %v\nTo see what Pudu does without one, play the scripted demonstration: "+
			`send "context": {"model_name": "%s"}`, err, config.Demo)
	}
	return nil
}

// strategy reads what becomes of a run behind an active one. By default it waits, as on LangGraph's servers; below /api it is
// refused, as by DeerFlow's.
func (in *input) strategy(mount string) store.Strategy {
	first, second := store.Enqueue, store.Reject
	if mount != "" {
		first, second = second, first
	}
	return store.Strategy(in.oneOf("multitask_strategy", string(first), string(second), "interrupt", "rollback"))
}

func (o *order) takeModes(in *input) {
	names := in.names("stream_mode", maxNodes)
	modes, err := frames.ParseModes(names)
	if err != nil {
		in.add("unsupported_stream_mode", err.Error(), quoted(in.raw("stream_mode")), in.loc("stream_mode")...)
	}
	o.modes, o.Modes = modes, names
}

// takeInput reads the input. Without input and command the run goes on from where the thread's last one stopped.
func (o *order) takeInput(in *input) {
	if in.raw("input") == nil {
		o.Continue = in.raw("command") == nil
		return
	}
	obj := in.object("input")
	o.Input, o.Values = takeMessages(obj, obj.raw("messages")), channels(obj.members)
	in.faults = append(in.faults, obj.faults...)
}

// channels are the members of an input beside the messages.
func channels(members map[string]json.RawMessage) map[string]json.RawMessage {
	values := maps.Clone(members)
	maps.DeleteFunc(values, func(name string, v json.RawMessage) bool {
		return name == agent.Messages.Name() || string(v) == "null"
	})
	return values
}

// takeMessages reads messages as LangChain accepts them.
func takeMessages(in *input, raw json.RawMessage) []message.Message {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	msgs, err := message.DecodeInput(raw)
	switch {
	case err != nil:
		in.add("value_error", "Value error, "+err.Error(), quoted(raw), in.loc("messages")...)
	case len(msgs) > maxMessages:
		in.add("too_long", fmt.Sprintf("List should have at most %d items", maxMessages), nil, in.loc("messages")...)
	}
	return msgs
}

// takeCommand reads LangGraph's command: an answer to a question, a change of the state, a node to go to. One that says
// nothing, as clients send it who leave out what is not set, is none.
func (o *order) takeCommand(in *input) {
	if in.raw("command") == nil {
		return
	}
	cmd := in.object("command")
	if cmd.raw("resume") == nil && cmd.raw("update") == nil && cmd.raw("goto") == nil {
		o.Continue = in.raw("input") == nil
		in.faults = append(in.faults, cmd.faults...)
		return
	}
	o.Input, o.Values = nil, nil // a command stands in place of the input
	o.Resume = cmd.raw("resume")
	if update := cmd.raw("update"); update != nil {
		members := updateMembers(cmd, update)
		o.Input, o.Values = takeMessages(cmd, members[agent.Messages.Name()]), channels(members)
	}
	o.Goto = takeGoto(cmd)
	o.Continue = o.Resume == nil && o.Goto == ""
	in.faults = append(in.faults, cmd.faults...)
}

// updateMembers reads an object, or a list of pairs of name and value.
func updateMembers(cmd *input, raw json.RawMessage) map[string]json.RawMessage {
	members := make(map[string]json.RawMessage)
	if json.Unmarshal(raw, &members) == nil {
		return members
	}
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal(raw, &pairs); err != nil {
		cmd.add("dict_type", "Input should be a valid dictionary", quoted(raw), cmd.loc("update")...)
	}
	for _, p := range pairs {
		var name string
		if json.Unmarshal(p[0], &name) == nil {
			members[name] = p[1]
		}
	}
	return members
}

func takeGoto(cmd *input) string {
	nodes := cmd.names("goto", 1)
	if len(nodes) == 0 {
		return ""
	}
	if _, err := agent.Target(nodes[0]); err != nil {
		cmd.add("value_error", err.Error(), quoted(cmd.raw("goto")), cmd.loc("goto")...)
	}
	return nodes[0]
}

func (o *order) takeCheckpoint(in *input) {
	cp := in.object("checkpoint")
	o.Checkpoint = cp.str("checkpoint_id")
	if named := in.str("checkpoint_id"); named != "" {
		o.Checkpoint = named
	}
	if other := cp.str("thread_id"); other != "" && other != o.ThreadID {
		cp.add("value_error", "The checkpoint is of another thread", quoted(cp.raw("thread_id")), cp.loc("thread_id")...)
	}
	in.faults = append(in.faults, cp.faults...)
}

func (o *order) takeTimes(in *input, now time.Time) {
	raw := in.raw("after_seconds")
	if raw == nil {
		return
	}
	seconds, err := decimal(unquoted(raw))
	if err != nil || !(seconds >= 0 && seconds <= maxDelay.Seconds()) {
		in.add("value_error", fmt.Sprintf("Input should be a number of seconds from 0 to %.0f", maxDelay.Seconds()), quoted(raw), in.loc("after_seconds")...)
		return
	}
	if seconds > 0 {
		o.NotBefore = now.Add(time.Duration(seconds * float64(time.Second)))
	}
}

func (o *order) takeWebhook(in *input) {
	o.Webhook = in.str("webhook")
	if o.Webhook == "" {
		return
	}
	u, err := url.Parse(o.Webhook)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		in.add("value_error", "Input should be an http or https URL without a password", quoted(in.raw("webhook")), in.loc("webhook")...)
	}
}

// takeConfig reads config and context. Of them is kept what [sanitized] leaves.
func (o *order) takeConfig(in *input, now time.Time) {
	config, context := in.object("config"), in.object("context")
	within := config.object("context")
	if context.members == nil {
		context = within
	}
	conf := config.object("configurable")
	o.MaxSteps = config.integer("recursion_limit", 0, 1, maxSteps)
	if o.ThreadID == "" {
		o.ThreadID = conf.threadID("thread_id")
	}
	if o.ThreadID == "" {
		o.ThreadID = id.New(now)
	}
	named := context
	if o.choice = context.members != nil; !o.choice {
		named = conf
	}
	o.Model = named.text("model_name", maxModelName)
	if metadata := (&input{members: in.members}).object("metadata"); metadata.has("auth_token") { // its faults are known
		in.add("value_error", "Value error, auth_token must not stand in metadata", nil, in.loc("metadata")...)
	}
	for _, sub := range []*input{config, context, within, conf} {
		in.faults = append(in.faults, sub.faults...)
	}
	o.Config, o.Context = sanitized(in.raw("config")), sanitized(in.raw("context"))
}

// takeAssistant resolves the assistant and gives the run what that sets and the request leaves open.
func (s *Server) takeAssistant(r *http.Request, o *order, name string) error {
	if name == "" {
		name = GraphID
	}
	a, err := s.assistant(r, name)
	if err != nil {
		return err
	}
	o.AssistantID = a.ID
	if name == GraphID {
		o.AssistantID = GraphID
	}
	o.Metadata = under(a.Metadata, o.Metadata)
	o.standOn(a)
	return nil
}

// under lays members over others; both are JSON objects, or nil.
func under(low, high json.RawMessage) json.RawMessage {
	members := membersOf(low)
	delete(members, "created_by")
	maps.Copy(members, membersOf(high))
	return object(members)
}

// submit makes the run, and tells the client where it is to be found.
func (s *Server) submit(w http.ResponseWriter, r *http.Request, o order) (store.Run, error) {
	if o.Checkpoint != "" {
		if err := s.checkCheckpoint(r.Context(), o); err != nil {
			return store.Run{}, err
		}
	}
	run, err := s.runs(r.Context()).Submit(r.Context(), o.Request)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return run, notFound("Thread", o.ThreadID)
	case errors.Is(err, store.ErrConflict):
		return run, failf(http.StatusConflict, "Thread %s has an active run; wait for it, cancel it, or choose another multitask_strategy", o.ThreadID)
	case err != nil:
		return run, err
	}
	w.Header().Set("Content-Location", base(r)+runPath(run))
	return run, nil
}

// checkCheckpoint refuses a checkpoint that the thread does not have, before there is a run.
func (s *Server) checkCheckpoint(ctx context.Context, o order) error {
	if !checkpointID.MatchString(o.Checkpoint) {
		return noCheckpoint(o.Checkpoint)
	}
	_, err := s.mine(ctx).Checkpoint(ctx, s.Manager.Schema(), o.ThreadID, o.Checkpoint)
	if errors.Is(err, store.ErrNotFound) {
		return noCheckpoint(o.Checkpoint)
	}
	return err
}

// runPath is a run's path below the mount point.
func runPath(run store.Run) string { return "/threads/" + run.ThreadID + "/runs/" + run.ID }

// location tells an SDK where to go on when the connection breaks. It is relative to the SDK's base URL.
func location(w http.ResponseWriter, run store.Run, action string) {
	w.Header().Set("Location", runPath(run)+"/"+action)
}
