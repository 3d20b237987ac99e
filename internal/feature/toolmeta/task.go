package toolmeta

// Keys of additional_kwargs on the result of a task that say how it ended. The text of the result is for reading only.
const (
	// KeySubagentStatus is a status of threadstate.Delegation.
	KeySubagentStatus = "subagent_status"
	// KeySubagentStopReason is the limit that ended the task early, such as "turn_capped".
	KeySubagentStopReason = "subagent_stop_reason"
	// KeySubagentBrief is the beginning of the result, KeySubagentSHA256 the hash of all of it in hex. Completed tasks
	// only.
	KeySubagentBrief  = "subagent_result_brief"
	KeySubagentSHA256 = "subagent_result_sha256"
	// KeySubagentError says why a task is not completed.
	KeySubagentError = "subagent_error"
	// KeySubagentRun is the id of the run of a task that works in the background, by which later calls name it.
	KeySubagentRun = "subagent_run_id"
)
