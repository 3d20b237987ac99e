// Package skills holds the tools with which a model looks up skills and writes them: describe_skill, where the prompt
// tells names alone (skills.deferred_discovery), and skill_manage (skill_evolution.enabled).
package skills

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/tool"
)

var (
	//go:embed manage.md
	manageText string
	//go:embed describe.md
	describeText string
)

type manageArgs struct {
	Action   string `json:"action" doc:"create, edit (content is the whole SKILL.md), patch (find, replace), delete, write_file, remove_file."`
	Name     string `json:"name" doc:"Small letters, digits, hyphens."`
	Content  string `json:"content,omitempty"`
	Path     string `json:"path,omitempty" doc:"A file below references, templates, scripts or assets; patch without one means SKILL.md."`
	Find     string `json:"find,omitempty"`
	Replace  string `json:"replace,omitempty"`
	Expected int    `json:"expected_count,omitempty" doc:"How often find must stand there."`
}

// Manage returns the skill_manage tool.
func Manage(run *skills.Run) tool.Tool {
	spec := tool.Spec{Name: "skill_manage", Description: strings.TrimSpace(manageText)}
	return tool.MustNew(spec, func(ctx context.Context, c *tool.Call, in manageArgs) (*tool.Result, error) {
		done, err := run.Manage(ctx, skills.Order{
			Action: in.Action, Name: in.Name, File: in.Path, Content: in.Content, Find: in.Find, Replace: in.Replace,
			Count: in.Expected, Thread: c.Env.Ref.Thread,
		})
		_, wrong := errors.AsType[*skills.OrderError](err)
		switch {
		case wrong, skills.IsRefusal(err), errors.Is(err, skills.ErrChanged):
			return tool.Error("Error: " + untrusted.Line(err.Error())), nil
		case err != nil:
			return nil, err
		}
		return tool.Text(done), nil
	})
}

type describeArgs struct {
	Name string `json:"name" doc:"csv-tidy,report or words such as: spreadsheet totals"`
}

// most bounds how many skills one call describes.
const most = 10

// Describe returns the describe_skill tool.
func Describe(run *skills.Run) tool.Tool {
	spec := tool.Spec{Name: "describe_skill", Description: strings.TrimSpace(describeText), Effect: tool.ReadOnly}
	return tool.MustNew(spec, func(ctx context.Context, _ *tool.Call, in describeArgs) (*tool.Result, error) {
		list, err := run.Available(ctx)
		if err != nil {
			return nil, err
		}
		found := find(list, in.Name)
		if len(found) == 0 {
			return tool.Text(fmt.Sprintf("No skills matched: %.200s", untrusted.Line(in.Name))), nil
		}
		var b strings.Builder
		for i, s := range found[:min(len(found), most)] {
			if i > 0 {
				b.WriteString("\n\n")
			}
			fmt.Fprintf(&b, "## %s\n%s\nRead %s/%s before you use it.", s.Name, untrusted.Line(s.Description), s.Path(),
				skills.FileName)
			if s.Tools != nil {
				fmt.Fprintf(&b, " It allows: %s.", untrusted.Line(strings.Join(s.Tools, ", ")))
			}
		}
		if n := len(found) - most; n > 0 {
			fmt.Fprintf(&b, "\n\n%d further ones match; say more words.", n)
		}
		return tool.Text(b.String()), nil
	})
}

// find are the skills that are named, else those that have all the words, the ones with a word in the name first.
func find(list []skills.Skill, query string) (found []skills.Skill) {
	query = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(query), "select:"))
	split := func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '，' || r == '、' }
	words := strings.FieldsFunc(query, split)
	for _, s := range list {
		if slices.Contains(words, s.Name) {
			found = append(found, s)
		}
	}
	if len(found) > 0 || len(words) == 0 {
		return found
	}
	var rest []skills.Skill
	for _, s := range list {
		text := strings.ToLower(s.Name + " " + s.Description)
		missing := slices.ContainsFunc(words,
			func(w string) bool { return !strings.Contains(text, strings.TrimPrefix(w, "+")) })
		switch named := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s.Name, w) }); {
		case missing:
		case named:
			found = append(found, s)
		default:
			rest = append(rest, s)
		}
	}
	return append(found, rest...)
}
