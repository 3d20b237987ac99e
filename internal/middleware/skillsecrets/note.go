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
)

// noteName is the name of the notes, and keyTold their member with what they have told of each skill.
const (
	noteName = "skill_secrets"
	keyTold  = "skill_secrets_told"
)

// BeforeModel implements [agent.BeforeModelHook]: the model is told how it stands with the secrets of a skill, once, and again when that
// is otherwise than it was told last. A run goes on without, if skills cannot be read.
func (m *Middleware) BeforeModel(ctx context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	list, err := m.active(ctx, s)
	if err != nil {
		if ctx.Err() == nil {
			m.cfg.Log.WarnContext(ctx, "a run goes on without the secrets of skills, which cannot be read", "run", rt.RunID, "error", err)
		}
		return agent.Command{}, ctx.Err()
	}
	told := lastTold(s)
	var lines []string
	for _, k := range list {
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
	return agent.Command{Update: agent.Messages.Append(note)}, err
}

// lastTold is what the notes in sight have told.
func lastTold(s state.State) map[string]string {
	told := map[string]string{}
	isNote := func(msg message.Message) bool { return conversation.IsNote(msg, noteName) }
	seen := compaction.InSight(s, agent.Messages.Get(s))
	for _, msg := range slices.Backward(seen) {
		if isNote(msg) && json.Unmarshal(msg.Kwargs[keyTold], &told) == nil {
			break
		}
	}
	return told
}

// line is what the model is told of a skill.
func (s standing) line() string {
	text := "Skill " + s.skill + ":"
	if s.unnamed {
		return text + fmt.Sprintf(" it gets its secrets (%s) only when the user names it, with a message that begins with /%s. Do what works "+
			"without, and tell the user so.", strings.Join(append(slices.Clone(s.missing), s.optional...), ", "), s.skill)
	}
	if len(s.given) > 0 {
		text += fmt.Sprintf(" %s %s set in the environment of bash commands, each of which has a sandbox for itself: its /tmp and its "+
			"background processes end with it. Use the variables by their names; never print or store their values.",
			strings.Join(s.given, ", "), are(s.given))
	}
	if len(s.optional) > 0 {
		text += fmt.Sprintf(" %s %s optional, and not there.", strings.Join(s.optional, ", "), are(s.optional))
	}
	if len(s.missing) > 0 {
		text += fmt.Sprintf(" It needs %s, which this request did not bring. Do not look for a value, and do not ask for it in the "+
			"conversation, where it would be kept. Do what works without, and tell the user what is missing and how to give it: %s.",
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
	return "pudu run" + flags + ", or context.secrets of the request"
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
	e := journalEvent{Type: "middleware:skill_secrets", Name: middlewareName, Hook: string(agent.HookBeforeModel), Action: "bind",
		Changes: changes{s.skill, append([]string{}, s.given...), append([]string{}, s.missing...)}}
	if len(s.missing) > 0 {
		e.Action = "missing"
	}
	if s.unnamed {
		e.Message = fmt.Sprintf("skill %s gets %s only when you name it: /%[1]s", s.skill, strings.Join(s.missing, ", "))
	} else if len(s.missing) > 0 {
		e.Message = fmt.Sprintf("skill %s needs %s, which this request did not bring: %s", s.skill, strings.Join(s.missing, ", "), s.remedy())
	}
	if raw, err := json.Marshal(e); err == nil {
		rt.Emit(agent.NodeBeforeModel, event.Custom{Value: raw})
	}
}
