package lead

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
)

// nowhere is the place of a run that is never made.
type nowhere struct{ sandbox.Space }

func (nowhere) Files() *sandbox.Files { return nil }

// Check tells before there is any run whether what a program brings along fits to the agent's own: no two of one name,
// a hook in every middleware, no channel that clashes; and that there is what it leaves out.
func Check(settings *config.Config, own Program) error {
	if err := checkWithout(own.Without); err != nil {
		return err
	}
	c := Full(settings)
	c.Program, c.Thread.Space, c.Agents = own, nowhere{}, &agents.Folder{}
	builtIn, err := tools(c)
	if err != nil {
		return err
	}
	chain := Chain(c)
	for _, m := range chain {
		if p, ok := m.(agent.ToolProvider); ok {
			builtIn = append(builtIn, p.Tools()...)
		}
	}
	taken := make(map[string]bool, len(builtIn))
	for _, t := range builtIn {
		taken[t.Spec().Name] = true
	}
	for _, t := range own.Tools {
		name := t.Spec().Name
		if taken[name] {
			return fmt.Errorf("tool %q: the name is taken; give it another one", name)
		}
		taken[name] = true
	}
	_, err = agent.New(agent.Config{Model: struct{ model.ChatModel }{}, Tools: own.Tools,
		Channels: threadstate.Channels()}, chain...)
	if err != nil {
		return fmt.Errorf("own tools and middlewares: %w", err)
	}
	return nil
}

// checkWithout refuses to leave out what is not there.
func checkWithout(names []string) error {
	var known []string
	for _, p := range places {
		if p.make != nil {
			known = append(known, p.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("leave out middleware %q: there is none of this name; there are %s", name,
				strings.Join(known, ", "))
		}
	}
	return nil
}
