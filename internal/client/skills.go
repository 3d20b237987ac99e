package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/skills"
)

// Skills are those that the user has at a server.
type Skills struct{ *Client }

// skillJSON is a skill as the server sends it.
type skillJSON struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	License     string `json:"license"`
	Category    string `json:"category"`
	Enabled     bool   `json:"enabled"`
	Uses        int    `json:"uses"`
}

func (s skillJSON) skill() skills.Skill {
	return skills.Skill{
		Head:     skills.Head{Name: s.Name, Description: s.Description, License: s.License},
		Category: s.Category, Enabled: s.Enabled, Uses: s.Uses,
	}
}

// List lists the skills by name.
func (c Skills) List(ctx context.Context) (out []skills.Skill, err error) {
	var list struct {
		Skills []skillJSON `json:"skills"`
	}
	err = c.get(ctx, "/skills", &list)
	for _, s := range list.Skills {
		out = append(out, s.skill())
	}
	return out, err
}

func (c Skills) one(name string) string { return "/skills/" + url.PathEscape(name) }

// Install installs a skill.
func (c Skills) Install(ctx context.Context, r io.ReaderAt, size int64, source string) (skills.Skill, error) {
	var done struct {
		Name string `json:"skill_name"`
	}
	err := c.sendForm(ctx, "/skills/upload", source, io.NewSectionReader(r, 0, size), size, &done)
	return skills.Skill{Head: skills.Head{Name: done.Name}}, err
}

// Enable switches a skill on or off.
func (c Skills) Enable(ctx context.Context, name string, on bool) (skills.Skill, error) {
	var s skillJSON
	err := c.call(ctx, http.MethodPut, c.one(name), nil, map[string]bool{"enabled": on}, &s)
	return s.skill(), err
}

func (c Skills) own(name string) string { return "/skills/custom/" + url.PathEscape(name) }

// Remove removes a skill; [skills.ErrBuiltIn] if it is one that everybody has.
func (c Skills) Remove(ctx context.Context, name string) error {
	err := c.call(ctx, http.MethodDelete, c.own(name), nil, nil, nil)
	if no, ok := errors.AsType[*StatusError](err); ok && no.Status == http.StatusBadRequest &&
		strings.Contains(no.detail, "is a built-in skill") {
		err = fmt.Errorf("skill %s: %w", name, skills.ErrBuiltIn)
	}
	return err
}

// Export writes a skill as an archive.
func (c Skills) Export(ctx context.Context, name string, to io.Writer) error {
	return c.download(ctx, c.own(name)+"/archive", to)
}

// Refused lists the archives that were not installed, the newest first.
func (c Skills) Refused(ctx context.Context) (out []skills.Refused, err error) {
	var list struct {
		Refused []struct {
			At time.Time `json:"ts"`
			skills.Refused
		} `json:"refused"`
	}
	err = c.get(ctx, "/skills/refused", &list)
	for _, r := range list.Refused {
		r.Refused.At = r.At
		out = append(out, r.Refused)
	}
	return out, err
}
