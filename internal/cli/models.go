package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
)

// ModelInfo is a model that runs can use, or could if its Problem were solved.
type ModelInfo struct {
	Name        string `json:"name"`
	Provider    string `json:"provider"`
	ID          string `json:"model"`
	DisplayName string `json:"display_name,omitempty"`
	// Default says that runs use it when they name none, and Why.
	Default bool   `json:"default"`
	Why     string `json:"why,omitempty"`
	// Window is in tokens; 0 means unknown.
	Window   int         `json:"context_window"`
	Vision   bool        `json:"supports_vision"`
	Thinking bool        `json:"supports_thinking"`
	Effort   bool        `json:"supports_reasoning_effort"`
	Price    *ModelPrice `json:"pricing"`
	// Answers is nil if it was not asked.
	Answers *bool `json:"answers"`
	Millis  int64 `json:"ms,omitempty"`
	// Problem says why it does not answer, or cannot be asked; Remedy what to do.
	Problem string `json:"problem,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
}

// ModelPrice is what a million tokens cost.
type ModelPrice struct {
	Currency string  `json:"currency"`
	Input    float64 `json:"input_per_million"`
	Output   float64 `json:"output_per_million"`
	// AsOf is the date of the built-in table that the price is from; empty if the configuration says it.
	AsOf string `json:"as_of,omitempty"`
}

func modelsCommand(app App, o *Options, stdio IO) *cobra.Command {
	var offline, asJSON bool
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List the models that runs can use, and whether they answer; add, test, choose and remove some",
		Long: "List the models of the configuration and those that were added, or, if there are none, those for " +
			"which there is a key in the\n" +
			"environment; ask each of them for one word. The one with * is used by runs that name none; the exit " +
			"code is 1 if that one does not answer.\n" +
			"pudu doctor model [NAME] finds out whether one is good enough to be an agent.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
			defer stop()
			models, err := app.Models(ctx, *o, !offline)
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return cutOff(ctx, ctx.Err())
			}
			if asJSON {
				err = printJSON(stdio, models)
			} else {
				err = printModels(stdio, models)
			}
			return errors.Join(err, silentDefault(models))
		},
	}
	cmd.AddCommand(keeperCommands(app, o, stdio)...)
	cmd.Flags().BoolVar(&offline, "offline", false, "ask nobody")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// silentDefault is the error if the model that runs use does not answer, or if there is none that they could use.
func silentDefault(models []ModelInfo) error {
	i := slices.IndexFunc(models, func(m ModelInfo) bool { return m.Default })
	switch {
	case i < 0:
		return &codeError{ExitFailed, errors.New("no model of the configuration can be used")}
	case models[i].Problem != "":
		return &codeError{ExitFailed, fmt.Errorf("model %s, which runs use, does not answer", models[i].Name)}
	}
	return nil
}

func printJSON(stdio IO, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(stdio.Out, "%s\n", escapes.ReplaceAllFunc(raw, unescaped))
	}
	return err
}

// escapes are those of JSON, among them those that pages of HTML need; unescaped is what a terminal needs of one.
var escapes = regexp.MustCompile(`\\(u0026|u003c|u003e|.)`)

func unescaped(escape []byte) []byte {
	switch string(escape) {
	case `\u0026`:
		return []byte("&")
	case `\u003c`:
		return []byte("<")
	case `\u003e`:
		return []byte(">")
	}
	return escape
}

// printModels prints a table, and beneath a model that does not answer what to do.
func printModels(stdio IO, models []ModelInfo) error {
	look := style{on: stdio.OutTTY && !stdio.Plain}
	rows := [][]string{{"  NAME", "MODEL", "WINDOW", "ABLE TO", "PRICE IN/OUT", "ANSWERS"}}
	for i := range models {
		m := &models[i]
		mark := " "
		if m.Default {
			mark = "*"
		}
		rows = append(rows, []string{
			mark + " " + inert.Line(m.Name), inert.Line(m.Provider + "/" + m.ID), m.window(), m.abilities(),
			m.Price.String(), m.state(look),
		})
	}
	var table strings.Builder
	if err := printTable(&table, rows); err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimRight(table.String(), "\n"), "\n") {
		fmt.Fprintln(stdio.Out, line)
		if i > 0 && models[i-1].Remedy != "" {
			fmt.Fprintln(stdio.Out, "    → "+inert.Line(models[i-1].Remedy))
		}
	}
	if asOf := oldestPrice(models); asOf != "" {
		fmt.Fprintln(stdio.Err, look.dim("Prices are per million tokens; those of the built-in table are of "+asOf+
			" and may have changed: pricing: in the configuration wins."))
	}
	return nil
}

func oldestPrice(models []ModelInfo) (asOf string) {
	for _, m := range models {
		if m.Price != nil && m.Price.AsOf != "" && (asOf == "" || m.Price.AsOf < asOf) {
			asOf = m.Price.AsOf
		}
	}
	return asOf
}

func (m *ModelInfo) window() string {
	if m.Window == 0 {
		return "?"
	}
	return tokens(m.Window)
}

func (m *ModelInfo) abilities() string {
	var can []string
	for _, a := range []struct {
		able bool
		word string
	}{{m.Vision, "see"}, {m.Thinking, "think"}, {m.Effort, "effort"}} {
		if a.able {
			can = append(can, a.word)
		}
	}
	if can == nil {
		return "–"
	}
	return strings.Join(can, ", ")
}

// String is the price as "3/15 USD", or "?" if it is not known.
func (p *ModelPrice) String() string {
	if p == nil {
		return "?"
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return number(p.Input) + "/" + number(p.Output) + " " + p.Currency
}

func (m *ModelInfo) state(look style) string {
	switch {
	case m.Problem != "":
		return look.bad() + " " + excerpt.Clip(inert.Line(m.Problem), 240)
	case m.Answers == nil:
		return "not asked"
	}
	return look.good() + " " + duration(time.Duration(m.Millis)*time.Millisecond)
}
