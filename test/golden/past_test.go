package golden

import "fmt"

// Past is what happened to a thread before an exchange and stands in no recording.
type Past struct {
	// Absent: there is no such thread, though the exchange does not say so.
	Absent bool
	// Metadata are the members of the thread's metadata.
	Metadata string
	// Said is what a run was asked before, to its end; empty means that there was none.
	Said string
	// Talk is what several runs were asked, one after the other, and Model who answered, if not the default one.
	Talk  []string
	Model string
	// Names are variables of messages: "ai 0" is the first answer, "human 1" the second question, and "place of ai 0"
	// where that answer stands.
	Names map[string]string
	// Runs are runs that were asked for something, and the variables of their ids.
	Runs []Did
	// Facts is how many facts are remembered.
	Facts int
	// Gone are skills of the caller's that were deleted.
	Gone []string
	// Quiet: the runs of the thread have ended, which nobody followed.
	Quiet bool
}

// Did is a run that did what it was asked for.
type Did struct{ Run, Said string }

// pasts are by exchange. Where there is none, a thread that a recording takes for granted is new.
func pasts() map[string]Past {
	talked, looked := Past{Said: "hello"}, Past{Said: "look into the folder"}
	return map[string]Past{
		"gateway/11-thread-get, exchange 1":   {Metadata: `"k":"w"`},
		"gateway/13-thread-patch, exchange 1": {Metadata: `"a":1`},
		"gateway/15-thread-branches, exchange 1": {
			Talk:  []string{"hello branch", "second branch question"},
			Names: map[string]string{"n2": "ai 1", "c4": "ai 0", "c5": "human 1"},
		},
		"gateway/15-thread-branches, exchange 12": {Metadata: `"deerflow_sidecar":true`},
		"gateway/23-messages, exchange 1": {
			Talk:  []string{"hello rows", "look into it, rows", "and again"},
			Names: map[string]string{"p1": "place of ai 0", "p2": "place of tool 0"},
		},
		"gateway/27-workspace-changes, exchange 1": {Runs: []Did{
			{"n2", "make the files"}, {"n3", "change the files"}, {"n4", "hello"},
			{"n5", "make outputs but forget them"},
		}},
		"gateway/24-messages-page, exchange 1": {Talk: questions(17)},
		"gateway/26-token-usage, exchange 1":   {Talk: questions(3)},
		"gateway/26-token-usage, exchange 5":   {Talk: questions(1), Model: "think"},
		"gateway/50-regenerate-and-edit, exchange 1": {
			Talk:  []string{"first question", "second question"},
			Names: map[string]string{"n2": "ai 0", "n3": "human 1", "n4": "ai 1", "c8": "human 0"},
		},
		"gateway/78-skills-custom, exchange 34": {Gone: []string{"flat-one", "tidy-notes", "warned",
			"with-link", "word-count"}},
		"gateway/79-memory, exchange 38":                   {Facts: 10},
		"gateway/20-state-get, exchange 2":                 talked,
		"gateway/21-state-update, exchange 1":              talked,
		"gateway/31c-reasoning, exchange 1":                looked,
		"gateway/31d-write-file-coalesced, exchange 1":     looked,
		"gateway/32a-clarification, exchange 1":            talked,
		"gateway/32b-clarification-form, exchange 1":       talked,
		"gateway/35-second-turn, exchange 1":               talked,
		"gateway/40-runs-create-list-get, exchange 3":      {Quiet: true},
		"gateway/40-runs-create-list-get, exchange 4":      {Quiet: true},
		"gateway/40-runs-create-list-get, exchange 10":     {Absent: true},
		"gateway/40-runs-create-list-get, exchange 14":     {Quiet: true},
		"gateway/40-runs-create-list-get, exchange 23":     {Quiet: true},
		"gateway/40-runs-create-list-get, exchange 24":     {Quiet: true},
		"gateway/40-runs-create-list-get, exchange 25":     {Quiet: true},
		"langgraph/14-thread-copy, exchange 7":             {Absent: true},
		"langgraph/21-state-update, exchange 1":            talked,
		"langgraph/48a-multitask-reject, exchange 10":      {Quiet: true},
		"langgraph/70-config-context-metadata, exchange 6": {Quiet: true},
		"langgraph/65-if-not-exists, exchange 6":           {Absent: true},
	}
}

// questions are so many.
func questions(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint("question ", i+1))
	}
	return list
}
