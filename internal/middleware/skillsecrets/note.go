package skillsecrets

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// noteName is the name of the notes, keyTold their member with what they have told of each skill, and keyGiven that
// with the secrets that there were.
const (
	noteName = "skill_secrets"
	keyTold  = "skill_secrets_told"
	keyGiven = "skill_secrets_given"
)

// BeforeModel implements [agent.BeforeModelHook]: the model is told how it stands with the secrets of a skill, once,
// and again when that is otherwise than it was told last. A run goes on without, if skills cannot be read.
func (m *Middleware) BeforeModel(ctx context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	list, err := m.active(ctx, s)
	if err != nil {
		if ctx.Err() == nil {
			m.cfg.Log.WarnContext(ctx, "a run goes on without the secrets of skills, which cannot be read", "run",
				rt.RunID, "error", err)
		}
		return agent.Command{}, ctx.Err()
	}
	told, _ := lastTold(s)
	var lines, given []string
	for _, k := range list {
		given = append(given, k.given...)
		line := k.line()
		if told[k.skill] == line {
			continue
		}
		told[k.skill] = line
		lines = append(lines, line)
		m.emit(rt, k)
	}
	if len(lines) == 0 {
		return agent.Command{}, nil
	}
	note := conversation.Note(rt.NewID(), noteName, "<skill_secrets>\n"+strings.Join(lines, "\n")+"\n</skill_secrets>")
	raw, err := json.Marshal(told)
	note.Kwargs[keyTold] = raw
	note.Kwargs[keyGiven], _ = json.Marshal(given) // texts can be encoded
	return agent.Command{Update: agent.Messages.Append(note)}, err
}

// lastTold is what the last note in sight has told, and the secrets that there were.
func lastTold(s state.State) (told map[string]string, given []string) {
	told = map[string]string{}
	isNote := func(msg message.Message) bool { return conversation.IsNote(msg, noteName) }
	seen := compaction.InSight(s, agent.Messages.Get(s))
	for _, msg := range slices.Backward(seen) {
		if isNote(msg) && json.Unmarshal(msg.Kwargs[keyTold], &told) == nil {
			_ = json.Unmarshal(msg.Kwargs[keyGiven], &given) // a note of a version before has none
			break
		}
	}
	return told, given
}

// lost are the skills that need what was there when the model made its calls, and is not there any more: the run goes
// on behind a question, with a request that has not brought it again.
func (m *Middleware) lost(ctx context.Context, s state.State) (list []standing, err error) {
	_, given := lastTold(s)
	given = slices.DeleteFunc(given, func(name string) bool { _, there := m.cfg.Values[name]; return there })
	if len(given) == 0 {
		return nil, nil
	}
	all, err := m.active(ctx, s)
	for _, k := range all {
		k.missing = slices.DeleteFunc(k.missing, func(name string) bool { return !slices.Contains(given, name) })
		if len(k.missing) > 0 {
			list = append(list, k)
		}
	}
	return list, err
}

// notRun answers a command that would run without what it was meant to have.
func notRun(lost []standing) *tool.Result {
	text := "This command was not run."
	for _, k := range lost {
		text += fmt.Sprintf(" Skill %s needs %s: it was there when you made the call, and the request that the run "+
			"goes on with did not bring it "+
			"again. Tell the user that it is needed again, and how to give it: %s.", k.skill,
			strings.Join(k.missing, ", "), k.remedy())
	}
	return tool.Error(text)
}

// line is what the model is told of a skill.
func (s standing) line() string {
	text := "Skill " + s.skill + ":"
	if s.unnamed {
		return text +
			fmt.Sprintf(" it gets its secrets (%s) only when the user names it, with a message that begins with /%s. "+
				"Do what works "+
				"without, and tell the user so.", strings.Join(append(slices.Clone(s.missing), s.optional...), ", "),
				s.skill)
	}
	if len(s.given) > 0 {
		text += fmt.Sprintf(" %s %s set in the environment of bash commands, each of which has a sandbox for itself: "+
			"its /tmp and its "+
			"background processes end with it. Use the variables by their names; never print or store their values.",
			strings.Join(s.given, ", "), are(s.given))
	}
	if len(s.optional) > 0 {
		text += fmt.Sprintf(" %s %s optional, and not there.", strings.Join(s.optional, ", "), are(s.optional))
	}
	if len(s.missing) > 0 {
		text += fmt.Sprintf(" It needs %s, which this request did not bring. Do not look for a value, and do not ask "+
			"for it in the "+
			"conversation, where it would be kept. Do what works without, and tell the user what is missing and how "+
			"to give it: %s.",
			strings.Join(s.missing, ", "), s.remedy())
	}
	return text
}

func are(names []string) string {
	if len(names) == 1 {
		return "is"
	}
	return "are"
}

// remedy is what a person can do.
func (s standing) remedy() string {
	flags := ""
	for _, name := range s.missing {
		flags += " --secret " + name
	}
	return "pudu run" + flags +
		", context.secrets of the request, or the fields that the web UI shows for a message that begins with /" +
		s.skill
}

// journalEvent tells how it stands with the secrets of a skill: names alone.
type journalEvent struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Hook    string  `json:"hook"`
	Action  string  `json:"action"`
	Message string  `json:"message,omitempty"` // for people
	Changes changes `json:"changes"`
}

type changes struct {
	Skill   string   `json:"skill"`
	Given   []string `json:"given"`
	Missing []string `json:"missing"`
}

func (m *Middleware) emit(rt *agent.Runtime, s standing) {
	e := journalEvent{Type: "middleware:skill_secrets", Name: middlewareName, Hook: string(agent.HookBeforeModel),
		Action:  "bind",
		Changes: changes{s.skill, append([]string{}, s.given...), append([]string{}, s.missing...)}}
	if len(s.missing) > 0 {
		e.Action = "missing"
	}
	if s.unnamed {
		e.Message = fmt.Sprintf("skill %s gets %s only when you name it: /%[1]s", s.skill,
			strings.Join(s.missing, ", "))
	} else if len(s.missing) > 0 {
		e.Message = fmt.Sprintf("skill %s needs %s, which this request did not bring: %s", s.skill,
			strings.Join(s.missing, ", "), s.remedy())
	}
	if raw, err := json.Marshal(e); err == nil {
		rt.Emit(agent.NodeBeforeModel, event.Custom{Value: raw})
	}
}
