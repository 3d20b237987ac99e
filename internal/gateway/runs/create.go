package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/secrets"
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

// createIn is a request for a run, on the thread of the path, or without one on a thread of its own.
type createIn struct {
	asked

	ThreadID string `path:"thread_id"`
	Key      key    `header:"idempotency-key"`
}

// asked is what the body of such a request says. Requests for runs are read here alone: [Group.order] makes a
// runs.Request of it, which is what is stored.
type asked struct {
	Assistant    string          `body:"assistant_id" doc:"an assistant; the name of the graph is the default"`
	Input        route.Rest      `body:"input" types:"object,null" doc:"messages, and other channels of the state"`
	Command      route.Rest      `body:"command" types:"object,null" doc:"an answer, a change of the state, a node to go to"`
	Config       route.Rest      `body:"config" types:"object,null" doc:"recursion_limit, configurable, context"`
	Context      route.Rest      `body:"context" types:"object,null" doc:"the options of the agent, and secrets for its skills"`
	Modes        route.Rest      `body:"stream_mode" types:"string,array,null" doc:"how the run is told"`
	Checkpoint   route.Rest      `body:"checkpoint" types:"object,null" doc:"where it begins; the newest is the default"`
	Delay        route.Rest      `body:"after_seconds" types:"number,string,null" doc:"when the run may begin"`
	Webhook      route.Rest      `body:"webhook" types:"string,null" doc:"an address that is told of the end"`
	Subgraphs    bool            `body:"stream_subgraphs"`
	OnDisconnect string          `body:"on_disconnect" enum:"continue,cancel"`
	OnCompletion string          `body:"on_completion" enum:"keep,delete"`
	Strategy     strategy        `body:"multitask_strategy" doc:"what becomes of it behind an active run"`
	Before       []string        `body:"interrupt_before" max:"100"`
	After        []string        `body:"interrupt_after" max:"100"`
	Metadata     json.RawMessage `body:"metadata"`
	IfNotExists  string          `body:"if_not_exists" enum:"reject,create"`
}

// key is the idempotency key of a request.
type key string

// ReadFrom implements [route.Reader].
func (k *key) ReadFrom(in *route.Input, name string) {
	text := in.Request().Header.Get(name)
	switch {
	case len(text) > maxKey:
		in.Add("string_too_long", fmt.Sprintf("String should have at most %d characters", maxKey), nil, in.Loc(name)...)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		in.Add("string_unicode", "Input should be a valid string of UTF-8 without NUL", nil, in.Loc(name)...)
	}
	*k = key(text)
}

// strategy is what becomes of a run behind an active one. By default it waits, as on LangGraph's servers; below /api it
// is refused, as by DeerFlow's.
type strategy store.Strategy

// ReadFrom implements [route.Reader].
func (s *strategy) ReadFrom(in *route.Input, name string) {
	first, second := store.Enqueue, store.Reject
	if route.Base(in.Request()) != "" {
		first, second = second, first
	}
	*s = strategy(in.OneOf(name, string(first), string(second), "interrupt", "rollback", "steer"))
}

// order is a request for a run as it is carried out.
type order struct {
	runs.Request

	modes []frames.Mode
	// choice says that somebody chose the model for this run: it must be there. One that stands in config.configurable
	// or with an assistant was meant for any server; an unknown name there means the default model.
	choice bool
}

