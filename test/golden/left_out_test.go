package golden

const (
	noRoute     = "a route of DeerFlow's that Pudu has not"
	refused     = "the original refuses, Pudu supports it; the client tests show how"
	otherMode   = "a stream mode that DeerFlow refuses and that no client of ours uses"
	checkpoint  = "names a checkpoint that was made before the trace, or whose id no answer of it shows whole"
	formOnly    = "the trace describes the form instead of showing it"
	setUp       = "reads a file that was there before the trace"
	sleeps      = "the recorded tool sleeps and is cut; ours is over at once"
	disconnects = "hangs on when the client went away; the client tests do it with the SDKs"
)

// leftOut lists what is not replayed, with the reason.
func leftOut() []Rule {
	return []Rule{
		{Recording: "gateway/16-absent", N: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
			21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}, Reason: refused},
		{Recording: "gateway/20-state-get", N: []int{4, 5}, Reason: "the thread was cancelled before the trace"},
		{Recording: "gateway/21-state-update", N: []int{6}, Reason: checkpoint},
		{Recording: "gateway/28-goal", N: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
			Reason: noRoute},
		{Recording: "gateway/29-compact-and-summarization", N: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
			Reason: noRoute},
		{Recording: "gateway/31d-write-file-coalesced", N: []int{3},
			Reason: "tells of a file whose text the trace does not show whole"},
		{Recording: "gateway/36c-heartbeat", N: []int{1},
			Reason: "a tool that takes 17 s, for one comment; the gateway's own tests do it with a clock"},
		{Recording: "gateway/41-join", N: []int{13, 14, 15, 16},
			Reason: "what DeerFlow drops from its buffer is in Pudu's log"},
		{Recording: "gateway/41b-join-when-gone", N: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
			Reason: "waits 60 s and restarts the server; DeerFlow forgets a run then, Pudu replays it from the log"},
		{Recording: "gateway/42-wait", N: []int{5}, Reason: "cancels a run whose id the trace does not show"},
		{Recording: "gateway/43-stateless", N: []int{8, 9}, Reason: noRoute},
		{Recording: "gateway/43-stateless", N: []int{4}, Reason: "finds the threads of other traces"},
		{Recording: "gateway/44-cancel", N: []int{21, 22}, Reason: sleeps},
		{Recording: "gateway/45-disconnect", N: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12}, Reason: disconnects},
		{Recording: "gateway/46-multitask", N: []int{6, 7, 8}, Reason: noRoute},
		{Recording: "gateway/46-multitask", N: []int{4}, Reason: refused},
		{Recording: "gateway/47-interrupts-and-forks", N: []int{2}, Reason: "the trace shows a part of the answer"},
		{Recording: "gateway/47-interrupts-and-forks", N: []int{11, 12}, Reason: checkpoint},
		{Recording: "gateway/48-unsupported-options", N: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 18, 19,
			20, 21, 22, 23, 31, 35}, Reason: refused},
		{Recording: "gateway/50-regenerate-and-edit", N: []int{24}, Reason: "Pudu has no goals yet"},
		{Recording: "gateway/51-feedback", N: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
			20, 21, 22, 23, 24}, Reason: noRoute},
		{Recording: "gateway/52-suggestions-polish-models-features", N: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
			14, 15, 16, 17, 18, 19}, Reason: noRoute},
		{Recording: "gateway/53-uploads", N: []int{12, 18, 19}, Reason: formOnly},
		{Recording: "gateway/54-artifacts", N: []int{10},
			Reason: "compares an ETag that the trace took from its own disk"},
		{Recording: "gateway/54-artifacts", N: []int{31, 58, 59, 60, 61, 62, 63, 65, 66}, Reason: setUp},
		{Recording: "gateway/54-artifacts", N: []int{80}, Reason: "the trace describes the body instead of showing it"},
		{Recording: "gateway/79-memory", N: []int{32, 33, 34, 35, 36, 37},
			Reason: "the file was edited, or broken, by hand; Pudu's record is a table, and files are imported"},
		{Recording: "langgraph/00-meta-ok-info", N: []int{2, 3, 4, 5}, Reason: "tells of the other server itself"},
		{Recording: "langgraph/11-thread-get", N: []int{3},
			Reason: "an id that need not be a UUID here, and that another trace makes"},
		{Recording: "langgraph/22-state-at-checkpoint", N: []int{2, 3, 4}, Reason: checkpoint},
		{Recording: "langgraph/30f-stream-events", N: []int{1, 2, 3, 4}, Reason: otherMode},
		{Recording: "langgraph/30j-stream-tools", N: []int{1, 2, 3, 4}, Reason: otherMode},
		{Recording: "langgraph/30l-stream-multi-all", N: []int{1, 2, 3, 4}, Reason: otherMode},
		{Recording: "langgraph/32-stream-custom-tool", N: []int{1, 2}, Reason: jsGraph},
		{Recording: "langgraph/34-stream-parallel-tools-todos", N: []int{1, 2, 3, 4}, Reason: jsGraph},
		{Recording: "langgraph/42-stream-disconnect-resume", N: []int{1, 2, 3, 4, 5}, Reason: disconnects},
		{Recording: "langgraph/43-on-disconnect-cancel", N: []int{1, 2, 3, 4, 5}, Reason: disconnects},
		{Recording: "langgraph/53-interrupt-hitl-middleware", N: []int{1, 2, 3, 4, 5, 6}, Reason: jsGraph},
		{Recording: "langgraph/57-fork-from-checkpoint", N: []int{5, 7, 8, 9, 10, 11, 14}, Reason: checkpoint},
		{Recording: "langgraph/61-stream-subgraphs", N: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, Reason: jsGraph},
		{Recording: "langgraph/62-stream-subgraphs-agent", N: []int{1, 2}, Reason: jsGraph},
		{Recording: "langgraph/63-not-found", N: []int{1, 2, 3, 12, 13},
			Reason: "the JavaScript server takes a missing thread for a busy one"},
		{Recording: "langgraph/67-webhook", N: []int{1, 2, 3, 4, 5, 6},
			Reason: "the hook is on loopback, where ours must not call; the runs' own tests do it"},
		{Recording: "langgraph/68-feedback-keys", N: []int{1, 2}, Reason: "needs another company's service"},
		{Recording: "langgraph/72-crons", N: []int{1, 2}, Reason: "Pudu has no schedules yet"},
		{Recording: "langgraph/73-summarization", N: []int{1, 2, 3, 4, 5}, Reason: jsGraph},
		{Recording: "langgraph/83-sdk-broken-stream", N: []int{1, 2, 3, 4, 5}, Reason: disconnects},
		{Recording: "langgraph/90-v2-commands-curl", N: []int{1, 2, 3, 4, 5, 6, 7},
			Reason: "the draft of another protocol"},
		{Recording: "langgraph/91-v2-agent-interrupt", N: []int{1, 2, 3, 4, 5},
			Reason: "the draft of another protocol"},
		{Recording: "langgraph/92-v2-sdk", N: []int{1, 2, 3}, Reason: "the draft of another protocol"},
	}
}
