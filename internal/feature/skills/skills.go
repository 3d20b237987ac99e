// Package skills keeps what an agent can be taught: a skill is a folder with a SKILL.md, which says what the skill is
// for and how it is done, and with the scripts and texts that this needs. [Skills] are everybody's, [Mine] what one
// user has: the public ones, and those that he has installed.
//
//	archive -> checks of its names and sizes -> SKILL.md -> static scan -> review by a model -> rows: skill, archive in parts
//	people -> List, Enable, Edit, Remove, Rollback, Export
//
// A package is kept in the database, on SQLite as on PostgreSQL, so that every node has it, and a backup too.
package skills

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// The categories: where a skill comes from.
const (
	Public = "public" // the installation's
	Legacy = "legacy" // of an older installation's folder, for users without a skill of their own
	Custom = "custom" // the user's own
)

// Root is where the agent sees the skills.
const Root = "/mnt/skills"

// Config is what skills work with.
type Config struct {
	Store database.Store
	// Settings are those of the configuration as it is now; nil means its defaults.
	Settings func() config.SkillSettings
	// Ask has a model answer a text, as a system prompt says; nil if there is none that can. [ErrNoModel] is that there
	// is none.
	Ask func(ctx context.Context, system, text string) (string, error)
	// View opens the folder for the copies of skills that a user's threads see; nil means that no thread is shown any.
	View func(u access.User) (*os.Root, error)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// ErrNoModel is that no model can review a skill.
var ErrNoModel = errors.New("no model can review it")

// Skills are everybody's.
type Skills struct {
	cfg    Config
	db     database.DB
	public publics
	views  views
}

// New makes the skills of a store.
func New(c Config) *Skills {
	if c.Settings == nil {
		c.Settings = func() config.SkillSettings { return config.Default().SkillSettings() }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Ask == nil {
		c.Ask = func(context.Context, string, string) (string, error) { return "", ErrNoModel }
	}
	return &Skills{cfg: c, db: c.Store.Feature(feature)}
}

// For is what a user has.
func (s *Skills) For(u access.User) *Mine { return &Mine{s, u, s.db.For(u)} }

// Mine is what one user has.
type Mine struct {
	all  *Skills
	user access.User
	db   database.Bound
}

// Skill is a skill as a user has it.
type Skill struct {
	Head

	Category string
	// Dir is where a public one lies below the folder that it comes from.
	Dir     string
	Enabled bool
	// Digest tells its content from any other. A public one has none.
	Digest string
	// Scan says what the scan and the review have found. A public one was not looked at.
	Scan Verdict
	// Source is the file that it came from; empty if it was written here.
	Source               string
	CreatedAt, UpdatedAt time.Time // zero for a public one
	// Uses is how many runs have used it, and UsedAt when the last one did.
	Uses   int
	UsedAt time.Time

	from fs.FS // of a public one
}

// Editable reports whether the user may change it.
func (s *Skill) Editable() bool { return s.Category == Custom }

// Path is where the agent sees its folder.
func (s *Skill) Path() string { return Root + "/" + s.Category + "/" + s.Name }

// Verdict is what was found before a skill was installed or changed.
type Verdict struct {
	Decision string    `json:"decision"` // allow or warn
	Reason   string    `json:"reason"`
	Findings []Finding `json:"static_findings"`
}

// body is what a row has as JSON.
type body struct {
	Head

	Scan   Verdict `json:"scanner"`
	Source string  `json:"source,omitempty"`
}

// switched is what was decided about skills.
type switched struct {
	enabled bool
	uses    int
	usedAt  time.Time
}

// List lists what the user has, by name: a custom skill hides another one of its name.
func (m *Mine) List(ctx context.Context) ([]Skill, error) {
	custom, err := m.installed(ctx)
	if err != nil {
		return nil, fmt.Errorf("list skills: %w", err)
	}
	by := map[string]Skill{}
	for _, s := range m.all.publicSkills(len(custom) == 0) {
		by[s.Name] = s
	}
	for _, s := range custom {
		by[s.Name] = s
	}
	states, global, err := m.states(ctx)
	if err != nil {
		return nil, fmt.Errorf("list skills: %w", err)
	}
	list := slices.SortedFunc(maps.Values(by), func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	for i := range list {
		s := &list[i]
		on, decided := global[s.Name]
		s.Enabled = on || !decided
		if own, ok := states[s.Name]; ok {
			s.Enabled = s.Enabled && (own.enabled || s.Category == Public)
			s.Uses, s.UsedAt = own.uses, own.usedAt
		}
	}
	return list, nil
}

// installed are the user's own.
func (m *Mine) installed(ctx context.Context) (list []Skill, err error) {
	err = m.db.Read(ctx, "list", func(r database.Row) (bool, error) {
		s := Skill{Category: Custom}
		var name, raw string
		var created, updated int64
		if err := r.Scan(&name, &s.Digest, &created, &updated, &raw); err != nil {
			return false, err
		}
		var b body
		if err := json.Unmarshal([]byte(raw), &b); err != nil {
			return false, fmt.Errorf("read skill %s: %w", name, err)
		}
		s.Head, s.Scan, s.Source = b.Head, b.Scan, b.Source
		s.Name = name
		s.CreatedAt, s.UpdatedAt = database.TimeOf(created), database.TimeOf(updated)
		list = append(list, s)
		return true, nil
	})
	return list, err
}

// states are the user's own switches and counts, and the switches for everybody.
func (m *Mine) states(ctx context.Context) (own map[string]switched, global map[string]bool, err error) {
	own = map[string]switched{}
	err = m.db.Read(ctx, "states", func(r database.Row) (bool, error) {
		var name string
		var on, uses, used int64
		err := r.Scan(&name, &on, &uses, &used)
		s := switched{enabled: on != 0, uses: int(uses)}
		if used != 0 {
			s.usedAt = database.TimeOf(used)
		}
		own[name] = s
		return true, err
	})
	if err != nil {
		return nil, nil, err
	}
	global = maps.Clone(m.all.cfg.Settings().Switches)
	if global == nil {
		global = map[string]bool{}
	}
	err = m.all.db.System().Read(ctx, "switches", func(r database.Row) (bool, error) {
		var name string
		var on int64
		err := r.Scan(&name, &on)
		global[name] = on != 0
		return true, err
	})
	return own, global, err
}

// Get is the skill that the user has by a name; [store.ErrNotFound] if there is none.
func (m *Mine) Get(ctx context.Context, name string) (Skill, error) {
	list, err := m.List(ctx)
	if err != nil {
		return Skill{}, err
	}
	i, found := slices.BinarySearchFunc(list, name,
		func(s Skill, name string) int { return strings.Compare(s.Name, name) })
	if !found {
		return Skill{}, fmt.Errorf("read skill %.80q: %w", name, store.ErrNotFound)
	}
	return list[i], nil
}

// own is the user's own skill; [store.ErrNotFound] if there is none, [ErrBuiltIn] if there is another one of that name.
func (m *Mine) own(ctx context.Context, name string) (Skill, error) {
	s, err := m.Get(ctx, name)
	if err == nil && !s.Editable() {
		err = fmt.Errorf("skill %s: %w", s.Name, ErrBuiltIn)
	}
	return s, err
}

// ErrBuiltIn is that a skill is not the user's to change.
var ErrBuiltIn = errors.New("it is a built-in skill")

// Enable switches a skill on or off: a public one for everybody, another for the user.
func (m *Mine) Enable(ctx context.Context, name string, on bool) (Skill, error) {
	s, err := m.Get(ctx, name)
	if err != nil {
		return s, err
	}
	n := 0
	if on {
		n = 1
	}
	db, statement := m.db, "switch"
	if s.Category == Public {
		db = m.all.db.System()
	}
	err = db.Write(ctx, 0, func(tx database.Tx) error {
		_, err := tx.Exec(statement, name, n)
		return err
	})
	if err != nil {
		return s, fmt.Errorf("switch skill %s: %w", name, err)
	}
	if err := m.reproject(ctx, s.Category == Public); err != nil {
		return s, err
	}
	return m.Get(ctx, name)
}
