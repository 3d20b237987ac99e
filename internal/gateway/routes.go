package gateway

import (
	"net/http"
	"strings"
)

// Route is one entry of the list of routes.
type Route struct {
	Method string
	// Path is below the mount points, with parameters as in http.ServeMux.
	Path string
	// Group is whose route it is, for the documentation; Summary is one line for people.
	Group, Summary string

	handle func(s *Server, w http.ResponseWriter, r *http.Request) error
}

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	remove = http.MethodDelete
)

// Template is the path as OpenAPI writes it, each parameter in braces by its name alone.
func (r Route) Template() string { return strings.NewReplacer("...}", "}", "{$}", "").Replace(r.Path) }

// Routes is THE list of routes.
func Routes() []Route {
	return []Route{
		{post, "/assistants", "assistants", "Create an assistant", (*Server).createAssistant},
		{post, "/assistants/search", "assistants", "List assistants", (*Server).searchAssistants},
		{post, "/assistants/count", "assistants", "Count assistants", (*Server).countAssistants},
		{get, "/assistants/{assistant_id}", "assistants", "Look at an assistant", (*Server).getAssistant},
		{patch, "/assistants/{assistant_id}", "assistants", "Make a new version of an assistant", (*Server).patchAssistant},
		{remove, "/assistants/{assistant_id}", "assistants", "Remove an assistant", (*Server).deleteAssistant},
		{post, "/assistants/{assistant_id}/versions", "assistants", "List the versions of an assistant", (*Server).assistantVersions},
		{post, "/assistants/{assistant_id}/latest", "assistants", "Put a version of an assistant in force", (*Server).latestAssistant},
		{get, "/assistants/{assistant_id}/graph", "assistants", "Look at the agent as a graph", (*Server).assistantGraph},
		{get, "/assistants/{assistant_id}/schemas", "assistants", "Look at the schemas of state and settings", (*Server).assistantSchemas},
		{get, "/assistants/{assistant_id}/subgraphs", "assistants", "List the graphs inside", (*Server).assistantSubgraphs},
		{get, "/assistants/{assistant_id}/subgraphs/{namespace}", "assistants", "Look at a graph inside", (*Server).assistantSubgraphs},
		{post, "/threads", "threads", "Create a thread", (*Server).createThread},
		{post, "/threads/search", "threads", "List threads", (*Server).searchThreads},
		{post, "/threads/count", "threads", "Count threads", (*Server).countThreads},
		{get, "/threads/{thread_id}", "threads", "Look at a thread", (*Server).getThread},
		{patch, "/threads/{thread_id}", "threads", "Change the metadata of a thread", (*Server).patchThread},
		{remove, "/threads/{thread_id}", "threads", "Remove a thread with its files", (*Server).deleteThread},
		{post, "/threads/{thread_id}/copy", "threads", "Copy a thread and its states", (*Server).copyThread},
		{get, "/threads/{thread_id}/state", "state", "Look at the state of a thread", (*Server).getState},
		{post, "/threads/{thread_id}/state", "state", "Change the state of a thread", (*Server).postState},
		{patch, "/threads/{thread_id}/state", "state", "Change the metadata of a thread", (*Server).patchThread},
		{get, "/threads/{thread_id}/state/{checkpoint_id}", "state", "Look at the state at a checkpoint", (*Server).getStateAt},
		{post, "/threads/{thread_id}/state/checkpoint", "state", "Look at the state at a checkpoint", (*Server).postStateAt},
		{get, "/threads/{thread_id}/history", "state", "List the states of a thread, the newest first", (*Server).getHistory},
		{post, "/threads/{thread_id}/history", "state", "List the states of a thread, the newest first", (*Server).postHistory},
		{post, "/threads/{thread_id}/runs", "runs", "Start a run in the background", (*Server).createRun},
		{get, "/threads/{thread_id}/runs", "runs", "List the runs of a thread, the newest first", (*Server).listRuns},
		{post, "/threads/{thread_id}/runs/stream", "runs", "Start a run and stream what happens", (*Server).streamRun},
		{post, "/threads/{thread_id}/runs/wait", "runs", "Start a run and wait for the state that it ends with", (*Server).waitRun},
		{get, "/threads/{thread_id}/runs/{run_id}", "runs", "Look at a run", (*Server).getRun},
		{remove, "/threads/{thread_id}/runs/{run_id}", "runs", "Remove a run that has ended", (*Server).deleteRun},
		{post, "/threads/{thread_id}/runs/{run_id}/cancel", "runs", "Cancel a run", (*Server).cancelRun},
		{get, "/threads/{thread_id}/runs/{run_id}/join", "runs", "Follow a run, or wait for its last state", (*Server).joinRun},
		{get, "/threads/{thread_id}/runs/{run_id}/stream", "runs", "Follow a run from any of its events on", (*Server).followRun},
		{post, "/threads/{thread_id}/runs/{run_id}/stream", "runs", "Follow a run, or cancel it first", (*Server).followRun},
		{get, "/threads/{thread_id}/runs/{run_id}/log", "runs", "Follow a run as it is kept: its events as JSON lines, from the one behind after on", (*Server).runLog},
		{get, "/threads/{thread_id}/stream", "runs", "Follow the runs of a thread, one after the other", (*Server).followThread},
		{post, "/runs", "stateless runs", "Start a run on a thread of its own", (*Server).createStateless},
		{post, "/runs/stream", "stateless runs", "Start a run on a thread of its own and stream what happens", (*Server).streamStateless},
		{post, "/runs/wait", "stateless runs", "Start a run on a thread of its own and wait for the state that it ends with", (*Server).waitStateless},
		{post, "/runs/batch", "stateless runs", "Start many runs", (*Server).batchRuns},
		{post, "/runs/cancel", "stateless runs", "Cancel many runs", (*Server).cancelRuns},
		{get, "/runs/{run_id}", "stateless runs", "Look at a run", (*Server).getRun},
		{remove, "/runs/{run_id}", "stateless runs", "Remove a run that has ended", (*Server).deleteRun},
		{post, "/runs/{run_id}/cancel", "stateless runs", "Cancel a run", (*Server).cancelRun},
		{get, "/runs/{run_id}/join", "stateless runs", "Follow a run, or wait for its last state", (*Server).joinRun},
		{get, "/runs/{run_id}/stream", "stateless runs", "Follow a run from any of its events on", (*Server).followRun},
		{put, "/store/items", "store", "Add or replace an item", (*Server).putItem},
		{get, "/store/items", "store", "Look at an item", (*Server).getItem},
		{remove, "/store/items", "store", "Remove an item", (*Server).deleteItem},
		{post, "/store/items/search", "store", "List items", (*Server).searchItems},
		{post, "/store/namespaces", "store", "List the namespaces of items", (*Server).searchNamespaces},

		{post, "/threads/{thread_id}/uploads", "files", "Upload files to a thread, which need not be there yet", (*Server).uploadFiles},
		{get, "/threads/{thread_id}/uploads/limits", "files", "What an upload may bring", (*Server).uploadLimits},
		{get, "/threads/{thread_id}/uploads/list", "files", "List the uploads of a thread", (*Server).listUploads},
		{remove, "/threads/{thread_id}/uploads/{filename}", "files", "Remove an upload", (*Server).deleteUpload},
		{get, "/threads/{thread_id}/artifacts/{path...}", "files", "Download a file of a thread, or a part of it", (*Server).getArtifact},
		{put, "/threads/{thread_id}/artifacts/{path...}", "files", "Change the text of a file in the outputs", (*Server).saveArtifact},

		{get, "/models", "models", "List the models that a run may name", (*Server).models},
		{get, "/models/{name...}", "models", "Look at a model", (*Server).model},
		{get, "/features", "models", "What DeerFlow's web client can show", (*Server).features},

		{get, "/health", "operations", "The process is there", (*Server).health},
		{get, "/ok", "operations", "The same, for LangGraph's clients", (*Server).ok},
		{get, "/ready", "operations", "Runs can be taken", (*Server).ready},
		{get, "/info", "operations", "What is served", (*Server).info},
		{get, "/metrics", "operations", "Figures for Prometheus", (*Server).metrics},
		{get, "/openapi.json", "operations", "This list as OpenAPI", (*Server).openAPI},
		{get, "/docs", "operations", "This list for people", (*Server).docs},
		{get, "/{$}", "operations", "The start page", (*Server).page},
	}
}
