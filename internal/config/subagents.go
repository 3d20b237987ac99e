package config

import "encoding/json"

// Subagents says what the agents may take that the lead agent gives tasks to.
type Subagents struct {
	// MaxTotalPerRun is how many tasks one run may give.
	MaxTotalPerRun int `key:"max_total_per_run" allow:"[1,50]"`
	// Rest are the keys of what is not built yet.
	Rest map[string]json.RawMessage `key:"*" later:"timeout_seconds,max_turns,token_budget,agents,custom_agents"`
}
