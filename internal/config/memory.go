package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// Memory is what Pudu keeps about a user beyond a thread. DeerFlow's file has the tuning below backend_config; keys of
// its older files, which stood beside the switches, are read there too.
type Memory struct {
	Enabled bool `key:"enabled" json:"enabled"`
	// Mode is "middleware": each run is read once it has ended; or "tool": the model keeps facts itself, by tools.
	Mode      string `key:"mode" allow:"middleware|tool" json:"mode"`
	Injection bool   `key:"injection_enabled" json:"injection_enabled"`
	// FlushTimeout is read for old files: what waits to be read is a durable job, which no stop loses.
	FlushTimeout float64       `key:"shutdown_flush_timeout_seconds" allow:"[1,300]" json:"shutdown_flush_timeout_seconds"`
	Manager      string        `key:"manager_class" json:"manager_class"`
	Backend      MemoryBackend `key:"backend_config" json:"backend_config"`
}

// MemoryBackend tunes the memory. Storage, lock and queue of DeerFlow are read for old files: the record is in the
// database.
type MemoryBackend struct {
	StoragePath   string  `key:"storage_path" json:"storage_path"`
	StorageClass  string  `key:"storage_class" json:"storage_class"`
	Strict        bool    `key:"strict_user_scope" json:"strict_user_scope"`
	Manifest      string  `key:"manifest_filename" json:"manifest_filename"`
	LockTimeout   float64 `key:"file_lock_timeout_seconds" allow:"(0,)" json:"file_lock_timeout_seconds"`
	Retrieval     string  `key:"retrieval_adapter" json:"retrieval_adapter"`
	Debounce      int     `key:"debounce_seconds" allow:"[0,300]" json:"debounce_seconds"`
	QueueMaxDepth int     `key:"queue_max_depth" allow:"[1,)" json:"queue_max_depth"`
	// Model is the name of a configured model that reads conversations; empty means that of the run.
	Model MemoryModel `key:"model" json:"model"`

	MaxFacts   int     `key:"max_facts" allow:"[10,500]" json:"max_facts"`
	Confidence float64 `key:"fact_confidence_threshold" allow:"[0,1]" json:"fact_confidence_threshold"`

	Eviction           string  `key:"fact_eviction_policy" allow:"confidence|hybrid-v1" json:"fact_eviction_policy"`
	EvictionShadow     bool    `key:"fact_eviction_shadow_enabled" json:"fact_eviction_shadow_enabled"`
	ConfidenceWeight   float64 `key:"eviction_confidence_weight" allow:"[0,1]" json:"eviction_confidence_weight"`
	ConfirmationWeight float64 `key:"eviction_confirmation_weight" allow:"[0,1]" json:"eviction_confirmation_weight"`
	AccessWeight       float64 `key:"eviction_access_weight" allow:"[0,1]" json:"eviction_access_weight"`
	ConfirmationLife   float64 `key:"eviction_confirmation_half_life_days" allow:"(0,)" json:"eviction_confirmation_half_life_days"`
	AccessLife         float64 `key:"eviction_access_half_life_days" allow:"(0,)" json:"eviction_access_half_life_days"`
	ReservedFraction   float64 `key:"eviction_correction_reserved_fraction" allow:"[0,1]" json:"eviction_correction_reserved_fraction"`
	ReservedMax        int     `key:"eviction_correction_reserved_max" allow:"[0,)" json:"eviction_correction_reserved_max"`
	AuditEntries       int     `key:"eviction_audit_max_entries" allow:"[0,)" json:"eviction_audit_max_entries"`

	MaxTokens        int      `key:"max_injection_tokens" allow:"[100,8000]" json:"max_injection_tokens"`
	TokenCounting    string   `key:"token_counting" allow:"tiktoken|char" json:"token_counting"`
	Guaranteed       []string `key:"guaranteed_categories" json:"guaranteed_categories"`
	GuaranteedBudget int      `key:"guaranteed_token_budget" allow:"[0,8000]" json:"guaranteed_token_budget"`

	Staleness       bool     `key:"staleness_review_enabled" json:"staleness_review_enabled"`
	StaleAge        int      `key:"staleness_age_days" allow:"[1,)" json:"staleness_age_days"`
	StaleCandidates int      `key:"staleness_min_candidates" allow:"[1,)" json:"staleness_min_candidates"`
	StaleRemovals   int      `key:"staleness_max_removals_per_cycle" allow:"[0,)" json:"staleness_max_removals_per_cycle"`
	StaleProtected  []string `key:"staleness_protected_categories" json:"staleness_protected_categories"`
	LifeMultiplier  float64  `key:"staleness_max_lifetime_multiplier" allow:"[1,)" json:"staleness_max_lifetime_multiplier"`
	ExtensionDays   int      `key:"staleness_max_extension_days" allow:"[1,)" json:"staleness_max_extension_days"`

	Consolidation        bool `key:"consolidation_enabled" json:"consolidation_enabled"`
	ConsolidationFacts   int  `key:"consolidation_min_facts" allow:"[2,)" json:"consolidation_min_facts"`
	ConsolidationGroups  int  `key:"consolidation_max_groups_per_cycle" allow:"[1,)" json:"consolidation_max_groups_per_cycle"`
	ConsolidationSources int  `key:"consolidation_max_sources" allow:"[2,)" json:"consolidation_max_sources"`

	// WatermarkKeys is read for old files: what was read of a thread is a row.
	WatermarkKeys int `key:"watermark_max_keys" allow:"[1,)" json:"-"`
	// Patterns and Prompts are folders with files that replace the program's own.
	Patterns string `key:"patterns_dir" json:"-"`
	Prompts  string `key:"prompts_dir" json:"-"`
}

