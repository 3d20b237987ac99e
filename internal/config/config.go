// Package config turns the configuration file, the environment and the stored credentials into one [Config] value.
//
// It runs first: [Load] reads, [Choose] picks the model of a run when nothing else did, [DataDir] says where data
// lives, and the assembly passes the parts on to what they configure. Nothing else of the program reads the environment
// or a configuration file. DeerFlow's config.yaml is the same schema: it loads unchanged, and what is not built yet is
// named in a warning.
package config

import (
	"encoding/json"
	"time"
)

// Config is the whole configuration. It is made once and never changed; whoever holds it must not write to its slices
// and maps. [Default] gives the value that no file gives.
//
// The tag pending:"true" marks a section that is checked but that nothing reads yet: whoever builds its reader removes
// it.
type Config struct {
	// Path is the file that was read; empty means there is none.
	Path string
	// Env is the environment with the .env files and the credentials file behind it.
	Env Env

	Version           int    `key:"config_version" allow:"[0,)"`
	LogLevel          string `key:"log_level" allow:"debug|info|warning|warn|error|critical"`
	MaxRecursionLimit int    `key:"max_recursion_limit" allow:"[1,)"`

	// Models are the configured models in the order of the file, without second ones of a name. Some may be unusable:
	// see [Model.Err].
	Models []Model `key:"models"`
	// Standard is the model of runs that name none, if somebody has chosen one while the program works; see
	// [Config.With].
	Standard string

	ToolGroups []ToolGroup `key:"tool_groups" pending:"true"`
	Tools      []Tool      `key:"tools" pending:"true"`

	Sandbox         Sandbox        `key:"sandbox"`
	LLMCall         LLMCall        `key:"llm_call"`
	CircuitBreaker  CircuitBreaker `key:"circuit_breaker"`
	Title           Title          `key:"title"`
	AgentsAPI       Switch         `key:"agents_api"`
	Summarization   Summarization  `key:"summarization"`
	ToolOutput      ToolOutput     `key:"tool_output"`
	ReadBeforeWrite Switch         `key:"read_before_write"`
	LoopDetection   LoopDetection  `key:"loop_detection"`
	TokenUsage      Switch         `key:"token_usage"`
	TokenBudget     TokenBudget    `key:"token_budget"`
	SafetyFinish    SafetyFinish   `key:"safety_finish_reason"`
	Guardrails      Guardrails     `key:"guardrails"`
	Authorization   Authorization  `key:"authorization"`
	ToolProgress    ToolProgress   `key:"tool_progress"`
	Subagents       Subagents      `key:"subagents"`
	Memory          Memory         `key:"memory"`

	Skills         Skills         `key:"skills"`
	SkillScan      Switch         `key:"skill_scan"`
	SkillEvolution SkillEvolution `key:"skill_evolution"`

	Retention   Retention   `key:"retention"`
	FileHistory FileHistory `key:"file_history"`

	Database     Database     `key:"database"`
	Checkpointer Checkpointer `key:"checkpointer"`

	// Raw holds, as JSON, the sections that have no type here yet. Variables ($NAME) in them are not replaced.
	Raw map[string]json.RawMessage
	// Extensions is the content of extensions_config.json; nil means there is none.
	Extensions json.RawMessage
	// SkillSwitches are those of extensions_config.json, by the names of skills; nil means there are none.
	SkillSwitches map[string]bool
}

// Switch is a section with nothing but an "enabled".
type Switch struct {
	Enabled bool `key:"enabled"`
}

// ToolGroup names a group that tools belong to.
type ToolGroup struct {
	Name string `key:"name" required:"true"`
}

// Tool is one entry of "tools".
type Tool struct {
	Name  string `key:"name" required:"true"`
	Group string `key:"group"`
	// Use is the class path or Pudu's own name of the implementation.
	Use string `key:"use"`
	// Settings are all other keys of the entry; the tool knows them.
	Settings map[string]json.RawMessage `key:"*" known:"max_results,timeout,api_key,base_url,api_base,region,safesearch,max_chars,max_content_length,proxy,headers,search_depth,include_domains,exclude_domains,wait_for,user_agent"`
	// Line is where the entry stands in the file.
	Line int `key:"@line"`
	// Err says why the tool cannot be used (a variable that is not set); nil means usable.
	Err error
}

func (t *Tool) disable(err error) { t.Err = firstError(t.Err, err) }

