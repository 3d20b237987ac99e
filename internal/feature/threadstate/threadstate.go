// Package threadstate declares the channels of a thread's state that more than one feature reads or that clients know
// by name, beside the conversation itself, which the agent owns. A middleware or a tool that changes one of them
// returns an update made by the channel's Put; the reducers here say what such an update means. They are pure: neither
// argument is changed, and the same writes give the same state wherever they are replayed.
//
// Times are texts in RFC 3339, as clients get them.
package threadstate

import "github.com/pudu-ai/pudu/state"

// Channels whose last write wins.
var (
	// ThreadData holds the thread's folders.
	ThreadData = state.LastValue[ThreadPaths]("thread_data")
	// Title is the name of the thread that people see.
	Title = state.LastValue[string]("title")
	// UploadedFiles are the files that came with the newest user message. An empty list takes away those of the
	// message before.
	UploadedFiles = state.LastValue[[]UploadedFile]("uploaded_files")
	// SummaryText stands for the messages that were summarized and dropped.
	SummaryText = state.LastValue[string]("summary_text")
	// BackgroundTasks are the thread's tasks on MCP servers, as they were when the run started.
	BackgroundTasks = state.LastValue[[]BackgroundTask]("background_tasks")
)

// Channels returns all channels of the package that clients see.
func Channels() []state.AnyChannel {
	return []state.AnyChannel{
		Sandbox, ThreadData, Title, Artifacts, Todos, Goal, UploadedFiles, ViewedImages, Promoted, Delegations,
		SkillContext, SummaryText, BackgroundTasks,
	}
}

// Empties are the channels that clients see as empty until they are written.
func Empties() []state.Encoded { return empties[:] }

var empties = [...]state.Encoded{
	{Channel: Artifacts.Name(), Raw: []byte("[]")},
	{Channel: Delegations.Name(), Raw: []byte("[]")},
	{Channel: SkillContext.Name(), Raw: []byte("[]")},
	{Channel: ViewedImages.Name(), Raw: []byte("{}")},
}

// ThreadPaths are the thread's folders on the server.
type ThreadPaths struct {
	WorkspacePath string `json:"workspace_path"`
	UploadsPath   string `json:"uploads_path"`
	OutputsPath   string `json:"outputs_path"`
}

// BackgroundTask is a task that runs on an MCP server.
type BackgroundTask struct {
	TaskID    string `json:"task_id"`
	TaskName  string `json:"task_name"`
	Status    string `json:"status"`
	UpdatedAt string `json:"updated_at"`
}
