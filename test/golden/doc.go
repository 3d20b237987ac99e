// Package golden replays recorded HTTP exchanges of other servers of the same API against ours: DeerFlow's gateway and
// LangGraph's JavaScript server. A recording holds the requests as they were sent, with the ids as variables, and of
// the responses what a client may rely on: status, some headers, the keys and types of JSON, the events of a stream; of
// agents, skills and memory the values too, as they follow from the requests alone.
//
// The recordings are in testdata, one file per trace, one exchange a line. TestConvert makes them from traces.
// What is not replayed, or is answered otherwise, stands in tables with its reason: left_out_test.go, changed_test.go
// and excused_test.go, each line for exchanges of one recording. The tables must fit the recordings exactly.
package golden
