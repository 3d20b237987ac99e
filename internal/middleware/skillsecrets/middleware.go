// Package skillsecrets gives the commands of a run the secrets that its active skills declare and its request has
// brought, tells the model which there are and which are missing, and takes their values out of the results of tools.
//
//	before a call of the model -> what active skills declare -> a note, and an event: names alone
//	bash                       -> Environment -> the variables, in a sandbox that the command has for itself
//	the result of any tool     -> without the values
//	a question to a person     -> the names of those that the answer is to bring again
//
// A skill is active once a person has named it in this turn, or once its SKILL.md was read, unless it says that it
// wants to be named.
package skillsecrets

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/redact"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Config is what a run has.
type Config struct {
	// Skills are those that the run may use.
	Skills *skills.Run
	// Values are the secrets that the request has brought.
	Values secrets.Values
	// Below says that the run is below another one: no person speaks in it. Named are the skills that one has named
	// above.
	Below bool
	Named []string
	// Log is told that skills cannot be read; nil means slog.Default().
	Log *slog.Logger
}

// Middleware has the secrets of a run.
type Middleware struct {
	cfg    Config
	redact redact.Redactor
}

var (
	_ agent.BeforeModelHook = (*Middleware)(nil)
	_ agent.ToolCallWrapper = (*Middleware)(nil)
)

// New makes the middleware of a run.
func New(c Config) *Middleware {
	c.Log = cmp.Or(c.Log, slog.Default())
	var values []string
	for _, name := range c.Values.Names() {
		values = append(values, c.Values[name])
	}
	return &Middleware{c, redact.New(values)}
}

const middlewareName = "SkillSecretsMiddleware"

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return middlewareName }

// Redactor takes the run's secrets out of texts.
func (m *Middleware) Redactor() redact.Redactor { return m.redact }

// Environment are the variables that a command gets: those which the active skills declare, of those that the request
// has brought.
func (m *Middleware) Environment(ctx context.Context, call *tool.Call) ([]string, error) {
	if len(m.cfg.Values) == 0 {
		return nil, nil
	}
	list, err := m.active(ctx, call.State)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range list {
		names = append(names, s.given...)
	}
	slices.Sort(names)
	return m.cfg.Values.Environment(slices.Compact(names)), nil
}

// Wanted are the secrets that the active skills declare and get if a request brings them: who answers a question of the
// run brings them again, as the run ends with it. Skills that cannot be read want none.
func (m *Middleware) Wanted(ctx context.Context, call *tool.Call) (list []approval.Secret) {
	active, err := m.active(ctx, call.State)
	if err != nil && ctx.Err() == nil {
		m.cfg.Log.WarnContext(ctx, "a question does not name the secrets of skills, which cannot be read", "error", err)
	}
	for _, s := range active {
		for _, want := range s.declared {
			if !s.unnamed {
				list = append(list, approval.Secret{Name: want.Name, Optional: want.Optional})
			}
		}
	}
	return list
}

// shellTool is the tool whose commands have the secrets.
const shellTool = "bash"

// WrapToolCall implements [agent.ToolCallWrapper]: whatever a tool brings, it brings it without the values. A command
// does not run without those that it was meant to have, as after a wait for approval if the answer has not brought them
// again.
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	if req.Call.Name == shellTool {
		if lost, err := m.lost(ctx, req.Call.State); err != nil || len(lost) > 0 {
			return notRun(lost), err
		}
	}
	res, err := next(ctx, req)
	// of a sub-agent, which does not know what is needed above it
	if ask := (*tool.InterruptError)(nil); errors.As(err, &ask) {
		err = approval.Bring(ask, m.Wanted(ctx, &req.Call))
	}
	if m.redact.Empty() {
		return res, err
	}
	if res != nil {
		res = m.clean(res)
	}
	return res, m.redact.Error(err)
}

func (m *Middleware) clean(res *tool.Result) *tool.Result {
	out := *res
	out.Content = slices.Clone(res.Content)
	for i := range out.Content {
		out.Content[i].Text = m.redact.Text(out.Content[i].Text)
	}
	out.Summary, out.Artifact = m.redact.Text(res.Summary), m.redact.JSON(res.Artifact)
	out.Kwargs = make(message.Fields, len(res.Kwargs))
	for name, v := range res.Kwargs {
		out.Kwargs[name] = m.redact.JSON(v)
	}
	return &out
}

// Named are the skills that a person has named in this turn, here or above.
func (m *Middleware) Named(s state.State) []string {
	if m.cfg.Below {
		return m.cfg.Named
	}
	msgs := agent.Messages.Get(s)
	return activated(msgs[max(0, conversation.Turn(msgs)):])
}

// activated are the skills whose text the messages give the model because a message began with the name.
func activated(msgs []message.Message) (names []string) {
	for _, msg := range msgs {
		if a, ok := skills.ActiveIn(msg); ok && !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// standing is an active skill that declares secrets, and how it stands with them.
type standing struct {
	skill                    string
	declared                 []skills.Secret
	given, missing, optional []string // optional ones are missing, and need not be there
	unnamed                  bool     // it gets none before a person names it
}

// active are the active skills that declare secrets.
func (m *Middleware) active(ctx context.Context, s state.State) (list []standing, err error) {
	msgs, read := agent.Messages.Get(s), threadstate.SkillContext.Get(s)
	used := append(activated(compaction.InSight(s, msgs)), activated(msgs[max(0, conversation.Turn(msgs)):])...)
	if len(used)+len(read) == 0 {
		return nil, nil
	}
	named := m.Named(s)
	all, err := m.cfg.Skills.Available(ctx)
	for i := range all {
		k := &all[i]
		file := k.Path() + "/" + skills.FileName
		inUse := slices.Contains(used, k.Name) ||
			slices.ContainsFunc(read, func(e threadstate.SkillEntry) bool { return e.Path == file })
		if len(k.Secrets) > 0 && inUse {
			list = append(list, m.standing(k, k.Ask && !slices.Contains(named, k.Name)))
		}
	}
	return list, err
}

func (m *Middleware) standing(k *skills.Skill, unnamed bool) standing {
	s := standing{skill: k.Name, declared: k.Secrets, unnamed: unnamed}
	for _, want := range k.Secrets {
		_, given := m.cfg.Values[want.Name]
		switch {
		case given && !unnamed:
			s.given = append(s.given, want.Name)
		case want.Optional:
			s.optional = append(s.optional, want.Name)
		default:
			s.missing = append(s.missing, want.Name)
		}
	}
	return s
}
