package lead

import (
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/middleware/backgroundtasks"
	"github.com/pudu-ai/pudu/internal/middleware/clarification"
	"github.com/pudu-ai/pudu/internal/middleware/danglingtoolcall"
	"github.com/pudu-ai/pudu/internal/middleware/durablecontext"
	"github.com/pudu-ai/pudu/internal/middleware/filehistory"
	"github.com/pudu-ai/pudu/internal/middleware/inputsanitization"
	"github.com/pudu-ai/pudu/internal/middleware/llmerror"
	"github.com/pudu-ai/pudu/internal/middleware/modellength"
	"github.com/pudu-ai/pudu/internal/middleware/readbeforewrite"
	sandboxmw "github.com/pudu-ai/pudu/internal/middleware/sandbox"
	"github.com/pudu-ai/pudu/internal/middleware/sandboxaudit"
	"github.com/pudu-ai/pudu/internal/middleware/skilltoolpolicy"
	"github.com/pudu-ai/pudu/internal/middleware/systemmessages"
	"github.com/pudu-ai/pudu/internal/middleware/terminalresponse"
	"github.com/pudu-ai/pudu/internal/middleware/threaddata"
	"github.com/pudu-ai/pudu/internal/middleware/tokenusage"
	"github.com/pudu-ai/pudu/internal/middleware/toolerror"
	"github.com/pudu-ai/pudu/internal/middleware/toolresultsanitization"
	"github.com/pudu-ai/pudu/internal/middleware/uploads"
)

// Place is one row of the chain: a middleware, when a run has it, and why it stands where it stands.
type Place struct {
	// Name is the middleware's on the wire.
	Name string
	// For says what it does.
	For string
	// When is the condition in words, empty for always. It is what make checks.
	When string
	// Config is the section of the configuration that tunes it; empty if none does.
	Config string
	// Why says what its place among the others is for.
	Why string
	// Lead says that a sub-agent does not have it.
	Lead bool
	// Later names the system that the middleware comes with, where that is not built yet. Then there is no make.
	Later string

	make func(c *Config) agent.Middleware // nil from it: the run does not have it
}

// Chain is the ordered list of the middlewares of a run. The first is the outermost around the calls of model and
// tools; before-hooks run in this order, after-hooks in the reverse one.
func Chain(c Config) []agent.Middleware {
	chain := make([]agent.Middleware, 0, len(places)+len(c.Program.Middlewares)+len(c.Program.Inside))
	for _, p := range places {
		if p.Name == customName {
			chain = append(chain, c.Program.Middlewares...)
		} else if p.make != nil && !slices.Contains(c.Program.Without, p.Name) && (!p.Lead || c.Task == nil) {
			if m := p.make(&c); m != nil {
				chain = append(chain, m)
			}
		}
	}
	return append(chain, c.Program.Inside...)
}

// customName is the place of the middlewares of a program that embeds the agent.
const customName = "(your own)"

// Places are the rows of the chain, in order. docs/middlewares.md is made of them.
func Places() []Place { return slices.Clone(places) }