// order makes an order of a request. An empty thread id is a stateless one: it makes a thread, or names it in its
// config.
func (g *Group) order(ctx context.Context, a asked, threadID string, k key) (order, error) {
	by, caller, in := logctx.Of(ctx), route.Caller(ctx), a.Input.Input
	o := order{Request: runs.Request{
		RequestID: by.Request, Token: by.Token, ThreadID: threadID, UserID: caller.User.ID(), Key: string(k),
		Role: caller.Role, Scopes: caller.Scopes, Via: caller.Via,
		Subgraphs: a.Subgraphs, OnDisconnect: a.OnDisconnect, OnCompletion: a.OnCompletion,
		Strategy: store.Strategy(a.Strategy), InterruptBefore: a.Before, InterruptAfter: a.After, Metadata: a.Metadata,
		MustExist: a.IfNotExists == "reject" && threadID != "",
	}}
	o.takeModes(in)
	o.takeInput(in)
	o.takeCommand(in)
	o.takeCheckpoint(in)
	o.takeTimes(in, g.Now())
	o.takeWebhook(in)
	o.takeConfig(in, g.Now())
	if err := in.Err(); err != nil {
		return o, err
	}
	if _, known := shape.Find(g.Models, o.Model); o.choice && o.Model != "" && !known {
		return o, route.Failf(http.StatusBadRequest, "Model '%s' is not in the configured model allowlist",
			route.Clip(o.Model))
	}
	if err := g.takeAssistant(ctx, &o, a.Assistant); err != nil {
		return o, err
	}
	if err := g.answerable(o.Request); err != nil {
		return o, err
	}
	if err := caller.May(access.Regular, route.GrantScope); err != nil && o.HasScope() {
		return o, route.Failf(http.StatusForbidden, "An answer with a scope beyond once approves calls to come: %v",
			err)
	}
	return o, warn(&o, in)
}

// answerable refuses a run that no model can answer, before it is admitted. It is the client's request that cannot be
// carried out here, not a server in trouble: nobody shall try again.
func (g *Group) answerable(req runs.Request) error {
	if g.Answers == nil {
		return nil
	}
	if err := g.Answers(req); err != nil {
		return route.Failf(http.StatusUnprocessableEntity,
			"There is %v\nTo see what Pudu does without one, play the scripted demonstration: "+
				`send "context": {"model_name": "%s"}`, err, config.Demo)
	}
	return nil
}

func (o *order) takeModes(in *route.Input) {
	names := in.Names("stream_mode", maxNodes)
	modes, err := frames.ParseModes(names)
	if err != nil {
		in.Add("unsupported_stream_mode", err.Error(), route.Quoted(in.Raw("stream_mode")), in.Loc("stream_mode")...)
	}
	o.modes, o.Modes = modes, names
}

// takeInput reads the input.
func (o *order) takeInput(in *route.Input) {
	obj := in.Object("input")
	o.Input, o.Values = takeMessages(obj, obj.Raw("messages")), channels(obj.Members)
	in.Take(obj)
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
func takeMessages(in *route.Input, raw json.RawMessage) []message.Message {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	msgs, err := message.DecodeInput(raw)
	switch {
	case err != nil:
		in.Add("value_error", "Value error, "+err.Error(), route.Quoted(raw), in.Loc("messages")...)
	case len(msgs) > maxMessages:
		in.Add("too_long", fmt.Sprintf("List should have at most %d items", maxMessages), nil, in.Loc("messages")...)
	}
	return msgs
}

// takeCommand reads LangGraph's command: an answer to a question, a change of the state, a node to go to. One that says
// nothing, as clients send it who leave out what is not set, is none. Without input and command the run goes on from
// where the thread's last one stopped.
func (o *order) takeCommand(in *route.Input) {
	cmd := in.Object("command")
	if cmd.Raw("resume") == nil && cmd.Raw("update") == nil && cmd.Raw("goto") == nil {
		o.Continue = in.Raw("input") == nil
		in.Take(cmd)
		return
	}
	o.Input, o.Values = nil, nil // a command stands in place of the input
	o.Resume = cmd.Raw("resume")
	if update := cmd.Raw("update"); update != nil {
		members := updateMembers(cmd, update)
		o.Input, o.Values = takeMessages(cmd, members[agent.Messages.Name()]), channels(members)
	}
	o.Goto = takeGoto(cmd)
	o.Continue = o.Resume == nil && o.Goto == ""
	in.Take(cmd)
}

// updateMembers reads an object, or a list of pairs of name and value.
func updateMembers(cmd *route.Input, raw json.RawMessage) map[string]json.RawMessage {
	members := make(map[string]json.RawMessage)
	if json.Unmarshal(raw, &members) == nil {
		return members
	}
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal(raw, &pairs); err != nil {
		cmd.Add("dict_type", "Input should be a valid dictionary", route.Quoted(raw), cmd.Loc("update")...)
	}
	for _, p := range pairs {
		var name string
		if json.Unmarshal(p[0], &name) == nil {
			members[name] = p[1]
		}
	}
	return members
}

func takeGoto(cmd *route.Input) string {
	nodes := cmd.Names("goto", 1)
	if len(nodes) == 0 {
		return ""
	}
	if _, err := agent.Target(nodes[0]); err != nil {
		cmd.Add("value_error", err.Error(), route.Quoted(cmd.Raw("goto")), cmd.Loc("goto")...)
	}
	return nodes[0]
}

func (o *order) takeCheckpoint(in *route.Input) {
	cp := in.Object("checkpoint")
	o.Checkpoint = cp.Str("checkpoint_id")
	if named := in.Str("checkpoint_id"); named != "" {
		o.Checkpoint = named
	}
	if other := cp.Str("thread_id"); other != "" && other != o.ThreadID {
		cp.Add("value_error", "The checkpoint is of another thread", route.Quoted(cp.Raw("thread_id")),
			cp.Loc("thread_id")...)
	}
	in.Take(cp)
}

func (o *order) takeTimes(in *route.Input, now time.Time) {
	raw := in.Raw("after_seconds")
	if raw == nil {
		return
	}
	seconds, err := route.Decimal(route.Unquoted(raw))
	if err != nil || !(seconds >= 0 && seconds <= maxDelay.Seconds()) {
		in.Add("value_error", fmt.Sprintf("Input should be a number of seconds from 0 to %.0f", maxDelay.Seconds()),
			route.Quoted(raw), in.Loc("after_seconds")...)
		return
	}
	if seconds > 0 {
		o.NotBefore = now.Add(time.Duration(seconds * float64(time.Second)))
	}
}

func (o *order) takeWebhook(in *route.Input) {
	o.Webhook = in.Str("webhook")
	if o.Webhook == "" {
		return
	}
	u, err := url.Parse(o.Webhook)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		in.Add("value_error", "Input should be an http or https URL without a password",
			route.Quoted(in.Raw("webhook")), in.Loc("webhook")...)
	}
}

