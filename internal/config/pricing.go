package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/message"
)

// Pricing is what a million tokens of a model cost.
type Pricing struct {
	// Currency is the code of the money, such as "USD"; empty means USD.
	Currency string  `key:"currency"`
	Input    float64 `key:"input_per_million" allow:"[0,)"`
	Output   float64 `key:"output_per_million" allow:"[0,)"`
	// CacheRead and CacheWrite are the prices of input that is read from, or written to, the provider's cache; nil
	// means the price of input.
	CacheRead  *float64 `key:"input_cache_hit_per_million,cache_read_per_million" allow:"[0,)"`
	CacheWrite *float64 `key:"cache_write_per_million" allow:"[0,)"`
	// BuiltIn is the date of the built-in table that the price comes from; empty means that somebody wrote it down.
	BuiltIn string
	// Extra are keys that nothing reads.
	Extra map[string]json.RawMessage `key:"*"`
}

// Money is the code of the currency, never empty.
func (p Pricing) Money() string { return cmp.Or(strings.ToUpper(p.Currency), "USD") }

// Cost is what the tokens cost, in the currency.
func (p Pricing) Cost(u message.Usage) float64 {
	read, write := p.Input, p.Input
	if p.CacheRead != nil {
		read = *p.CacheRead
	}
	if p.CacheWrite != nil {
		write = *p.CacheWrite
	}
	fresh := max(u.InputTokens-u.CacheRead-u.CacheCreation, 0)
	return (float64(fresh)*p.Input + float64(u.CacheRead)*read + float64(u.CacheCreation)*write +
		float64(u.OutputTokens)*p.Output) / 1e6
}

// Prices are the prices of the configured models that have some, by name.
func (c *Config) Prices() map[string]Pricing {
	prices := make(map[string]Pricing, len(c.Models))
	for _, m := range c.Models {
		if m.Pricing != nil {
			prices[m.Name] = *m.Pricing
		}
	}
	return prices
}

// checkCost says what a budget of money does not see.
func (c *Config) checkCost(d *decoder) {
	if !c.TokenBudget.Enabled || c.TokenBudget.MaxCost == 0 {
		return
	}
	currency := ""
	for i, m := range c.Models {
		if m.Pricing != nil && m.Pricing.BuiltIn != "" {
			d.warnf(m.Line, fmt.Sprintf("models[%d]", i),
				"has no pricing: token_budget.max_cost counts with the built-in prices of %s", m.Pricing.BuiltIn)
		}
		switch {
		case m.Pricing == nil:
			d.warnf(m.Line, fmt.Sprintf("models[%d]", i),
				"has no pricing: token_budget.max_cost does not count what it costs")
		case currency == "":
			currency = m.Pricing.Money()
		case m.Pricing.Money() != currency:
			d.warnf(m.Line, fmt.Sprintf("models[%d].pricing", i),
				"is in %s, others are in %s: a run counts only what is in the currency of its own model",
				m.Pricing.Money(), currency)
		}
	}
}