// LLMCall says how failed model calls are tried again.
type LLMCall struct {
	// MaxConcurrentCalls bounds the calls of the process; 0 means no bound.
	MaxConcurrentCalls int `key:"max_concurrent_calls" allow:"[0,)"`
	// RetryMaxAttempts counts all attempts, the first included.
	RetryMaxAttempts    int           `key:"retry_max_attempts" allow:"[1,100]"`
	RetryBaseDelay      time.Duration `key:"retry_base_delay_ms" unit:"ms" allow:"(0,)"`
	RetryCapDelay       time.Duration `key:"retry_cap_delay_ms" unit:"ms" allow:"(0,)"`
	BurstRetryBaseDelay time.Duration `key:"burst_retry_base_delay_ms" unit:"ms" allow:"(0,)"`
	// RateLimit is that of each key for which no model says another.
	RateLimit RateLimit `key:"rate_limit"`
}

// RateLimit bounds the calls that are made with one key at one address, by all models that share it. Calls beyond it
// wait. 0 means no bound.
type RateLimit struct {
	RequestsPerMinute int `key:"requests_per_minute" allow:"[1,)"`
	TokensPerMinute   int `key:"tokens_per_minute" allow:"[1,)"`
	Concurrent        int `key:"concurrent" allow:"[1,)"`
}

// CircuitBreaker stops calling a model that keeps failing.
type CircuitBreaker struct {
	FailureThreshold int           `key:"failure_threshold" allow:"[1,)"`
	RecoveryTimeout  time.Duration `key:"recovery_timeout_sec" unit:"s" allow:"(0,)"`
}

// Title says how a thread gets its title.
type Title struct {
	Enabled  bool `key:"enabled"`
	MaxWords int  `key:"max_words" allow:"[1,20]"`
	MaxChars int  `key:"max_chars" allow:"[10,200]"`
	// Model is the name of a configured model; empty means the title is cut from the user's first words.
	Model  string `key:"model_name"`
	Prompt string `key:"prompt_template"`
}

// Summarization says when and how an old part of a conversation is summed up.
type Summarization struct {
	Enabled bool `key:"enabled"`
	// Model is the name of a configured model; empty means the run's.
	Model string `key:"model_name"`
	// Trigger holds the thresholds of which any one starts a summary; none means never by itself.
	Trigger Thresholds `key:"trigger"`
	// Keep says how much of the end stays as it is.
	Keep Threshold `key:"keep"`
	// TrimTokens bounds what the summarizing model is shown; 0 means no bound.
	TrimTokens        int      `key:"trim_tokens_to_summarize" allow:"[0,)"`
	Prompt            string   `key:"summary_prompt"`
	SkillFileReadTool []string `key:"skill_file_read_tool_names"`
}

// Threshold is an amount of conversation.
type Threshold struct {
	// Type is "tokens", "messages" or "fraction" (of the model's context window).
	Type  string  `key:"type" allow:"tokens|messages|fraction" required:"true"`
	Value float64 `key:"value" allow:"(0,)" required:"true"`
}

// Thresholds is one threshold or a list of them.
type Thresholds []Threshold

// ToolOutput bounds what of a tool's answer the model sees; the rest goes to a file.
type ToolOutput struct {
	Enabled             bool           `key:"enabled"`
	ExternalizeMinChars int            `key:"externalize_min_chars" allow:"[0,)"`
	PreviewHeadChars    int            `key:"preview_head_chars" allow:"[0,)"`
	PreviewTailChars    int            `key:"preview_tail_chars" allow:"[0,)"`
	FallbackMaxChars    int            `key:"fallback_max_chars" allow:"[0,)"`
	FallbackHeadChars   int            `key:"fallback_head_chars" allow:"[0,)"`
	FallbackTailChars   int            `key:"fallback_tail_chars" allow:"[0,)"`
	StorageSubdir       string         `key:"storage_subdir"`
	ExemptTools         []string       `key:"exempt_tools"`
	ToolOverrides       map[string]int `key:"tool_overrides" allow:"[0,)"`
}

// LoopDetection stops a model that repeats itself.
type LoopDetection struct {
	Enabled           bool                    `key:"enabled"`
	WarnThreshold     int                     `key:"warn_threshold" allow:"[1,)"`
	HardLimit         int                     `key:"hard_limit" allow:"[1,)"`
	WindowSize        int                     `key:"window_size" allow:"[1,)"`
	MaxTrackedThreads int                     `key:"max_tracked_threads" allow:"[1,)"`
	ToolFreqWarn      int                     `key:"tool_freq_warn" allow:"[1,)"`
	ToolFreqHardLimit int                     `key:"tool_freq_hard_limit" allow:"[1,)"`
	ToolFreqOverrides map[string]ToolFreqRule `key:"tool_freq_overrides"`
}