// takeConfig reads config and context. Of them is kept what [sanitized] leaves.
func (o *order) takeConfig(in *route.Input, now time.Time) {
	config, context := in.Object("config"), in.Object("context")
	within := config.Object("context")
	if context.Members == nil {
		context = within
	}
	conf := config.Object("configurable")
	o.MaxSteps = config.Integer("recursion_limit", 0, 1, maxSteps)
	if o.ThreadID == "" {
		o.ThreadID = conf.ThreadID("thread_id")
	}
	if o.ThreadID == "" {
		o.ThreadID = id.New(now)
	}
	named := context
	if o.choice = context.Members != nil; !o.choice {
		named = conf
	}
	o.Model = named.Text("model_name", maxModelName)
	// its faults are known
	if metadata := (&route.Input{Members: in.Members}).Object("metadata"); metadata.Has("auth_token") {
		in.Add("value_error", "Value error, auth_token must not stand in metadata", nil, in.Loc("metadata")...)
	}
	o.takeSecrets(context)
	if o.Secrets == nil && context != within {
		o.takeSecrets(within)
	}
	for _, sub := range []*route.Input{config, context, within, conf} {
		in.Take(sub)
	}
	o.Config, o.Context = sanitized(in.Raw("config")), sanitized(in.Raw("context"))
}

// takeSecrets reads what the run may use and nobody may keep. No fault shows a value.
func (o *order) takeSecrets(context *route.Input) {
	raw := context.Raw("secrets")
	if raw == nil {
		return
	}
	var values map[string]*string
	if err := json.Unmarshal(raw, &values); err != nil {
		context.Add("dict_type", "Input should be an object of strings by name", nil, context.Loc("secrets")...)
		return
	}
	given := secrets.Values{}
	for name, v := range values {
		if v != nil {
			given[name] = *v
		}
	}
	if err := given.Check(); err != nil {
		context.Add("value_error", "Value error, "+err.Error(), nil, context.Loc("secrets")...)
		return
	}
	o.Secrets = given
}

// takeAssistant resolves the assistant and gives the run what that sets and the request leaves open.
func (g *Group) takeAssistant(ctx context.Context, o *order, name string) error {
	name = cmp.Or(name, shape.GraphID)
	a, err := g.Assistant(ctx, name)
	if err != nil {
		return err
	}
	o.AssistantID = a.ID
	if name == shape.GraphID {
		o.AssistantID = shape.GraphID
	}
	o.Metadata = under(a.Metadata, o.Metadata)
	o.standOn(a)
	return nil
}

