package openai

import "slices"

// dialects is the table of vendors: services, then software that people run themselves. The last one serves everybody
// else.
var dialects = slices.Concat(services, servers)

// The fields that many vendors share.
const (
	reasoningContent = "reasoning_content"
	reasoning        = "reasoning"
	reasoningEffort  = "reasoning_effort"

	typeEnabled  = `"thinking":{"type":"enabled"}`
	typeDisabled = `"thinking":{"type":"disabled"}`
	effortNone   = `"reasoning_effort":"none"`
	effortLow    = `"reasoning_effort":"low"`
)

// openAIModels are the efforts of OpenAI's reasoning models, here and at Azure, where a deployment is often called
// after its model. What cannot be switched off thinks as little as it can.
var openAIModels = []thinking{
	{models: "gpt-5*-pro*", effort: reasoningEffort, levels: words("medium high xhigh")},
	{models: "gpt-5*codex*", effort: reasoningEffort, levels: words("low medium high"), off: effortLow},
	{models: "gpt-5-chat* gpt-5.*-chat*"},
	{models: "gpt-5.1*", effort: reasoningEffort, levels: words("none low medium high"), off: effortNone},
	{models: "gpt-5.* gpt-[6-9]*", effort: reasoningEffort, levels: words("none low medium high xhigh"),
		off: effortNone},
	{models: "gpt-5*", effort: reasoningEffort, levels: words("minimal low medium high"),
		off: `"reasoning_effort":"minimal"`},
	{models: "o[1-9]*", effort: reasoningEffort, levels: words("low medium high"), off: effortLow},
	{effort: reasoningEffort},
}

