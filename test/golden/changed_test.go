package golden

const (
	supported   = "the original refuses it, Pudu supports it"
	anyID       = "ids of threads need not be UUIDs, as in DeerFlow"
	conflict    = "a busy thread is a conflict, as in LangGraph's own server and in DeerFlow"
	noBody      = "a body without which all has a default may be missing, as with LangGraph"
	badMessage  = "what does not fit the schema is 422, a message as all else; DeerFlow says 400 for some"
	jsBusy      = "the JavaScript server takes a missing thread for a busy one; it is not found"
	listOfNone  = "a list of what is not there is empty, as in DeerFlow"
	notFound    = "what is not there is not found, as in DeerFlow; the JavaScript server streams nothing"
	unknownName = "an assistant that there is not is not found; DeerFlow takes any name for the standard one"
)

// changed lists what we answer otherwise on purpose. Of a changed status only that the error says why is compared.
func changed() []Rule {
	return []Rule{
		{Recording: "gateway/10-thread-create", N: []int{1, 5}, From: 422, Status: 200, Reason: noBody},
		{Recording: "gateway/10-thread-create", N: []int{8}, From: 200, Status: 409, Reason: "if_exists is kept, as with LangGraph; DeerFlow reads over it"},
		{Recording: "gateway/10-thread-create", N: []int{17}, From: 422, Status: 200, Reason: "null stands for what is not given, as with LangGraph"},
		{Recording: "gateway/10-thread-create", N: []int{21}, From: 307, Status: 200, Reason: "a last slash is read over instead of sending the client on"},
		{Recording: "gateway/11-thread-get", N: []int{7}, From: 405, Status: 200, Reason: "HEAD is answered wherever GET is"},
		{Recording: "gateway/12-thread-search", N: []int{19}, From: 422, Status: 200, Reason: noBody},
		{Recording: "gateway/12-thread-search", N: []int{20}, From: 405, Status: 200, Reason: supported},
		{Recording: "gateway/14-thread-delete", N: []int{7}, From: 200, Status: 404, Reason: "with a thread its runs are deleted; DeerFlow keeps them in its memory"},
		{Recording: "gateway/21-state-update", N: []int{9}, From: 200, Status: 404, Reason: "a checkpoint that there is not is not found; DeerFlow reads over the checkpoint as an object"},
		{Recording: "gateway/21-state-update", N: []int{12}, From: 422, Status: 200, Reason: supported},
		{Recording: "gateway/22-history", N: []int{7, 9}, From: 422, Status: 200, Reason: supported},
		{Recording: "gateway/22-history", N: []int{12}, From: 422, Status: 200, Reason: noBody},
		{Recording: "gateway/30g-stream-custom-and-refused", N: []int{3}, From: 422, Status: 200, Reason: supported},
		{Recording: "gateway/40-runs-create-list-get", N: []int{12}, From: 404, Status: 200, Reason: supported},
		{Recording: "gateway/40-runs-create-list-get", N: []int{15}, From: 500, Status: 404, Reason: unknownName},
		{Recording: "gateway/40-runs-create-list-get", N: []int{16, 18}, From: 200, Status: 404, Reason: unknownName},
		{Recording: "gateway/40-runs-create-list-get", N: []int{20, 21, 22}, From: 400, Status: 422, Reason: badMessage},
		{Recording: "gateway/41-join", N: []int{2}, From: 200, Reason: "join answers with the state as JSON, as with LangGraph; DeerFlow streams there"},
		{Recording: "gateway/44-cancel", N: []int{27}, From: 204, Status: 200, Reason: "a GET reads; only a POST cancels"},
		{Recording: "gateway/47-interrupts-and-forks", N: []int{14}, From: 400, Status: 422, Reason: "a checkpoint of another thread does not fit the schema"},
		{Recording: "gateway/47-interrupts-and-forks", N: []int{17}, From: 422, Status: 200, Reason: supported},
		{Recording: "gateway/54-artifacts", N: []int{2}, From: 405, Status: 200, Reason: "HEAD is answered wherever GET is"},
		{Recording: "gateway/54-artifacts", N: []int{37}, From: 307, Status: 400, Reason: "a path is missing, and the answer says so instead of sending the client on"},
		{Recording: "gateway/54-artifacts", N: []int{55}, From: 200, Status: 404, Reason: "a line break belongs to the name; DeerFlow drops it"},
		{Recording: "gateway/54-artifacts", N: []int{78}, From: 404, Status: 400, Reason: "a path is resolved before it is judged; DeerFlow judges it first, so that a file outside the outputs can be saved"},
		{Recording: "gateway/54-artifacts", N: []int{79}, From: 200, Status: 400, Reason: "a path is resolved before it is judged; DeerFlow judges it first, so that a file outside the outputs can be saved"},
		{Recording: "gateway/71-agents", N: []int{6, 17}, From: 500, Status: 422, Reason: "a name that no folder can have is refused as other bad names; DeerFlow's file system fails"},
		{Recording: "gateway/71-agents", N: []int{37}, From: 500, Status: 422, Reason: "a description is never null; DeerFlow writes it and cannot read the agent any more"},
		{Recording: "gateway/71-agents", N: []int{38, 39}, From: 500, Status: 200, Reason: "the description that breaks DeerFlow's agent was not taken"},
		{Recording: "gateway/79-memory", N: []int{18}, From: 200, Status: 409, Reason: "two facts never say the same; DeerFlow lets a change make them so"},
		{Recording: "langgraph/00-meta-ok-info", N: []int{6}, From: 200, Status: 403, Reason: "pages of other origins may not write unless the configuration names them, as in DeerFlow"},
		{Recording: "langgraph/04-assistants-crud", N: []int{9}, From: 200, Status: 404, Reason: "an assistant of a graph that there is not could never run"},
		{Recording: "langgraph/10-thread-create", N: []int{4}, From: 409, Status: 200, Reason: "to make a thread that is there again gives that thread, as in DeerFlow"},
		{Recording: "langgraph/13-thread-patch", N: []int{5}, From: 400, Status: 200, Reason: "a change of nothing is none, as in DeerFlow"},
		{Recording: "langgraph/14-thread-copy", N: []int{7}, From: 409, Status: 404, Reason: jsBusy},
		{Recording: "langgraph/15-thread-delete", N: []int{2}, From: 204, Status: 200, Reason: "DeerFlow's answer has a body, and its web client reads it"},
		{Recording: "langgraph/21-state-update", N: []int{6}, From: 500, Status: 200, Reason: "a node that there is not may stand as the writer, as in DeerFlow"},
		{Recording: "langgraph/21-state-update", N: []int{8}, From: 400, Status: 200, Reason: "a thread that never ran may be written, as in DeerFlow"},
		{Recording: "langgraph/23-history", N: []int{3}, From: 400, Status: 200, Reason: supported},
		{Recording: "langgraph/23-history", N: []int{8}, From: 404, Status: 200, Reason: listOfNone},
		{Recording: "langgraph/36-stateless-stream-wait-create", N: []int{4}, From: 404, Status: 200, Reason: "the thread of a run without one is kept, as in DeerFlow"},
		{Recording: "langgraph/37-runs-batch", N: []int{2}, From: 400, Status: 200, Reason: "an empty list of runs starts none"},
		{Recording: "langgraph/44-cancel-interrupt", N: []int{7}, From: 204, Status: 202, Reason: "who does not wait for the end hears that it is on its way, as in DeerFlow"},
		{Recording: "langgraph/45-cancel-rollback", N: []int{4}, From: 204, Status: 202, Reason: "who does not wait for the end hears that it is on its way, as in DeerFlow"},
		{Recording: "langgraph/47-cancel-errors", N: []int{4}, From: 204, Status: 409, Reason: "a run that ended can not be cancelled, as in DeerFlow"},
		{Recording: "langgraph/47-cancel-errors", N: []int{10}, From: 404, Status: 200, Reason: "a run that was rolled back is kept and says so, as in DeerFlow"},
		{Recording: "langgraph/47-cancel-errors", N: []int{11}, From: 400, Status: 422, Reason: "what does not fit the schema is 422, as in LangGraph's own server and in DeerFlow"},
		{Recording: "langgraph/48a-multitask-reject", N: []int{3, 8}, From: 422, Status: 409, Reason: conflict},
		{Recording: "langgraph/48a-multitask-reject", N: []int{10}, From: 204, Status: 200, Reason: "DeerFlow's answer has a body, and its web client reads it"},
		{Recording: "langgraph/63-not-found", N: []int{4}, From: 404, Status: 200, Reason: listOfNone},
		{Recording: "langgraph/63-not-found", N: []int{7, 14}, From: 200, Status: 404, Reason: notFound},
		{Recording: "langgraph/64-validation", N: []int{2}, From: 400, Status: 200, Reason: "an assistant need not be named, as in DeerFlow"},
		{Recording: "langgraph/64-validation", N: []int{5}, From: 400, Status: 200, Reason: noBody},
		{Recording: "langgraph/64-validation", N: []int{6}, From: 400, Status: 404, Reason: anyID},
		{Recording: "langgraph/64-validation", N: []int{14}, From: 400, Status: 200, Reason: anyID},
		{Recording: "langgraph/64-validation", N: []int{12}, From: 400, Status: 200, Reason: "nothing has a status that is unknown, so nothing is found"},
		{Recording: "langgraph/64-validation", N: []int{18, 19}, From: 200, Status: 422, Reason: badMessage},
		{Recording: "langgraph/64-validation", N: []int{3, 4, 7, 8, 11, 15, 16, 17}, From: 400, Status: 422, Reason: "what does not fit the schema is 422, as in LangGraph's own server and in DeerFlow"},
		{Recording: "langgraph/65-if-not-exists", N: []int{6}, From: 422, Status: 404, Reason: jsBusy},
		{Recording: "langgraph/80-sdk-assistants-threads", N: []int{11}, From: 204, Status: 200, Reason: "DeerFlow's answer has a body, and its web client reads it"},
		{Recording: "langgraph/82-sdk-wait-create-join", N: []int{10}, From: 204, Status: 202, Reason: "who does not wait for the end hears that it is on its way, as in DeerFlow"},
		{Recording: "langgraph/86-sdk-errors", N: []int{4}, From: 422, Status: 409, Reason: conflict},
	}
}
