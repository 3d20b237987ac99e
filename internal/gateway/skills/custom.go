package skills

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
)

// textJSON is a skill with its text.
type textJSON struct {
	skillJSON

	Content string `json:"content"`
	// Scan is what was found when it was installed or changed.
	Scan skills.Verdict `json:"scanner"`
}

// shown is a skill as it is now, unless something went wrong before.
func (g *Group) shown(ctx context.Context, name string, err error) (textJSON, error) {
	if err != nil {
		return textJSON{}, err
	}
	s, text, err := g.mine(ctx).Text(ctx, name)
	if errors.Is(err, skills.ErrBuiltIn) {
		err = store.ErrNotFound
	}
	if err != nil {
		return textJSON{}, missing(err, "Custom skill '%s' not found", name)
	}
	return textJSON{skillOf(s), text, s.Scan}, nil
}

func (g *Group) text(ctx context.Context, in *oneIn) (textJSON, error) {
	return g.shown(ctx, in.Skill, nil)
}

type filesJSON struct {
	Files []skills.Looked `json:"files"`
}

// files are those of a skill, be it the caller's own or a public one.
func (g *Group) files(ctx context.Context, in *oneIn) (filesJSON, error) {
	_, list, err := g.mine(ctx).Look(ctx, in.Skill)
	return filesJSON{list}, missing(err, "Skill '%s' not found", in.Skill)
}

// named refuses what is no skill's name.
func named(name string) error {
	if skills.CheckName(name) != nil {
		return route.Failf(http.StatusBadRequest,
			"Skill name must be hyphen-case using lowercase letters, digits, and hyphens only.")
	}
	return nil
}

// changed is what a client hears of a change that was not made.
func changed(err error, name string) error {
	switch {
	case errors.Is(err, skills.ErrBuiltIn):
		return route.Failf(http.StatusBadRequest,
			"'%s' is a built-in skill. Use the skill_manage tool to create your own version — it will shadow the "+
				"built-in one.", route.Clip(name))
	case errors.Is(err, skills.ErrNoHistory):
		return route.Failf(http.StatusBadRequest, "Custom skill '%s' has no history", route.Clip(name))
	}
	return missing(err, "Custom skill '%s' not found.", name)
}

type editIn struct {
	oneIn

	Content string `body:"content" max:"1048576" required:""`
}

func (g *Group) edit(ctx context.Context, in *editIn) (textJSON, error) {
	err := named(in.Skill)
	if err == nil {
		_, err = g.mine(ctx).Edit(ctx, in.Skill, in.Content, skills.Human(skills.HumanEdit))
		g.tell(ctx, err)
	}
	return g.shown(ctx, in.Skill, changed(err, in.Skill))
}

type doneJSON struct {
	Success bool `json:"success"`
}

func (g *Group) remove(ctx context.Context, in *oneIn) (doneJSON, error) {
	err := named(in.Skill)
	if err == nil {
		err = g.mine(ctx).Remove(ctx, in.Skill, skills.Human(skills.HumanDelete))
		g.tell(ctx, err)
	}
	return doneJSON{err == nil}, changed(err, in.Skill)
}

type historyJSON struct {
	History []skills.Entry `json:"history"`
}

// history is that of a skill. One that never was there is not found.
func (g *Group) history(ctx context.Context, in *oneIn) (historyJSON, error) {
	list, err := g.mine(ctx).History(ctx, in.Skill)
	if err == nil && len(list) == 0 {
		_, err = g.shown(ctx, in.Skill, nil)
	}
	return historyJSON{list}, err
}

type rollbackIn struct {
	oneIn

	Index int `body:"history_index" default:"-1" min:"-1000000" max:"1000000"`
}

func (g *Group) rollback(ctx context.Context, in *rollbackIn) (textJSON, error) {
	err := named(in.Skill)
	if err == nil {
		_, err = g.mine(ctx).Rollback(ctx, in.Skill, in.Index)
		g.tell(ctx, err)
	}
	return g.shown(ctx, in.Skill, changed(err, in.Skill))
}

// archive gives a skill as a file that can be installed again.
func (g *Group) archive(w http.ResponseWriter, r *http.Request, in *oneIn) error {
	var b bytes.Buffer
	err := g.mine(r.Context()).Export(r.Context(), in.Skill, &b)
	if errors.Is(err, skills.ErrBuiltIn) {
		err = store.ErrNotFound
	}
	if err != nil {
		return missing(err, "Custom skill '%s' not found", in.Skill)
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", route.Attachment(in.Skill+extension))
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, err = g.SteadyWriter(w).Write(b.Bytes())
	if err != nil {
		return route.ErrGone
	}
	return nil
}