// MemoryModel is the name of a configured model; empty is none.
type MemoryModel string

// MarshalJSON implements json.Marshaler: without a name it is null.
func (m MemoryModel) MarshalJSON() ([]byte, error) {
	if m == "" {
		return []byte("null"), nil
	}
	return json.Marshal(map[string]string{"model": string(m)})
}

var (
	_ custom = (*Memory)(nil)
	_ custom = (*MemoryModel)(nil)
)

// decode reads a name, or DeerFlow's table, of which the model's name counts: its key and address belong to an entry of
// models.
func (m *MemoryModel) decode(d *decoder, t *tree, at string) {
	var name string
	if t.kind != yaml.MappingNode {
		d.value(t, at, reflect.ValueOf(&name).Elem(), "")
		*m = MemoryModel(name)
		return
	}
	for _, f := range t.fields {
		switch f.name {
		case "model":
			d.value(f.value, at+".model", reflect.ValueOf(&name).Elem(), "")
		case "provider", "api_key", "base_url", "temperature":
			if !f.value.null() {
				d.warnf(f.line, join(at, f.name),
					"has no effect: give the model an entry in models, and name that here")
			}
		default:
			d.failf(f.line, join(at, f.name), "unknown key%s", suggest(f.name, []string{"model"}))
		}
	}
	*m = MemoryModel(name)
}

// decode reads the section. Keys of backend_config that stand beside the switches are those of older files.
func (m *Memory) decode(d *decoder, t *tree, at string) {
	if t.kind != yaml.MappingNode {
		d.failf(t.line, at, "must be a table of keys, got %s", t.what())
		return
	}
	own, below := schemaOf(reflect.TypeFor[Memory]()), schemaOf(reflect.TypeFor[MemoryBackend]())
	outer, inner := map[int]string{}, map[int]string{}
	for _, f := range t.fields {
		_, known := own.fields[f.name]
		i, old := below.fields[f.name]
		switch {
		case known || !old && f.name != "model_name":
			d.field(f, join(at, f.name), own, reflect.ValueOf(m).Elem(), outer)
		case f.name == "model_name":
			d.warnf(f.line, join(at, f.name), "stands in backend_config as model.model now")
			d.value(f.value, join(at, f.name), reflect.ValueOf(&m.Backend.Model).Elem(), "")
		default:
			d.warnf(f.line, join(at, f.name), "stands in backend_config now")
			inner[i] = f.name
			d.value(f.value, join(at, f.name), reflect.ValueOf(&m.Backend).Elem().Field(i),
				reflect.TypeFor[MemoryBackend]().Field(i).Tag)
		}
	}
	if !slices.Contains([]string{"deermem", "noop"}, m.Manager) {
		d.warnf(t.line, at+".manager_class", "%q is not built: the memory is Pudu's own; noop switches it off",
			m.Manager)
	}
}

// On reports whether anything is remembered.
func (m Memory) On() bool { return m.Enabled && m.Manager != "noop" }

// Wait is how long after a run's end it is read, unless another run ends meanwhile.
func (m Memory) Wait() time.Duration { return time.Duration(m.Backend.Debounce) * time.Second }

func defaultMemory() Memory {
	return Memory{Enabled: true, Mode: "middleware", Injection: true, FlushTimeout: 30, Manager: "deermem",
		Backend: MemoryBackend{
			StorageClass: "file", Manifest: "memory.json", LockTimeout: 10, Retrieval: "fts5", Debounce: 30,
			QueueMaxDepth: 1000, MaxFacts: 100, Confidence: 0.7, Eviction: "confidence", ConfidenceWeight: 0.65,
			ConfirmationWeight: 0.25, AccessWeight: 0.1, ConfirmationLife: 90, AccessLife: 30, ReservedFraction: 0.1,
			ReservedMax: 10, AuditEntries: 200, MaxTokens: 2000, TokenCounting: "tiktoken",
			Guaranteed: []string{"correction"}, GuaranteedBudget: 500, Staleness: true, StaleAge: 90,
			StaleCandidates: 3, StaleRemovals: 10, StaleProtected: []string{"correction"}, LifeMultiplier: 20,
			ExtensionDays: 3650, ConsolidationFacts: 8, ConsolidationGroups: 3, ConsolidationSources: 8,
			WatermarkKeys: 4096,
		}}
}
