package gateway

import (
	"cmp"

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

// group is a group of routes, with what it works with.
type group interface{ Routes() []route.Route }

// makeGroups makes the groups, in the order in which people are shown their routes.
func (s *Server) makeGroups() {
	own := &assistants.Group{
		Env: s.env, Assistants: s.Assistants, Agents: s.Agents, Models: s.Models, Started: s.About.Started,
	}
	s.runs = &runroutes.Group{
		Env: s.env, Manager: s.Manager, Hub: s.Hub, Models: s.Models, Answers: s.Answers, Assistant: own.Find,
	}
	s.pages = pages.New(pages.Config{Env: s.env, About: s.About, All: s.Routes})
	s.groups = []group{
		own, // also as graphs and schemas
		// a user's own agents, and his profile
		&agentroutes.Group{Agents: s.Agents, Memory: s.Memory, Off: s.AgentsOff, Models: s.Models},
		// threads, their states and histories
		&threads.Group{Env: s.env, Manager: s.Manager, Bin: s.Bin, Folders: s.Folders, Delete: s.DeleteThread},
		// folders of threads
		&folderroutes.Group{Env: s.env, Folders: s.Folders, Delete: s.DeleteFolder, News: s.News},
		// words in threads
		&searchroutes.Group{Env: s.env, Searches: s.Searches, Folders: s.Folders},
		// what is new, as one stream
		&newsroutes.Group{Env: s.env, News: s.News, Folders: s.Folders},
		s.runs, // on threads, and stateless
		// of calls to come
		&approvals.Group{Env: s.env, Approvals: s.Approvals},
		// messages by pages, events, versions, branches
		&historyroutes.Group{
			Env: s.env, Manager: s.Manager, Histories: s.Histories, Models: s.Models, Files: s.FileHistory,
			CloneFiles: s.CloneFiles, Memory: s.Memory,
		},
		// what is remembered of the caller
		&memoryroutes.Group{Env: s.env, Memory: s.Memory, News: s.News, Told: s.Told},
		// what an agent can be taught
		&skillroutes.Group{Env: s.env, Skills: s.Skills, Files: s.Files, News: s.News},
		// what happened in a run, and what models were sent
		&callroutes.Group{Env: s.env, Calls: s.Calls, Record: s.Record},
		// items and namespaces
		&storeroutes.Group{Env: s.env, Items: s.Items},
		// uploads and artifacts
		&files.Group{
			Env: s.env, Files: s.Files, Links: s.Links, Makers: s.Makers, History: s.FileHistory,
			FolderFiles: s.FolderFiles, FolderQuota: s.FolderQuota,
		},
		// what was changed in files, and back
		&filehistory.Group{Env: s.env, History: s.FileHistory},
		// models and features
		&models.Group{Env: s.env, Models: s.Models, Agents: !s.AgentsOff, Keeper: s.Keeper},
		// Python packages of the sandbox
		&toolboxroutes.Group{Env: s.env, Kit: s.Toolbox},
		// a browser signs in and out
		&sessions.Group{
			Env: s.env, Sessions: s.Sessions, Asks: s.Guard.asks, Secure: s.Guard.secure,
			Sum: cmp.Or(s.Browsers, &s.Guard).sum,
		},
		// health, info, metrics, OpenAPI
		&operations.Group{
			Env: s.env, About: s.About, Ready: s.Ready, Metrics: s.Metrics, Jobs: s.Jobs, Toolbox: s.Toolbox,
			All: s.Routes,
		},
		s.pages, // the user interface, and this list
	}
}

// Routes is THE list of routes: those of each group, in the order in which people are shown them. A group's own Routes
// says of each who may call it, what it is about, how much work it is and what it reads.
func (s *Server) Routes() (all []route.Route) {
	for _, g := range s.groups {
		all = append(all, g.Routes()...)
	}
	return all
}
