// Package skills is the group of routes of what an agent can be taught. Paths, members and sentences of errors are
// DeerFlow's where it has them; the others take an archive as it is, give one back, and tell what was refused.
//
//	gateway -> skills -> the caller's skills.Mine -> the list, or what became of an archive
package skills

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	// Skills are everybody's.
	Skills *skills.Skills
	// Files opens the files of a user's thread.
	Files func(ctx context.Context, user access.User, id string) (*sandbox.Files, error)
	// News tell the user's pages of what changes.
	News *news.Hub
}

const (
	read  = "skills:read"
	write = "skills:write"
)

// Routes are those of skills. What changes them, or shows the text of the caller's own ones, is for admins, as in
// DeerFlow.
func (g *Group) Routes() []route.Route {
	const one, own = "/skills/{skill}", "/skills/custom/{skill}"
	look := func(role access.Role, r route.NeedsAccess) route.Route {
		return r.Access(role, read).Of(route.User).Rate(route.Cheap).Body(route.None)
	}
	change := func(r route.NeedsAccess, b route.Bound) route.Route {
		return r.Access(access.Admin, write).Of(route.User).Rate(route.Work).Body(b)
	}
	return route.Under("skills",
		look(access.Viewer, route.Get("/skills", "List the skills", g.list)),
		look(access.Viewer, route.Get("/skills/custom", "List the skills that the caller has installed", g.custom)),
		look(access.Viewer, route.Get("/skills/refused", "List the archives that were not installed, and why",
			g.refused)),
		look(access.Viewer, route.Get(one, "Look at a skill", g.get)),
		look(access.Admin, route.Get("/skills/files/{skill}", "Look at the files of a skill, and at their texts",
			g.files)).Audits(audit.Look, "skill"),
		change(route.Raw(http.MethodPost, "/skills/scan",
			"Tell what an installation would find in an archive; installs nothing", g.scan), route.Form).
			Audits(audit.Look, "skill"),
		change(route.Put(one, "Switch a skill on or off: a public one for everybody", g.enable), route.JSON).
			Audits(audit.Change, "skill"),
		change(route.Post("/skills/install", "Install the skill that is in a file of a thread", g.install), route.JSON).
			Audits(audit.Change, "skill"),
		change(route.Raw(http.MethodPost, "/skills/upload", "Install the skill that is in an archive", g.upload),
			route.Form).
			Audits(audit.Change, "skill"),
		change(route.Post("/skills/reload", "Read the public skills anew", g.reload), route.None).
			Audits(audit.Change, "skills"),
		look(access.Admin, route.Get(own, "Look at a skill of the caller's own, and its text", g.text)).
			Audits(audit.Look, "skill"),
		change(route.Put(own, "Replace the text of a skill", g.edit), route.JSON).Audits(audit.Change, "skill"),
		change(route.Delete(own, "Remove a skill", g.remove), route.None).Audits(audit.Delete, "skill"),
		look(access.Admin, route.Get(own+"/history", "What became of a skill, be it there or not", g.history)).
			Audits(audit.Look, "skill"),
		change(route.Post(own+"/rollback", "Make a skill what it was before a change", g.rollback), route.JSON).
			Audits(audit.Change, "skill"),
		route.Raw(http.MethodGet, own+"/archive", "Download a skill", g.archive).
			Access(access.Admin, read).Of(route.User).Rate(route.Costly).Body(route.None).Audits(audit.Look, "skill"),
	)
}

// mine is what the caller has.
func (g *Group) mine(ctx context.Context) *skills.Mine { return g.Skills.For(route.Caller(ctx).User) }

// skillJSON is a skill as clients see it.
type skillJSON struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	License     *string `json:"license"`
	Category    string  `json:"category"`
	Enabled     bool    `json:"enabled"`
	Editable    bool    `json:"editable"`
	// Uses is how many runs of the caller have used it, LastUsed when.
	Uses     int    `json:"uses"`
	LastUsed string `json:"last_used,omitempty"`
	// Secrets are those that it declares, which a request brings; SecretsAsk says that a person must name the skill for
	// them.
	Secrets    []skills.Secret `json:"required_secrets,omitempty"`
	SecretsAsk bool            `json:"secrets_ask,omitempty"`
}