// ToolFreqRule is how many calls of one tool bring a note, and how many in a row without any progress end the run.
type ToolFreqRule struct {
	Warn      int `key:"warn" allow:"[1,)" required:"true"`
	HardLimit int `key:"hard_limit" allow:"[1,)" required:"true"`
}

// TokenBudget bounds the tokens of a run.
type TokenBudget struct {
	Enabled   bool `key:"enabled"`
	MaxTokens int  `key:"max_tokens" allow:"[1000,)"`
	// MaxInputTokens and MaxOutputTokens bound one direction; 0 means no bound of its own.
	MaxInputTokens  int `key:"max_input_tokens" allow:"[1,)"`
	MaxOutputTokens int `key:"max_output_tokens" allow:"[1,)"`
	// MaxCost bounds the money, in the currency of the run's model (see [Pricing]); 0 means no bound.
	MaxCost float64 `key:"max_cost" allow:"(0,)"`
	// WarnThreshold and HardStopThreshold are fractions of the budget.
	WarnThreshold     float64 `key:"warn_threshold" allow:"(0,1]"`
	HardStopThreshold float64 `key:"hard_stop_threshold" allow:"(0,1]"`
}

// Default is the configuration without a file.
func Default() *Config {
	return &Config{
		LogLevel:          "info",
		MaxRecursionLimit: 1000,
		Sandbox: Sandbox{
			Provider:               Bubblewrap,
			BashOutputMaxChars:     20_000,
			ReadFileOutputMaxChars: 50_000,
			LsOutputMaxChars:       20_000,
			CommandTimeout:         600 * time.Second,
		},
		LLMCall: LLMCall{
			RetryMaxAttempts:    3,
			RetryBaseDelay:      time.Second,
			RetryCapDelay:       8 * time.Second,
			BurstRetryBaseDelay: 5 * time.Second,
		},
		CircuitBreaker: CircuitBreaker{FailureThreshold: 5, RecoveryTimeout: time.Minute},
		AgentsAPI:      Switch{Enabled: true},
		Title:          Title{Enabled: true, MaxWords: 6, MaxChars: 60},
		Summarization: Summarization{
			Keep:              Threshold{Type: "messages", Value: 20},
			TrimTokens:        4000,
			SkillFileReadTool: []string{"read_file", "read", "view", "cat"},
		},
		ToolOutput: ToolOutput{
			Enabled: true, ExternalizeMinChars: 12_000, PreviewHeadChars: 2000, PreviewTailChars: 1000,
			FallbackMaxChars: 30_000, FallbackHeadChars: 8000, FallbackTailChars: 3000,
			StorageSubdir: ".tool-results", ExemptTools: []string{"read_file", "read_file_tool"},
		},
		ReadBeforeWrite: Switch{Enabled: true},
		LoopDetection: LoopDetection{
			Enabled: true, WarnThreshold: 3, HardLimit: 5, WindowSize: 20, MaxTrackedThreads: 100, ToolFreqWarn: 30,
			ToolFreqHardLimit: 50,
		},
		Retention: Retention{Chunks: Age(24 * time.Hour), Logs: Age(7 * 24 * time.Hour),
			Snapshots: Age(7 * 24 * time.Hour),
			Bin:       Age(30 * 24 * time.Hour), Temporary: Age(24 * time.Hour)},
		TokenUsage:    Switch{Enabled: true},
		TokenBudget:   TokenBudget{MaxTokens: 200_000, WarnThreshold: 0.8, HardStopThreshold: 1},
		SafetyFinish:  SafetyFinish{Enabled: true},
		Guardrails:    Guardrails{FailClosed: true},
		Authorization: Authorization{FailClosed: true, DefaultRole: "user"},
		ToolProgress:  defaultToolProgress(),
		Memory:        defaultMemory(),
		SkillScan:     Switch{Enabled: true}, SkillEvolution: SkillEvolution{FailClosed: true},
		Subagents: defaultSubagents(),
	}
}

// Model returns the configured model of that name.
func (c *Config) Model(name string) (Model, bool) {
	for _, m := range c.Models {
		if m.Name == name {
			return m, true
		}
	}
	return Model{}, false
}
