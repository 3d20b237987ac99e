package gateway

import (
	"cmp"
	"slices"

	agentroutes "github.com/pudu-ai/pudu/internal/gateway/agents"
	"github.com/pudu-ai/pudu/internal/gateway/approvals"
	"github.com/pudu-ai/pudu/internal/gateway/assistants"
	callroutes "github.com/pudu-ai/pudu/internal/gateway/calls"
	"github.com/pudu-ai/pudu/internal/gateway/filehistory"
	"github.com/pudu-ai/pudu/internal/gateway/files"
	folderroutes "github.com/pudu-ai/pudu/internal/gateway/folders"
	historyroutes "github.com/pudu-ai/pudu/internal/gateway/history"
	memoryroutes "github.com/pudu-ai/pudu/internal/gateway/memory"
	"github.com/pudu-ai/pudu/internal/gateway/models"
	newsroutes "github.com/pudu-ai/pudu/internal/gateway/news"
	"github.com/pudu-ai/pudu/internal/gateway/operations"
	"github.com/pudu-ai/pudu/internal/gateway/pages"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	runroutes "github.com/pudu-ai/pudu/internal/gateway/runs"
	searchroutes "github.com/pudu-ai/pudu/internal/gateway/search"
	"github.com/pudu-ai/pudu/internal/gateway/sessions"
	skillroutes "github.com/pudu-ai/pudu/internal/gateway/skills"
	storeroutes "github.com/pudu-ai/pudu/internal/gateway/store"
	"github.com/pudu-ai/pudu/internal/gateway/threads"
	toolboxroutes "github.com/pudu-ai/pudu/internal/gateway/toolbox"
)

// groups are the groups of routes, each with what it works with.
type groups struct {
	agents     *agentroutes.Group
	assistants *assistants.Group
	threads    *threads.Group
	folders    *folderroutes.Group
	search     *searchroutes.Group
	news       *newsroutes.Group
	runs       *runroutes.Group
	approvals  *approvals.Group
	history    *historyroutes.Group
	memory     *memoryroutes.Group
	skills     *skillroutes.Group
	calls      *callroutes.Group
	store      *storeroutes.Group
	files      *files.Group
	past       *filehistory.Group
	models     *models.Group
	toolbox    *toolboxroutes.Group
	sessions   *sessions.Group
	operations *operations.Group
	pages      *pages.Group
}

func (s *Server) newGroups() groups {
	own := assistants.New(assistants.Config{
		Env: s.env, Assistants: s.Assistants, Agents: s.Agents, Models: s.Models, Started: s.About.Started,
	})
	return groups{
		assistants: own,
		agents:     agentroutes.New(agentroutes.Config{Agents: s.Agents, Memory: s.Memory, Off: s.AgentsOff, Models: s.Models}),
		threads: threads.New(threads.Config{
			Env: s.env, Manager: s.Manager, Bin: s.Bin, Folders: s.Folders, Delete: s.DeleteThread,
		}),
		folders: folderroutes.New(folderroutes.Config{Env: s.env, Folders: s.Folders, Delete: s.DeleteFolder, News: s.News}),
		search:  searchroutes.New(searchroutes.Config{Env: s.env, Searches: s.Searches, Folders: s.Folders}),
		news:    newsroutes.New(newsroutes.Config{Env: s.env, News: s.News, Folders: s.Folders}),
		runs: runroutes.New(runroutes.Config{
			Env: s.env, Manager: s.Manager, Hub: s.Hub, Models: s.Models, Answers: s.Answers, Assistant: own.Find,
		}),
		approvals: approvals.New(approvals.Config{Env: s.env, Approvals: s.Approvals}),
		history: historyroutes.New(historyroutes.Config{
			Env: s.env, Manager: s.Manager, Histories: s.Histories, Models: s.Models, Files: s.FileHistory, CloneFiles: s.CloneFiles,
			Memory: s.Memory,
		}),
		memory: memoryroutes.New(memoryroutes.Config{Env: s.env, Memory: s.Memory, News: s.News, Told: s.Told}),
		skills: skillroutes.New(skillroutes.Config{Env: s.env, Skills: s.Skills, Files: s.Files, News: s.News}),
		calls:  callroutes.New(callroutes.Config{Env: s.env, Calls: s.Calls, Record: s.Record}),
		store:  storeroutes.New(storeroutes.Config{Env: s.env, Items: s.Items}),
		files: files.New(files.Config{
			Env: s.env, Files: s.Files, Links: s.Links, Makers: s.Makers, History: s.FileHistory, FolderFiles: s.FolderFiles, FolderQuota: s.FolderQuota,
		}),
		past:    filehistory.New(filehistory.Config{Env: s.env, History: s.FileHistory}),
		models:  models.New(models.Config{Env: s.env, Models: s.Models, Agents: !s.AgentsOff, Keeper: s.Keeper}),
		toolbox: toolboxroutes.New(toolboxroutes.Config{Env: s.env, Kit: s.Toolbox}),
		sessions: sessions.New(sessions.Config{
			Env: s.env, Sessions: s.Sessions, Asks: s.Guard.asks, Secure: s.Guard.secure, Sum: cmp.Or(s.Browsers, &s.Guard).sum,
		}),
		operations: operations.New(operations.Config{
			Env: s.env, About: s.About, Ready: s.Ready, Metrics: s.Metrics, Jobs: s.Jobs, Toolbox: s.Toolbox, All: s.Routes,
		}),
		pages: pages.New(pages.Config{Env: s.env, About: s.About, All: s.Routes}),
	}
}

// Routes is THE list of routes: those of each group, in the order in which people are shown them. A group's own Routes says of
// each who may call it, what it is about, how much work it is and what it reads.
func (s *Server) Routes() []route.Route {
	g := s.groups
	return slices.Concat(
		g.assistants.Routes(), // also as graphs and schemas
		g.agents.Routes(),     // a user's own agents, and his profile
		g.threads.Routes(),    // threads, their states and histories
		g.folders.Routes(),    // folders of threads
		g.search.Routes(),     // words in threads
		g.news.Routes(),       // what is new, as one stream
		g.runs.Routes(),       // on threads, and stateless
		g.approvals.Routes(),  // of calls to come
		g.history.Routes(),    // messages by pages, events, versions, branches
		g.memory.Routes(),     // what is remembered of the caller
		g.skills.Routes(),     // what an agent can be taught
		g.calls.Routes(),      // what happened in a run, and what models were sent
		g.store.Routes(),      // items and namespaces
		g.files.Routes(),      // uploads and artifacts
		g.past.Routes(),       // what was changed in files, and back
		g.models.Routes(),     // models and features
		g.toolbox.Routes(),    // Python packages of the sandbox
		g.sessions.Routes(),   // a browser signs in and out
		g.operations.Routes(), // health, info, metrics, OpenAPI
		g.pages.Routes(),      // the user interface, and this list
	)
}
