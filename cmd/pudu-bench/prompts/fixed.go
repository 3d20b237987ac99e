package prompts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// Fixed is the size of the first request of a conversation in which the user says "hi", in tokens.
type Fixed struct {
	// Name is the mode, Tools how many tools it has.
	Name  string
	Tools int
	// System is the system prompt, Schemas are the tools with their descriptions, Rest is the first message with what
	// the program puts before it. Total is their sum.
	System, Schemas, Rest, Total int
	// Goal is what Total should be at most; 0 if there is none.
	Goal int
}

// Met reports whether the goal is met; true if there is none.
func (f Fixed) Met() bool { return f.Goal == 0 || f.Total <= f.Goal }

// Goals of [Fixed.Total]. Each prompt tells of the skills that the program brings along.
const (
	plainGoal = 4500
	fullGoal  = 6500
)

// aboutUser are as many facts as somebody has of whom an agent has learned for some weeks.
var aboutUser = []string{
	"Works for the board of a harbour in Rotterdam", "Writes reports in English and letters in Dutch",
	"Likes short answers without headings", "Has a team of five analysts",
	"Prefers tables to charts where there are fewer than ten numbers", "Counts weeks as ISO 8601 does",
	"The harbour has seven quays, of which quay 4 is closed until spring", "Uses LibreOffice, not Microsoft Office",
	"Is colour-blind: red and green look alike", "Sends the monthly report on the first Monday",
	"The reports name delays in minutes", "Wants sources named for every figure",
	"Speaks some Mandarin, and writes to partners in Shanghai", "The fiscal year begins in April",
	"Wants file names in small letters with hyphens", "Plans a move to a new berth system called Anker",
	"Was once misled by a mean, and wants medians", "Keeps drafts in the folder drafts",
	"Has two children, and does not work on Wednesdays", "Likes sailing",
}

// packages are those of the toolbox, as a prompt names them.
var packages = []string{"pandas", "numpy", "matplotlib", "openpyxl", "python-docx", "python-pptx", "reportlab", "pypdf",
	"pillow", "lxml",
	"beautifulsoup4", "markdown", "jinja2", "scikit-learn", "scipy", "pdfplumber"}

func (r *Report) measureFixed(ctx context.Context, c Config) error {
	for _, mode := range []struct {
		name                              string
		plan, subagents, vision, all, own bool
		goal                              int
	}{
		{"plain", false, false, false, false, false, plainGoal},
		{"plain, model with vision", false, false, true, false, false, plainGoal},
		{"plan", true, false, false, false, false, 0},
		{"plan and sub-agents", true, true, false, false, false, fullGoal},
		{"with vision, facts and the toolbox", true, true, true, true, false, fullGoal},
		{"with tools for memory and skills too", true, true, true, true, true, fullGoal},
	} {
		s := settings{wire: wires.All()[0], cfg: config.Default(), vision: mode.vision}
		if mode.own {
			s.cfg.Memory.Mode, s.cfg.SkillEvolution.Enabled = "tool", true
		}
		t := turn{say: "hi", plan: mode.plan, subagents: mode.subagents, answers: []answer{says("Hello!")}}
		if mode.all {
			s.toolbox, t.learned = packages, aboutUser
		}
		err := within(ctx, c.Dir, s, func(k *setup) error {
			if err := k.play(ctx, 0, t); err != nil {
				return err
			}
			f, err := measure(k.sent.exchanges[0].body, c.Count)
			f.Name, f.Goal = mode.name, mode.goal
			r.Fixed = append(r.Fixed, f)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", mode.name, err)
		}
	}
	return nil
}

// measure counts the tokens of a request.
func measure(body []byte, count func(string) int) (Fixed, error) {
	var req struct {
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return Fixed{}, fmt.Errorf("read the request: %w", err)
	}
	if len(req.Messages) == 0 || req.Messages[0].Role != "system" {
		return Fixed{}, errors.New("the request does not begin with a system message")
	}
	f := Fixed{Tools: len(req.Tools)}
	var schemas, rest strings.Builder
	for _, t := range req.Tools {
		schemas.Write(t)
	}
	for i, m := range req.Messages {
		text, ok := rawjson.String(m.Content)
		if !ok {
			text = string(m.Content)
		}
		if i == 0 {
			f.System = count(text)
		} else {
			rest.WriteString(text + "\n")
		}
	}
	f.Schemas, f.Rest = count(schemas.String()), count(rest.String())
	f.Total = f.System + f.Schemas + f.Rest
	return f, nil
}
