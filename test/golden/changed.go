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
		{Recordings: "langgraph/65-*", N: []int{6}, From: 422, Status: 404, Reason: jsBusy},
		{Recordings: "langgraph/14-*", N: []int{7}, From: 409, Status: 404, Reason: jsBusy},
		{Recordings: "langgraph/48*", From: 422, Status: 409, Reason: conflict},
		{Recordings: "langgraph/86-*", From: 422, Status: 409, Reason: conflict},
		{Recordings: "langgraph/*", Route: `DELETE /threads/\{id\}`, From: 204, Status: 200,
			Reason: "DeerFlow's answer has a body, and its web client reads it"},
		{Recordings: "gateway/*", Route: `HEAD .*`, From: 405, Status: 200, Reason: "HEAD is answered wherever GET is"},
		{Recordings: "langgraph/82-*", N: []int{10}, From: 204, Status: 202,
			Reason: "who does not wait for the end hears that it is on its way, as in DeerFlow"},
		{Recordings: "langgraph/4[45]-*", Route: `POST .*/cancel`, N: []int{4, 7}, From: 204, Status: 202,
			Reason: "who does not wait for the end hears that it is on its way, as in DeerFlow"},
		{Recordings: "langgraph/47-*", N: []int{4}, From: 204, Status: 409, Reason: "a run that ended can not be cancelled, as in DeerFlow"},
		{Recordings: "langgraph/47-*", N: []int{10}, From: 404, Status: 200, Reason: "a run that was rolled back is kept and says so, as in DeerFlow"},
		{Recordings: "langgraph/36-*", N: []int{4}, From: 404, Status: 200, Reason: "the thread of a run without one is kept, as in DeerFlow"},
		{Recordings: "langgraph/37-*", N: []int{2}, From: 400, Status: 200, Reason: "an empty list of runs starts none"},
		{Recordings: "langgraph/23-*", N: []int{3}, From: 400, Status: 200, Reason: supported},
		{Recordings: "langgraph/23-*", N: []int{8}, From: 404, Status: 200, Reason: listOfNone},
		{Recordings: "langgraph/63-*", N: []int{4}, From: 404, Status: 200, Reason: listOfNone},
		{Recordings: "langgraph/63-*", N: []int{7, 14}, From: 200, Status: 404, Reason: notFound},
		{Recordings: "langgraph/64-*", N: []int{2}, From: 400, Status: 200, Reason: "an assistant need not be named, as in DeerFlow"},
		{Recordings: "langgraph/64-*", N: []int{5}, From: 400, Status: 200, Reason: noBody},
		{Recordings: "langgraph/64-*", N: []int{6}, From: 400, Status: 404, Reason: anyID},
		{Recordings: "langgraph/64-*", N: []int{14}, From: 400, Status: 200, Reason: anyID},
		{Recordings: "langgraph/64-*", N: []int{12}, From: 400, Status: 200, Reason: "nothing has a status that is unknown, so nothing is found"},
		{Recordings: "langgraph/64-*", N: []int{18, 19}, From: 200, Status: 422, Reason: badMessage},
		{Recordings: "langgraph/13-*", N: []int{5}, From: 400, Status: 200, Reason: "a change of nothing is none, as in DeerFlow"},
		{Recordings: "langgraph/10-*", N: []int{4}, From: 409, Status: 200,
			Reason: "to make a thread that is there again gives that thread, as in DeerFlow"},
		{Recordings: "langgraph/04-*", N: []int{9}, From: 200, Status: 404, Reason: "an assistant of a graph that there is not could never run"},
		{Recordings: "langgraph/00-*", N: []int{6}, From: 200, Status: 403,
			Reason: "pages of other origins may not write unless the configuration names them, as in DeerFlow"},
		{Recordings: "langgraph/21-*", N: []int{6}, From: 500, Status: 200, Reason: "a node that there is not may stand as the writer, as in DeerFlow"},
		{Recordings: "langgraph/21-*", N: []int{8}, From: 400, Status: 200, Reason: "a thread that never ran may be written, as in DeerFlow"},
		{Recordings: "langgraph/*", From: 400, Status: 422, Reason: "what does not fit the schema is 422, as in LangGraph's own server and in DeerFlow"},

		{Recordings: "gateway/10-*", N: []int{1, 5}, From: 422, Status: 200, Reason: noBody},
		{Recordings: "gateway/10-*", N: []int{8}, From: 200, Status: 409, Reason: "if_exists is kept, as with LangGraph; DeerFlow reads over it"},
		{Recordings: "gateway/10-*", N: []int{17}, From: 422, Status: 200, Reason: "null stands for what is not given, as with LangGraph"},
		{Recordings: "gateway/10-*", N: []int{21}, From: 307, Status: 200, Reason: "a last slash is read over instead of sending the client on"},
		{Recordings: "gateway/12-*", N: []int{19}, From: 422, Status: 200, Reason: noBody},
		{Recordings: "gateway/12-*", N: []int{20}, From: 405, Status: 200, Reason: supported},
		{Recordings: "gateway/14-*", N: []int{7}, From: 200, Status: 404, Reason: "with a thread its runs are deleted; DeerFlow keeps them in its memory"},
		{Recordings: "gateway/21-*", N: []int{9}, From: 200, Status: 404,
			Reason: "a checkpoint that there is not is not found; DeerFlow reads over the checkpoint as an object"},
		{Recordings: "gateway/21-*", N: []int{12}, From: 422, Status: 200, Reason: supported},
		{Recordings: "gateway/22-*", N: []int{7, 9}, From: 422, Status: 200, Reason: supported},
		{Recordings: "gateway/22-*", N: []int{12}, From: 422, Status: 200, Reason: noBody},
		{Recordings: "gateway/30g-*", N: []int{3}, From: 422, Status: 200, Reason: supported},
		{Recordings: "gateway/40-*", N: []int{12}, From: 404, Status: 200, Reason: supported},
		{Recordings: "gateway/40-*", N: []int{15}, From: 500, Status: 404, Reason: unknownName},
		{Recordings: "gateway/40-*", N: []int{16, 18}, From: 200, Status: 404, Reason: unknownName},
		{Recordings: "gateway/40-*", N: []int{20, 21, 22}, From: 400, Status: 422, Reason: badMessage},
		{Recordings: "gateway/41-join", N: []int{2}, From: 200, Reason: "join answers with the state as JSON, as with LangGraph; DeerFlow streams there"},
		{Recordings: "gateway/44-cancel", N: []int{27}, From: 204, Status: 200, Reason: "a GET reads; only a POST cancels"},
		{Recordings: "gateway/47-*", N: []int{14}, From: 400, Status: 422, Reason: "a checkpoint of another thread does not fit the schema"},
		{Recordings: "gateway/47-*", N: []int{17}, From: 422, Status: 200, Reason: supported},
		{Recordings: "gateway/54-*", N: []int{37}, From: 307, Status: 400,
			Reason: "a path is missing, and the answer says so instead of sending the client on"},
		{Recordings: "gateway/54-*", N: []int{55}, From: 200, Status: 404, Reason: "a line break belongs to the name; DeerFlow drops it"},
		{Recordings: "gateway/54-*", N: []int{78}, From: 404, Status: 400,
			Reason: "a path is resolved before it is judged; DeerFlow judges it first, so that a file outside the outputs can be saved"},
		{Recordings: "gateway/54-*", N: []int{79}, From: 200, Status: 400,
			Reason: "a path is resolved before it is judged; DeerFlow judges it first, so that a file outside the outputs can be saved"},
	}
}