var services = []dialect{
	{name: "openai", rules: &freely, hosts: []string{"api.openai.com"}, root: "/v1", maxTokens: "max_completion_tokens",
		strict: true, thinking: openAIModels},
	// The new address is …/openai/v1, the classic one …/openai/deployments/NAME, which needs a version.
	{name: "azure", rules: &freely, hosts: []string{"openai.azure.com", "cognitiveservices.azure.com",
		"services.ai.azure.com"}, root: "/openai/v1",
		version: "api-version=2024-10-21", keyIn: "Api-Key", maxTokens: "max_completion_tokens", strict: true,
		thinking: openAIModels},
	// Reasoning of turns with calls must be sent back, for good; of other turns it is ignored. So all of it goes back,
	// and the beginning of the request stays the same.
	{name: "deepseek", rules: &plainly, hosts: []string{"api.deepseek.com"}, replay: reasoningContent, blank: `""`,
		thinking: []thinking{{on: typeEnabled, off: typeDisabled, effort: reasoningEffort,
			levels: words("low medium high xhigh max")}}},
	// Thinking needs a stream, which every request asks for. A budget of tokens stands for the effort; none is the
	// largest.
	{name: "qwen", rules: &plainly, hosts: []string{"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com",
		"dashscope-us.aliyuncs.com"}, root: "/compatible-mode/v1",
		replay: reasoningContent, thinking: []thinking{
			{models: "*-thinking* qwq* qvq* *coder*"},
			{on: `"enable_thinking":true`, off: `"enable_thinking":false`, effort: "thinking_budget",
				levels: []level{{"minimal", "1024"}, {"low", "4096"}, {"medium", "16384"}, {"high", ""}}}}},
	{name: "openrouter", rules: &freely, hosts: []string{"openrouter.ai"}, root: "/api/v1", replay: reasoning,
		details: true,
		thinking: []thinking{{on: `"reasoning":{"enabled":true}`, off: `"reasoning":{"enabled":false}`,
			effort: "reasoning.effort",
			levels: words("none minimal low medium high xhigh")}}},
	// A thinking model answers 400 to a call in the history that has no reasoning beside it; a blank will do.
	{name: "moonshot", rules: &plainly, hosts: []string{"api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"},
		root: "/v1", replay: reasoningContent, blank: `" "`,
		thinking: []thinking{{models: "*thinking* kimi-k2 kimi-k2-* moonshot-* kimi-latest*"},
			{on: typeEnabled, off: typeDisabled}}},
	// From GLM-4.7 on, reasoning of earlier turns is kept only if the request says so.
	{name: "zai", rules: &plainly, hosts: []string{"api.z.ai", "open.bigmodel.cn"}, root: "/api/paas/v4",
		replay: reasoningContent,
		thinking: []thinking{{models: "glm-4.[7-9]* glm-[5-9]*",
			on: `"thinking":{"type":"enabled","clear_thinking":false}`, off: typeDisabled},
			{on: typeEnabled, off: typeDisabled}}},
	// M2 always thinks.
	{name: "minimax", rules: &plainly, hosts: []string{"api.minimax.io", "api.minimaxi.com", "api.minimax.chat"},
		root: "/v1", always: `"reasoning_split":true`,
		details: true, tag: "think"},
	{name: "doubao", rules: &plainly, hosts: []string{"volces.com", "bytepluses.com"}, root: "/api/v3",
		replay: reasoningContent,
		thinking: []thinking{{on: typeEnabled, off: typeDisabled, effort: reasoningEffort,
			levels: words("minimal low medium high")}}},
	// Unknown fields are errors (422), in the body and in calls.
	{name: "mistral", rules: &mistrals, hosts: []string{"api.mistral.ai"}, root: "/v1", noOptions: true, strict: true,
		replay: replayContent,
		thinking: []thinking{{models: "magistral*", on: `"prompt_mode":"reasoning"`},
			{models: "mistral-small-latest mistral-small-26* mistral-medium-3-5* mistral-medium-3.5* " +
				"mistral-medium-26*", on: `"reasoning_effort":"high"`,
				off: effortNone, effort: reasoningEffort, levels: words("none high")},
			{}}},
	// Gemini signs its calls in extra_content (or thought_signature): they live in ToolCall.Extra and travel back
	// there. Its thoughts open the text, if they were asked for.
	{name: "gemini", rules: &geminis, hosts: []string{"generativelanguage.googleapis.com"}, root: "/v1beta/openai",
		tag: "thought",
		thinking: []thinking{
			{models: "gemini-3*-flash* gemini-flash-latest", on: geminiThoughts, off: `"reasoning_effort":"minimal"`,
				effort: reasoningEffort, levels: words("minimal low medium high")},
			{models: "gemini-3* gemini-2.5-pro* gemini-pro-latest", on: geminiThoughts, off: effortLow,
				effort: reasoningEffort, levels: words("low medium high")},
			{models: "gemini-2.0* gemini-1*"},
			{on: geminiThoughts, off: effortNone, effort: reasoningEffort,
				levels: words("none minimal low medium high")}}},
	{name: "mimo", rules: &plainly, hosts: []string{"api.xiaomimimo.com"}, root: "/v1",
		maxTokens: "max_completion_tokens", replay: reasoningContent,
		thinking: []thinking{{on: typeEnabled, off: typeDisabled}}},
	{name: "stepfun", rules: &plainly, hosts: []string{"api.stepfun.com", "api.stepfun.ai"}, root: "/v1",
		replay:   reasoning,
		thinking: []thinking{{effort: reasoningEffort, levels: words("low medium high")}}},
	// The field for reasoning in the history is open to few models, so none goes back.
	{name: "groq", rules: &plainly, hosts: []string{"api.groq.com"}, root: "/openai/v1",
		maxTokens: "max_completion_tokens", strict: true,
		thinking: []thinking{{models: "gpt-oss*", effort: reasoningEffort, levels: words("low medium high"),
			off: effortLow},
			{models: "qwen*", on: `"reasoning_format":"parsed","reasoning_effort":"default"`, off: effortNone},
			{}}},
	// Only one family takes an effort; the others answer 400 to it.
	{name: "xai", rules: &plainly, hosts: []string{"api.x.ai"}, root: "/v1", maxTokens: "max_completion_tokens",
		thinking: []thinking{{models: "grok-3-mini*", effort: reasoningEffort, levels: words("low high"),
			off: effortLow}, {}}},
}

// geminiThoughts asks for the text of the thoughts. The wire has the field of this name; it is no artefact of a client.
const geminiThoughts = `"extra_body":{"google":{"thinking_config":{"include_thoughts":true}}}`
