// Package catalog knows well-known models: how much they can read and write, whether they see images and think, and
// what their vendors charge. It completes the models of a configuration ([Complete]), so that a person who has only set
// a key gets a model whose window, abilities and price are known.
//
// The table is data (models.csv), as public on [Date]; prices age. What an entry of the configuration says always wins,
// and a model that the table does not know stays as it is: nothing is guessed. A row for a whole family ("gpt-5*")
// serves the family's models that have no row of their own; it holds what all of them can do, and never a price.
package catalog

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/config"
)

// Date is when the table was last compared with its sources.
const Date = "2026-11-22"

// Ability is a set of things that a model can do.
type Ability uint8

// The abilities, in the order of their words in the table: vision, thinking, efforts, adaptive.
const (
	Vision   Ability = 1 << iota // takes images
	Thinking                     // reasons before it answers, always or when it is told to
	Efforts                      // takes a reasoning effort
	// decides itself how long it thinks (Anthropic's "adaptive"); newer ones take no budget
	Adaptive
)

// Price is what a million tokens cost in US dollars; with several steps, the one of short prompts. Zero cache prices
// are those of input.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// Row is what is known of a model, or of a family of models.
type Row struct {
	// Pattern is an id in its shortest spelling, or a family with "*".
	Pattern string
	// Window is the context window and Output the longest answer, in tokens; an Output of 0 is not known.
	Window, Output int
	Can            Ability
	// Price is that of the vendor itself; nil is not known, or free weights that others serve.
	Price *Price
	// Vendor is the provider (see config.Providers) whose model it is; empty are weights that anybody may serve.
	Vendor string
}

//go:embed models.csv
var table string

// Rows is the whole table, which nobody changes. It panics if the table cannot be read, which is part of the program: a
// test reads it.
var Rows = sync.OnceValue(readRows)

func readRows() []Row {
	r := csv.NewReader(strings.NewReader(table))
	r.Comment, r.FieldsPerRecord = '#', 9
	records, err := r.ReadAll()
	if err != nil {
		panic(err)
	}
	rows := make([]Row, len(records))
	for i, cells := range records {
		if rows[i], err = rowOf(cells); err != nil {
			panic(fmt.Errorf("models.csv: %s: %w", cells[1], err))
		}
	}
	return rows
}

func rowOf(cells []string) (Row, error) {
	var figures [6]float64 // window, output, and the prices; an empty cell is 0
	for i, cell := range slices.Concat(cells[2:4], cells[5:]) {
		if cell == "" {
			continue
		}
		var err error
		if figures[i], err = strconv.ParseFloat(cell, 64); err != nil {
			return Row{}, err
		}
	}
	row := Row{Vendor: cells[0], Pattern: cells[1], Window: int(figures[0]), Output: int(figures[1])}
	if cells[5] != "" {
		row.Price = &Price{figures[2], figures[3], figures[4], figures[5]}
	}
	for word := range strings.FieldsSeq(cells[4]) {
		i := slices.Index([]string{"vision", "thinking", "efforts", "adaptive"}, word)
		if i < 0 {
			return Row{}, fmt.Errorf("%q is no ability", word)
		}
		row.Can |= 1 << i
	}
	return row, nil
}

// Lookup finds what is known of a provider's model: the row with the longest pattern that fits the id, as it is written
// or in its shortest spelling; of two, the provider's own. The price is there only if the provider is the row's vendor.
func Lookup(provider, id string) (Row, bool) {
	var best Row
	most := -1
	ids := spellings(id)
	for _, r := range Rows() {
		n := fit(r.Pattern, ids)
		if n > most || n == most && n >= 0 && r.Vendor == provider {
			best, most = r, n
		}
	}
	if most >= 0 && best.Vendor != provider {
		best.Price = nil
	}
	return best, most >= 0
}

// fit is how well a pattern fits one of the spellings of an id: the characters that it names, more if it names all, or
// -1.
func fit(pattern string, ids []string) int {
	if slices.Contains(ids, pattern) {
		return 2*len(pattern) + 1
	}
	named := len(pattern) - strings.Count(pattern, "*")
	for _, id := range ids {
		if ok, err := path.Match(pattern, id); ok && err == nil {
			return 2 * named
		}
	}
	return -1
}

// Complete fills in what an entry of the configuration leaves open. An entry that says false, or its own number, keeps
// it.
func Complete(m *config.Model) {
	if m.Wire == config.WireScripted {
		return
	}
	r, ok := Lookup(m.Provider, m.ID)
	if !ok {
		return
	}
	m.SupportsVision = m.SupportsVision || !m.Says("supports_vision") && r.Can&Vision != 0
	m.SupportsThinking = m.SupportsThinking || !m.Says("supports_thinking") && r.Can&Thinking != 0
	m.SupportsReasoningEffort = m.SupportsReasoningEffort || !m.Says("supports_reasoning_effort") && r.Can&Efforts != 0
	if m.ContextWindow == 0 && !ownWindow(m.Provider) {
		m.ContextWindow = r.Window
	}
	if m.Wire == config.WireAnthropic {
		completeAnthropic(m, r)
	}
	if p := r.Price; p != nil && m.Pricing == nil && atHome(m) {
		m.Pricing = p.pricing()
	}
}

// answerLimit bounds an answer where the API demands a bound and nobody names one: the longest that a model can give
// would be taken from the room of the prompt.
const answerLimit = 32_000

func completeAnthropic(m *config.Model, r Row) {
	if m.MaxTokens == 0 && r.Output > 0 {
		m.MaxTokens = min(r.Output, answerLimit)
	}
	if m.ThinkingBudget == 0 && r.Can&Adaptive != 0 {
		m.ThinkingBudget = config.AdaptiveThinking
	}
}

// ownWindow is true for servers that cut the window to what their machine can hold, often without saying so.
func ownWindow(provider string) bool {
	switch provider {
	case "ollama", "llamacpp", "lmstudio":
		return true
	}
	return false
}

// atHome reports whether the model is asked at its vendor's own address: another one has other prices.
func atHome(m *config.Model) bool {
	return m.BaseURL != "" && slices.ContainsFunc(config.Providers(), func(p config.Provider) bool {
		return p.Name == m.Provider && host(m.BaseURL) == host(p.BaseURL)
	})
}

func host(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func (p Price) pricing() *config.Pricing {
	out := &config.Pricing{Currency: "USD", Input: p.Input, Output: p.Output, BuiltIn: Date}
	if p.CacheRead > 0 {
		out.CacheRead = &p.CacheRead
	}
	if p.CacheWrite > 0 {
		out.CacheWrite = &p.CacheWrite
	}
	return out
}
