// Package agents reads and writes the agents that a user has made beside the standard one. An agent is a folder with a
// config.yaml, which says what it works with, and a SOUL.md, which says who it is; both may be written by hand. They
// are read anew for each run, so that a change needs no restart. [Resolve] brings together what a run asks for, what
// its agent says and what the models can do.
package agents

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

const (
	// MaxSoul bounds a SOUL.md, in bytes: it is part of every request.
	MaxSoul = 64 << 10
	// maxConfig bounds a config.yaml, in bytes.
	maxConfig = 256 << 10
	// maxName bounds a name; a folder is called so.
	maxName = 128
	// maxItems bounds a list of skills or tool groups.
	maxItems = 500
	// maxTokens bounds model_settings.max_tokens.
	maxTokens = 200_000
)

// Errors of a [Folder].
var (
	// ErrNotFound: there is no agent of that name.
	ErrNotFound = errors.New("agent not found")
	// ErrShared: the agent stands in the old folder that all users share, and can only be read.
	ErrShared = errors.New("the agent is in the shared folder of an old version and can only be read")
	// ErrNoSoul: an agent has to be somebody.
	ErrNoSoul = errors.New("the soul is empty; say who the agent is and how it works")
)

// Agent is a custom agent. The zero value stands for the standard agent.
type Agent struct {
	// Name is in lower case.
	Name, Description string
	// Soul is who it is, the text of SOUL.md without blanks around it. It may be empty.
	Soul string
	// Model is the name of a configured model; empty means that it has none of its own.
	Model string
	// EmptyModel says that it names the standard model by an empty name.
	EmptyModel bool
	// ToolGroups are the groups of tools that it has; nil means all.
	ToolGroups []string
	// Skills are the skills that it may use; nil means all that are enabled, an empty list none.
	Skills []string
	// Settings tune its model.
	Settings Settings
	// Thinking turns thinking on or off; nil leaves it to others.
	Thinking *bool
	// Effort is the reasoning effort: low, medium or high; empty leaves it to others.
	Effort string
	// Memory says whether it is told what is remembered, and whether its threads are read for that; nil means that it
	// is.
	Memory *bool
	// Shared says that it comes from the folder that all users share; see [ErrShared].
	Shared bool
}

// Remembers reports whether the agent has a memory.
func (a Agent) Remembers() bool { return a.Memory == nil || *a.Memory }

// Settings tune a model.
type Settings struct {
	// Temperature is between 0 and 2; nil leaves it to the model.
	Temperature *float64
	// MaxTokens bounds an answer, at most 200000; 0 leaves it to the model.
	MaxTokens int
}

var name = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// CheckName returns the name as it is stored, or what is wrong with it.
func CheckName(s string) (string, error) {
	if !name.MatchString(s) {
		return "", fmt.Errorf("invalid agent name %.80q: use letters, digits and hyphens", s)
	}
	if len(s) > maxName {
		return "", fmt.Errorf("invalid agent name %.40q...: it has %d characters, more than %d", s, len(s), maxName)
	}
	return strings.ToLower(s), nil
}

func checkSoul(soul string) error {
	if strings.TrimSpace(soul) == "" {
		return ErrNoSoul
	}
	if len(soul) > MaxSoul {
		return fmt.Errorf("the soul has %d bytes, more than %d: it is part of every request; shorten it", len(soul),
			MaxSoul)
	}
	return nil
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// SoulSection is the part of a system prompt that says who the agent is; empty without a soul. The soul was written by
// a user or a model, and no tag of it survives.
func SoulSection(soul string) string {
	soul = strings.TrimSpace(soul)
	if soul == "" {
		return ""
	}
	return "<soul>\n" + escape.Replace(soul) + "\n</soul>"
}
