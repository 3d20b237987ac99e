package app

import (
	"context"
	"os"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
)

// newSkills are those of a program that carries out runs. A model reviews what is installed.
func (e *engine) newSkills() *skills.Skills {
	return skills.New(skills.Config{
		Store: e.store, Settings: func() config.SkillSettings { return e.now().cfg.SkillSettings() },
		View: func(u access.User) (*os.Root, error) { return e.disk.User(u).Skills() },
		Ask: func(ctx context.Context, system, text string) (string, error) {
			if err := e.fresh(ctx); err != nil {
				return "", err
			}
			s := e.now()
			return s.models.review(ctx, s.cfg.SkillEvolution.Model, system, text)
		},
	})
}

// skillsMount shows a user's skills to a thread, as they are switched on now.
func (e *engine) skillsMount(ctx context.Context, u access.User) ([]sandbox.Mount, error) {
	if e.skills == nil { // the tests of parts have none
		return nil, nil
	}
	if err := e.skills.For(u).Project(ctx); err != nil {
		return nil, err
	}
	mount, err := e.disk.User(u).SkillsMount()
	return []sandbox.Mount{mount}, err
}

// review has a model answer a text: the one that is named, else the standard one. The demonstration reviews nothing.
func (s *modelSet) review(ctx context.Context, name, system, text string) (string, error) {
	g := s.std
	if m, known := s.cfg.Model(name); known {
		g = s.of(m)
	} else if name != "" {
		return "", skills.ErrNoModel
	}
	if g.model == nil || g.entry.IsDemo() {
		return "", skills.ErrNoModel
	}
	m := lead.Aside(s.cfg.LLMCall, g.asked(), s.fallbacks(g.entry))
	answer, err := model.Collect(m.Stream(ctx,
		&model.Request{System: system, Messages: []message.Message{message.New(message.Human, text)}}))
	return answer.Text(), err
}