// under lays members over others; both are JSON objects, or nil.
func under(low, high json.RawMessage) json.RawMessage {
	members := shape.Members(low)
	delete(members, "created_by")
	maps.Copy(members, shape.Members(high))
	return route.Object(members)
}

// submit makes the run that is asked for.
func (g *Group) submit(ctx context.Context, in *createIn) (store.Run, error) {
	o, err := g.order(ctx, in.asked, in.ThreadID, in.Key)
	if err != nil {
		return store.Run{}, err
	}
	return g.admit(ctx, o)
}

func (g *Group) admit(ctx context.Context, o order) (store.Run, error) {
	if o.Checkpoint != "" {
		if err := g.checkCheckpoint(ctx, o); err != nil {
			return store.Run{}, err
		}
	}
	entries, began := g.entries(ctx, o), g.Now()
	run, err := g.runs(ctx).Submit(ctx, o.Request)
	switch {
	case err == nil && !run.CreatedAt.Before(began.Truncate(time.Microsecond)): // else its key has made the run earlier
		g.Audit.Record(ctx, entries...)
	case errors.Is(err, store.ErrNotFound):
		return run, route.NotFound("Thread", o.ThreadID)
	case errors.Is(err, runs.ErrNoSteer):
		return run, route.Failf(http.StatusUnprocessableEntity,
			"With multitask_strategy steer the input is messages of a human, and "+
				"there is neither a command nor after_seconds")
	case errors.Is(err, store.ErrSteers):
		return run, &route.Error{Status: http.StatusTooManyRequests, RetryAfter: 5,
			Detail: fmt.Sprintf("Thread %s has %d messages "+
				"that its run has not read yet, the most there may be; wait until it has, or take one back", o.ThreadID,
				store.MaxSteers)}
	case errors.Is(err, store.ErrTooLarge) && o.Strategy == store.Steer:
		return run, route.Failf(http.StatusRequestEntityTooLarge,
			"What is said to a run at work may have %d bytes at once; say it in "+
				"parts, or upload it as a file", store.MaxSteer)
	case errors.Is(err, store.ErrTrashed):
		return run, route.InBin(o.ThreadID)
	case errors.Is(err, store.ErrConflict):
		return run, route.Failf(http.StatusConflict,
			"Thread %s has an active run; wait for it, cancel it, or choose another "+
				"multitask_strategy", o.ThreadID)
	}
	return run, err
}

// entries are what the audit log is to say when the run is there: which calls its request approves or rejects, and
// which runs it rolls back. What cannot be read now, the admission tells of.
func (g *Group) entries(ctx context.Context, o order) []audit.Entry {
	said, _ := g.runs(ctx).Decisions(ctx, o.Request)
	entries := audit.Answers(route.Caller(ctx), o.ThreadID, said)
	if o.Strategy == store.Rollback {
		active := []string{event.StatusPending, event.StatusRunning}
		list, _ := g.Mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: o.ThreadID, Statuses: active, Limit: maxBatch})
		for _, run := range list {
			entries = append(entries, audit.Of(route.Caller(ctx), audit.Delete, "run", run.ThreadID+"/"+run.ID))
		}
	}
	return entries
}

// checkCheckpoint refuses a checkpoint that the thread does not have, before there is a run.
func (g *Group) checkCheckpoint(ctx context.Context, o order) error {
	if !shape.IsCheckpoint(o.Checkpoint) {
		return shape.NoCheckpoint(o.Checkpoint)
	}
	_, err := g.Mine(ctx).Checkpoint(ctx, g.Manager.Schema(), o.ThreadID, o.Checkpoint)
	if errors.Is(err, store.ErrNotFound) {
		return shape.NoCheckpoint(o.Checkpoint)
	}
	return err
}

// runPath is a run's path below the mount point.
func runPath(run store.Run) string { return "/threads/" + run.ThreadID + "/runs/" + run.ID }

// location tells an SDK where to go on when the connection breaks. It is relative to the SDK's base URL.
func location(w http.ResponseWriter, run store.Run, action string) {
	w.Header().Set("Location", runPath(run)+"/"+action)
}
