package skills

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/database"
)

// Run is what a run has of its user's skills: those that are switched on, and that its agent may use.
type Run struct {
	mine  *Mine
	allow []string
}

// Run makes it. A nil list allows all.
func (m *Mine) Run(allow []string) *Run { return &Run{m, allow} }

// Available lists the skills, by name.
func (r *Run) Available(ctx context.Context) ([]Skill, error) {
	list, err := r.mine.shown(ctx)
	return slices.DeleteFunc(list, func(s Skill) bool { return r.allow != nil && !slices.Contains(r.allow, s.Name) }),
		err
}

// Named is the skill that a message asks for with a slash at its start; empty if it asks for none. Some names are those
// of commands.
func Named(text string) string {
	m := named.FindStringSubmatch(text)
	if m == nil || slices.Contains([]string{"bootstrap", "goal", "help", "memory", "models", "new", "status",
		"compact"}, m[1]) {
		return ""
	}
	return m[1]
}

var named = regexp.MustCompile(`^/([a-z0-9]+(?:-[a-z0-9]+)*)(?:\s|$)`)

// ErrUnavailable is that a run may not use a skill. What it is wrapped in says why.
var ErrUnavailable = errors.New("the skill cannot be used")

// Text is a skill that is available, and its SKILL.md, and counts the use. Another one is [ErrUnavailable], which says
// why.
func (r *Run) Text(ctx context.Context, name string) (Skill, string, error) {
	s, err := r.mine.Get(ctx, name)
	switch {
	case err != nil:
		return s, "", fmt.Errorf("%w: there is no skill %q", ErrUnavailable, name)
	case !s.Enabled:
		return s, "", fmt.Errorf("%w: skill %q is switched off", ErrUnavailable, name)
	case r.allow != nil && !slices.Contains(r.allow, name):
		return s, "", fmt.Errorf("%w: skill %q is not one of this agent's", ErrUnavailable, name)
	}
	files, err := r.mine.all.filesOf(ctx, r.mine, s)
	if err != nil {
		return s, "", err
	}
	return s, textOf(files), nil
}

// Used counts a use.
func (r *Run) Used(ctx context.Context, name string) error {
	now := database.Micros(r.mine.all.cfg.Now())
	err := r.mine.db.Write(ctx, 0, func(tx database.Tx) error {
		_, err := tx.Exec("use", name, now)
		return err
	})
	if err != nil {
		return fmt.Errorf("count the use of skill %s: %w", name, err)
	}
	return nil
}

// At is the name of the skill whose SKILL.md a path of the sandbox names; empty if it names none.
func At(file string) string {
	rest, ok := strings.CutPrefix(file, Root+"/")
	if !ok {
		return ""
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 3 || parts[2] != FileName {
		return ""
	}
	return parts[1]
}