// places is the chain. It never changes.
var places = []Place{
	{
		Name: "InputSanitizationMiddleware",
		For: "marks where the user's words begin and end, and takes the power out of tags in them that look like " +
			"the program's own",
		Why:  "the outermost: whatever an inner one adds to the request is the program's and stays as it is",
		make: func(*Config) agent.Middleware { return inputsanitization.New() },
	}, {
		Name: "ToolOutputBudgetMiddleware", Config: "tool_output", When: "tool_output.enabled",
		For: "puts a result that is too long into a file and shows the model what kind of thing it is, its start " +
			"and its end",
		Why:  "outside of what makes and checks results, so that it has the last word on their length",
		make: outputBudget,
	}, {
		Name: "ToolResultSanitizationMiddleware",
		For:  "takes the power out of tags in what the web has answered",
		Why:  "inside the output budget: what is put into a file and what is shown of it are both harmless",
		make: func(*Config) agent.Middleware { return toolresultsanitization.New(toolresultsanitization.Config{}) },
	}, {
		Name: "ThreadDataMiddleware",
		For:  "writes the thread's folders into the state and marks the user's message with its run",
		Why:  "before anything looks for either",
		make: func(*Config) agent.Middleware { return threaddata.New() },
	}, {
		Name: "UploadsMiddleware", Lead: true,
		For:  "tells the model once of each new file of the user, with its size and outline",
		Why:  "needs the folders; the message must be complete before its first request",
		make: func(c *Config) agent.Middleware { return uploads.New(uploads.Config{Files: c.files()}) },
	}, {
		Name: "SandboxMiddleware", Config: "sandbox",
		For: "notes the sandbox in the state with the first result that used it, and parks it at the run's end",
		Why: "outside of the tools' error handling: the sandbox is noted whatever became of the call",
		make: func(c *Config) agent.Middleware {
			return sandboxmw.New(sandboxmw.Config{Space: c.Thread.Space, Release: c.Thread.Park})
		},
	}, {
		Name: "DanglingToolCallMiddleware",
		For: "makes any history valid for strict providers: answers open calls, drops orphans, puts results behind " +
			"their calls",
		Why: "outside of the model's error handling, so that each try sends the same; what is inside adds only at " +
			"the end",
		make: func(*Config) agent.Middleware { return danglingtoolcall.New() },
	}, {
		Name:   "LLMErrorHandlingMiddleware",
		Config: "llm_call, circuit_breaker, models[].fallbacks, models[].rate_limit",
		For: "tries failed model calls again, goes on with the next model of the list, has calls take their turn, " +
			"and answers with an explanation when no model does",
		Why: "around all that prepares the request, so that each try, and each model that is asked, has it prepared " +
			"anew",
		make: func(c *Config) agent.Middleware { return llmerror.New(c.calls()) },
	}, {
		Name: authorizationName, Config: "authorization", When: "authorization.enabled",
		For:  "lets a role use the tools that its policy allows",
		Why:  "before the explicit rules, and before anything that the call could change",
		make: authorization,
	}, {
		Name: "GuardrailMiddleware", Config: "guardrails", When: "guardrails.enabled",
		For: "allows, denies, or asks a person who has not approved such calls before, by rules on tool, arguments " +
			"and the trust of what the model has read",
		Why:  "a denied call is neither audited nor run",
		make: explicitRules,
	}, {
		Name: "SandboxAuditMiddleware",
		For: "reads each bash command with a shell's parser, keeps a record of the verdict, and refuses what only " +
			"does harm",
		Why:  "sees the command as it was approved",
		make: func(c *Config) agent.Middleware { return sandboxaudit.New(sandboxaudit.Config{Log: c.Log}) },
	}, {
		Name: "ReadBeforeWriteMiddleware", Config: "read_before_write", When: "read_before_write.enabled",
		For: "keeps the model from changing a file whose present content it does not know",
		Why: "checks right before the tool runs, and marks what the tool has read or written",
		make: func(c *Config) agent.Middleware {
			return having(c.Settings.ReadBeforeWrite.Enabled,
				readbeforewrite.New(readbeforewrite.Config{Files: c.files()}))
		},
	}, {
		Name: "ToolProgressMiddleware", Config: "tool_progress", When: "tool_progress.enabled",
		For: "notices a tool that keeps failing or brings the same again, says so, and blocks it when nothing can " +
			"help",
		Why:  "outside of the tools' error handling, whose judgement of a result it counts",
		make: toolProgress,
	}, {
		Name: "ToolErrorHandlingMiddleware",
		For:  "turns a tool's failure into a result that the model can act on, and says of each result how it went",
		Why:  "next to the tools",
		make: func(*Config) agent.Middleware { return toolerror.New() },
	}, {
		Name: "FileHistoryMiddleware",
		For:  "has the history of the thread's files notice what each call changes, so that it can be shown and undone",
		Why:  "inside the tools' error handling: what a call has changed is noticed whatever became of it",
		make: func(c *Config) agent.Middleware {
			t := c.Thread
			return having(t.History != nil, filehistory.New(filehistory.Config{
				History: t.History, Run: t.HistoryRun, Within: subagents.Tools(), Log: c.Log,
			}))
		},
	}, {
		Name: "DynamicContextMiddleware",
		For: "tells the model the date, once at the start and once on each new day, and which packages the " +
			"sandbox's Python has",
		Why:  "after the uploads: what it tells comes behind the finished message",
		make: changing,
	}, {
		Name: "SkillActivationMiddleware", Config: "skills", When: "skills are switched on",
		For: "tells the model which skills there are, when the thread begins and when that has changed, and gives " +
			"it the text of the one that a message names with a slash",
		Why:  "behind the date, so that the user's message stays the first of its turn",
		make: taught,
	}, {
		Name: "SkillToolPolicyMiddleware", When: "skills are switched on",
		For: "refuses calls of tools that the skills in use do not allow",
		Why: "next to the activation, which says what is in use",
		make: func(c *Config) agent.Middleware {
			return having(c.Skills != nil, skilltoolpolicy.New(skilltoolpolicy.Config{Skills: c.Skills}))
		},
	}, {
		Name: "DurableContextMiddleware",
		For: "remembers the tasks given away and the skills read, and shows the model the conversation as the last " +
			"compaction left it",
		Why: "before the summarization, which freezes what is remembered",
		make: func(c *Config) agent.Middleware {
			return durablecontext.New(durablecontext.Config{ReadTools: c.Settings.Summarization.SkillFileReadTool})
		},
	}, {
		Name: "SkillSecretsMiddleware", When: "skills are switched on",
		For: "gives commands the secrets that the skills in use declare and the request has brought, says which are " +
			"missing, and takes the values out of what tools bring",
		Why: "behind the row above, which knows the skills that were read, and inside the tools' error handling, so " +
			"that no error has a value either",
		make: func(c *Config) agent.Middleware {
			return having(c.Secrets != nil, c.Secrets)
		},
	}, {
		Name: "BackgroundTasksMiddleware", Config: "subagents", When: "subagent_enabled",
		For: "has an answer that would end the run wait for the tasks in the background first",
		Why: "after-hooks run backwards: it sees the answer as the guards below have left it, and the tasks as the " +
			"durable context knows them",
		make: func(c *Config) agent.Middleware { return having(c.Options.Subagents, backgroundtasks.New()) },
	}, {
		Name: "DeerFlowSummarizationMiddleware", Config: "summarization",
		For: "compacts a conversation that grows too long, and sends nothing that the model's window cannot take",
		Why: "after everything that adds to the conversation before a call, and inside the model's error handling, " +
			"to which it reports what does not fit",
		make: summary,
	}, {
		Name: "TodoMiddleware", Lead: true, When: "is_plan_mode",
		For: "gives the model a plan to keep (write_todos), and reminds it of the plan when it is out of sight or " +
			"left unfinished",
		Why:  "behind the summarization, which decides what is in sight",
		make: plan,
	}, {
		Name: "TokenUsageMiddleware", Lead: true, Config: "token_usage", When: "token_usage.enabled",
		For:  "writes on each answer what its tokens were spent for, and adds those of sub-agents",
		Why:  "after-hooks run backwards: it sees the answer as the guards below have left it",
		make: func(c *Config) agent.Middleware { return having(c.Settings.TokenUsage.Enabled, tokenusage.New()) },
	}, {
		Name: "TitleMiddleware", Lead: true, Config: "title", When: "title.enabled",
		For: "names the thread, at once by the user's first words, then beside the work by a model if one is " +
			"configured",
		Why:  "touches nothing that others look at",
		make: threadTitle,
	}, {
		Name: "MemoryMiddleware", Lead: true, Config: "memory", When: "memory.enabled, memory.injection_enabled",
		For: "tells the model what is remembered of the user, when the thread begins, when that has changed, and " +
			"when it is out of sight",
		Why: "behind the date, so that the user's message stays the first of its turn, and behind the compaction, " +
			"which decides what is in sight",
		make: remembered,
	}, {
		Name: "ViewImageMiddleware", When: "the model has vision",
		For:  "shows the model the images it looked at, from the files, downscaled",
		Why:  "inside the compaction, which decides which images are still in sight",
		make: images,
	},
	{Name: "McpRoutingMiddleware", For: "promotes the deferred tools that the user's words call for", Later: "MCP"},
	{Name: "DeferredToolFilterMiddleware", For: "keeps deferred tools out of the request until they are asked for",
		Later: "MCP"},
	{
		Name: "SystemMessageCoalescingMiddleware",
		For: "sends system messages that others have put into the request in their places, as the providers take " +
			"them, so that the system prompt never changes",
		Why:  "behind all that adds messages to the request",
		make: func(*Config) agent.Middleware { return systemmessages.New() },
	}, {
		Name: "SubagentLimitMiddleware", Config: "subagents", When: "subagent_enabled",
		For:  "answers the tasks beyond the limits of a message and of a run with what the limit is",
		Why:  "before the counting below, which then counts what really runs",
		make: taskLimit,
	}, {
		Name: "LoopDetectionMiddleware", Config: "loop_detection", When: "loop_detection.enabled",
		For:  "notices that the same calls bring the same again, warns, and then has the model sum up",
		Why:  "looks at the results of the whole step",
		make: loops,
	}, {
		Name: "TokenBudgetMiddleware", Config: "token_budget, models[].pricing", When: "token_budget.enabled",
		For:  "counts tokens and money of the run, warns, and at the limit has the model sum up",
		Why:  "next to the model, so that it counts every answer, also those that are not kept",
		make: budget,
	}, {
		Name: customName,
		For:  "what a program that embeds the agent adds",
		Why:  "sees calls and answers as the model gives them, and the three below still guard the end",
	}, {
		Name: "TerminalResponseMiddleware",
		For:  "asks once more when an answer is blank, and says so when it stays blank",
		Why:  "after-hooks run backwards: it judges the answer as the safety row has left it",
		make: func(*Config) agent.Middleware { return terminalresponse.New() },
	}, {
		Name: "ModelLengthFinishReasonMiddleware",
		For:  "notes that the run's last answer was cut off by the model's limit",
		Why:  "looks at the end of the run alone",
		make: func(*Config) agent.Middleware { return modellength.New() },
	}, {
		Name: "SafetyFinishReasonMiddleware", Config: "safety_finish_reason", When: "safety_finish_reason.enabled",
		For:  "keeps the calls of an answer that the provider has cut for its content from running, and explains it",
		Why:  "the innermost around the model: nobody acts on such an answer",
		make: safety,
	}, {
		Name: "ClarificationMiddleware",
		For:  "turns a question of the model into one that clients show, and ends the turn",
		Why:  "always the last, so the innermost around the tools: a question never reaches a tool",
		make: func(c *Config) agent.Middleware {
			return clarification.New(clarification.Config{Disabled: c.Options.NoClarification || c.Task != nil})
		},
	},
}