func skillOf(s skills.Skill) skillJSON {
	out := skillJSON{
		Name: s.Name, Description: s.Description, License: shape.OrNil(s.License), Category: s.Category,
		Enabled: s.Enabled, Editable: s.Editable(), Uses: s.Uses, Secrets: s.Secrets, SecretsAsk: s.Ask,
	}
	if !s.UsedAt.IsZero() {
		out.LastUsed = shape.Stamp(s.UsedAt)
	}
	return out
}

type listJSON struct {
	Skills []skillJSON `json:"skills"`
}

type nothing struct{}

func (g *Group) list(ctx context.Context, _ *nothing) (listJSON, error) {
	return g.those(ctx, func(*skills.Skill) bool { return true })
}

func (g *Group) custom(ctx context.Context, _ *nothing) (listJSON, error) {
	return g.those(ctx, (*skills.Skill).Editable)
}

func (g *Group) those(ctx context.Context, wanted func(*skills.Skill) bool) (listJSON, error) {
	out := listJSON{Skills: []skillJSON{}}
	list, err := g.mine(ctx).List(ctx)
	for i := range list {
		if wanted(&list[i]) {
			out.Skills = append(out.Skills, skillOf(list[i]))
		}
	}
	return out, err
}

type oneIn struct {
	Skill string `path:"skill"`
}

func (g *Group) get(ctx context.Context, in *oneIn) (skillJSON, error) {
	s, err := g.mine(ctx).Get(ctx, in.Skill)
	return skillOf(s), missing(err, "Skill '%s' not found", in.Skill)
}

type enableIn struct {
	oneIn

	Enabled bool `body:"enabled" required:""`
}

func (g *Group) enable(ctx context.Context, in *enableIn) (skillJSON, error) {
	s, err := g.mine(ctx).Enable(ctx, in.Skill, in.Enabled)
	g.tell(ctx, err)
	return skillOf(s), missing(err, "Skill '%s' not found", in.Skill)
}

type reloadJSON struct {
	Success bool   `json:"success"`
	Scope   string `json:"scope"`
	Message string `json:"message"`
}

func (g *Group) reload(context.Context, *nothing) (reloadJSON, error) {
	g.Skills.Reload()
	return reloadJSON{true, "process",
		"What was read of public skills is forgotten; the runs that begin read them anew."}, nil
}

// refusedJSON is an archive that was not installed.
type refusedJSON struct {
	At string `json:"ts"`
	skills.Refused
}

type refusalsJSON struct {
	Refused []refusedJSON `json:"refused"`
}

func (g *Group) refused(ctx context.Context, _ *nothing) (refusalsJSON, error) {
	out := refusalsJSON{Refused: []refusedJSON{}}
	list, err := g.mine(ctx).Refused(ctx)
	for _, r := range list {
		out.Refused = append(out.Refused, refusedJSON{r.At.UTC().Format(time.RFC3339), r})
	}
	return out, err
}

// tell says to the user's pages that the skills are others than before, unless something went wrong.
func (g *Group) tell(ctx context.Context, err error) {
	if err == nil {
		g.News.For(route.Caller(ctx).User).Notice("skills")
	}
}

// missing says that a skill is not there.
func missing(err error, sentence, name string) error {
	if errors.Is(err, store.ErrNotFound) {
		return route.Failf(http.StatusNotFound, sentence, route.Clip(name))
	}
	return refused(err)
}

// refused is what a client hears of a skill that was not taken.
func refused(err error) error {
	if scan, ok := errors.AsType[*skills.ScanError](err); ok {
		return &route.Error{Status: http.StatusBadRequest, Detail: scan}
	}
	for known, status := range map[error]int{
		skills.ErrExists: http.StatusConflict, skills.ErrChanged: http.StatusConflict,
		skills.ErrRange: http.StatusBadRequest, skills.ErrNothing: http.StatusBadRequest,
		skills.ErrNoArchive: http.StatusBadRequest, skills.ErrEmpty: http.StatusBadRequest,
		skills.ErrLarge: http.StatusRequestEntityTooLarge,
	} {
		if errors.Is(err, known) {
			return route.Failf(status, "%s", route.Clip(err.Error()))
		}
	}
	if skills.IsRefusal(err) {
		return route.Failf(http.StatusBadRequest, "%s", err)
	}
	return err
}
