package openai

// Servers pass the switch on to the model's chat template, whose variables have two names in use. A template takes no
// notice of a variable that it does not know.
const (
	templateOn  = `"chat_template_kwargs":{"enable_thinking":true,"thinking":true}`
	templateOff = `"chat_template_kwargs":{"enable_thinking":false,"thinking":false}`
)

// servers is software that people run themselves. Whether it takes reasoning and calls out of the text depends on how
// it was started, so the text is looked at too.
var servers = []dialect{
	{name: "vllm", rules: &inTurns, root: "/v1", replay: reasoning, tag: "think", textCalls: true,
		thinking: []thinking{{on: templateOn, off: templateOff, effort: reasoningEffort,
			levels: words("low medium high")}}},
	{name: "sglang", rules: &inTurns, root: "/v1", replay: reasoningContent, tag: "think", textCalls: true,
		thinking: []thinking{{on: templateOn, off: templateOff, effort: reasoningEffort,
			levels: words("low medium high")}}},
	{name: "llamacpp", rules: &inTurns, root: "/v1", replay: reasoningContent, tag: "think", textCalls: true,
		thinking: []thinking{{on: templateOn, off: templateOff, effort: "chat_template_kwargs.reasoning_effort",
			levels: words("low medium high")}}},
	// There is no documented switch; gpt-oss takes an effort.
	{name: "lmstudio", rules: &inTurns, hosts: []string{"localhost:1234", "127.0.0.1:1234"}, root: "/v1", tag: "think",
		textCalls: true,
		thinking:  []thinking{{effort: reasoningEffort, levels: words("low medium high")}}},
	{name: "ollama", rules: &inTurns, hosts: []string{"ollama.com", "localhost:11434", "127.0.0.1:11434"}, root: "/v1",
		replay: reasoning, tag: "think", textCalls: true,
		thinking: []thinking{{off: effortNone, effort: reasoningEffort, levels: words("none low medium high")}}},
	{name: "mindie", rules: &inProse, root: "/v1", wholeCalls: true, prose: true, tag: "think", textCalls: true,
		unescape: true,
		thinking: []thinking{{on: templateOn, off: templateOff}}},
	{name: "generic", rules: &inTurns, tag: "think", textCalls: true, thinking: []thinking{{effort: reasoningEffort}}},
}
