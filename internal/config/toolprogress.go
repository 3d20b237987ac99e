package config

// ToolProgress watches whether the tools of a run get anywhere: see the middleware of that name.
type ToolProgress struct {
	Enabled bool `key:"enabled"`
	// StagnationThreshold is how many results of no use in a row bring a hint; WarnEscalationCount how many more block
	// the tool, if the model cannot help it, or bring the next hint.
	StagnationThreshold int `key:"stagnation_threshold" allow:"[1,)"`
	WarnEscalationCount int `key:"warn_escalation_count" allow:"[1,)"`
	// InjectAssessment shows the hints to the model.
	InjectAssessment bool `key:"inject_assessment"`
	// Similarity is from which share of common words on two results say the same; results with fewer different words
	// than MinWordCount are not compared.
	Similarity   float64  `key:"jaccard_similarity_threshold" allow:"(0,1]"`
	MinWordCount int      `key:"min_word_count_for_similarity" allow:"[1,)"`
	ExemptTools  []string `key:"exempt_tools"`
	// MaxTrackedThreads is read for old files; nothing of a run is kept in the process.
	MaxTrackedThreads int `key:"max_tracked_threads" allow:"[1,)"`
}

func defaultToolProgress() ToolProgress {
	return ToolProgress{
		StagnationThreshold: 3, WarnEscalationCount: 2, InjectAssessment: true, Similarity: 0.8, MinWordCount: 10,
		ExemptTools:       []string{"ask_clarification", "write_todos", "present_files", "task", "task_wait"},
		MaxTrackedThreads: 100,
	}
}
