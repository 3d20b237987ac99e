package config

import (
	"fmt"
	"net"
	"slices"
	"strings"
)

// Provider is a vendor of models, as data.
type Provider struct {
	Name  string // in "provider/model"
	Title string // for people
	// KeyVars are the variables that hold a key; the first that is set counts.
	KeyVars []string
	// TokenVars are those that hold a bearer token instead; they come behind.
	TokenVars []string
	// BaseVars and ModelVar are the variables that replace BaseURL and Model.
	BaseVars []string
	ModelVar string
	// BaseURL is empty for software that runs wherever its user put it.
	BaseURL string
	Wire    Wire
	Dialect string // see [Model.Dialect]
	// Model is used when nobody names one; empty means that one must be named.
	Model  string
	KeyURL string // where people get a key
	// Keyless says that the server works without a key.
	Keyless bool
}

// Providers lists the known vendors in the order in which [Choose] looks for their keys.
func Providers() []Provider {
	return []Provider{
		{Name: "openai", Title: "OpenAI", KeyVars: []string{"OPENAI_API_KEY"},
			BaseVars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, ModelVar: "OPENAI_MODEL",
			BaseURL: "https://api.openai.com/v1", Wire: WireOpenAI, Model: "gpt-5.5",
			KeyURL: "https://platform.openai.com/api-keys"},
		{Name: "anthropic", Title: "Anthropic", KeyVars: []string{"ANTHROPIC_API_KEY"},
			TokenVars: []string{"ANTHROPIC_AUTH_TOKEN"}, BaseVars: []string{"ANTHROPIC_BASE_URL"},
			ModelVar: "ANTHROPIC_MODEL", BaseURL: "https://api.anthropic.com", Wire: WireAnthropic,
			Model:  "claude-sonnet-5-5",
			KeyURL: "https://console.anthropic.com/settings/keys"},
		{Name: "gemini", Title: "Google Gemini", KeyVars: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
			BaseVars: []string{"GEMINI_BASE_URL"}, ModelVar: "GEMINI_MODEL",
			BaseURL: "https://generativelanguage.googleapis.com", Wire: WireGemini, Dialect: "gemini",
			Model: "gemini-flash-latest", KeyURL: "https://aistudio.google.com/apikey"},
		{Name: "deepseek", Title: "DeepSeek", KeyVars: []string{"DEEPSEEK_API_KEY"},
			BaseVars: []string{"DEEPSEEK_BASE_URL", "DEEPSEEK_API_BASE"}, ModelVar: "DEEPSEEK_MODEL",
			BaseURL: "https://api.deepseek.com/v1", Wire: WireOpenAI, Dialect: "deepseek", Model: "deepseek-v4-flash",
			KeyURL: "https://platform.deepseek.com/api_keys"},
		{Name: "openrouter", Title: "OpenRouter", KeyVars: []string{"OPENROUTER_API_KEY"},
			BaseVars: []string{"OPENROUTER_BASE_URL"}, ModelVar: "OPENROUTER_MODEL",
			BaseURL: "https://openrouter.ai/api/v1", Wire: WireOpenAI, Dialect: "openrouter", Model: "openrouter/auto",
			KeyURL: "https://openrouter.ai/keys"},
		{Name: "mistral", Title: "Mistral", KeyVars: []string{"MISTRAL_API_KEY"},
			BaseVars: []string{"MISTRAL_BASE_URL"}, ModelVar: "MISTRAL_MODEL",
			BaseURL: "https://api.mistral.ai/v1", Wire: WireOpenAI, Dialect: "mistral", Model: "mistral-large-latest",
			KeyURL: "https://console.mistral.ai/api-keys"},
		{Name: "groq", Title: "Groq", KeyVars: []string{"GROQ_API_KEY"}, BaseVars: []string{"GROQ_BASE_URL"},
			ModelVar: "GROQ_MODEL",
			BaseURL:  "https://api.groq.com/openai/v1", Wire: WireOpenAI, Dialect: "groq", Model: "openai/gpt-oss-120b",
			KeyURL: "https://console.groq.com/keys"},
		{Name: "xai", Title: "xAI", KeyVars: []string{"XAI_API_KEY"}, BaseVars: []string{"XAI_BASE_URL"},
			ModelVar: "XAI_MODEL",
			BaseURL:  "https://api.x.ai/v1", Wire: WireOpenAI, Dialect: "xai", Model: "grok-4.7",
			KeyURL: "https://console.x.ai"},
		{Name: "moonshot", Title: "Moonshot (Kimi)", KeyVars: []string{"MOONSHOT_API_KEY"},
			BaseVars: []string{"MOONSHOT_BASE_URL"}, ModelVar: "MOONSHOT_MODEL",
			BaseURL: "https://api.moonshot.ai/v1", Wire: WireOpenAI, Dialect: "moonshot", Model: "kimi-k2.6",
			KeyURL: "https://platform.moonshot.ai/console/api-keys"},
		{Name: "qwen", Title: "Alibaba Qwen (DashScope)", KeyVars: []string{"DASHSCOPE_API_KEY"},
			BaseVars: []string{"DASHSCOPE_BASE_URL"}, ModelVar: "DASHSCOPE_MODEL",
			BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Wire: WireOpenAI, Dialect: "qwen",
			Model: "qwen-plus", KeyURL: "https://bailian.console.alibabacloud.com/?tab=model#/api-key"},
		{Name: "zai", Title: "Z.ai (GLM)", KeyVars: []string{"ZAI_API_KEY", "ZHIPUAI_API_KEY"},
			BaseVars: []string{"ZAI_BASE_URL"}, ModelVar: "ZAI_MODEL",
			BaseURL: "https://api.z.ai/api/paas/v4", Wire: WireOpenAI, Dialect: "zai", Model: "glm-4.6",
			KeyURL: "https://z.ai/manage-apikey/apikey-list"},
		{Name: "minimax", Title: "MiniMax", KeyVars: []string{"MINIMAX_API_KEY"},
			BaseVars: []string{"MINIMAX_BASE_URL"}, ModelVar: "MINIMAX_MODEL",
			BaseURL: "https://api.minimax.io/v1", Wire: WireOpenAI, Dialect: "minimax", Model: "MiniMax-M2",
			KeyURL: "https://platform.minimax.io"},
		{Name: "doubao", Title: "Doubao (Volcengine Ark)", KeyVars: []string{"ARK_API_KEY", "VOLCENGINE_API_KEY"},
			BaseVars: []string{"ARK_BASE_URL"}, ModelVar: "ARK_MODEL",
			BaseURL: "https://ark.cn-beijing.volces.com/api/v3", Wire: WireOpenAI, Dialect: "doubao",
			KeyURL: "https://console.volcengine.com/ark"},
		{Name: "azure", Title: "Azure OpenAI", KeyVars: []string{"AZURE_OPENAI_API_KEY"},
			BaseVars: []string{"AZURE_OPENAI_ENDPOINT"}, ModelVar: "AZURE_OPENAI_DEPLOYMENT",
			Wire: WireOpenAI, Dialect: "azure", KeyURL: "https://ai.azure.com"},
		{Name: "codex", Title: "ChatGPT (a login of Codex)", BaseVars: []string{"CODEX_BASE_URL"},
			ModelVar: "CODEX_MODEL",
			BaseURL:  "https://chatgpt.com/backend-api/codex", Wire: WireResponses, Keyless: true},
		{Name: "ollama", Title: "Ollama", KeyVars: []string{"OLLAMA_API_KEY"}, ModelVar: "OLLAMA_MODEL",
			BaseURL: "http://127.0.0.1:11434/v1", Wire: WireOpenAI, Dialect: "ollama", Keyless: true},
		{Name: "lmstudio", Title: "LM Studio", KeyVars: []string{"LMSTUDIO_API_KEY"},
			BaseVars: []string{"LMSTUDIO_BASE_URL"}, ModelVar: "LMSTUDIO_MODEL",
			BaseURL: "http://127.0.0.1:1234/v1", Wire: WireOpenAI, Dialect: "lmstudio", Keyless: true},
		{Name: "llamacpp", Title: "llama.cpp", KeyVars: []string{"LLAMACPP_API_KEY"},
			BaseVars: []string{"LLAMACPP_BASE_URL"}, ModelVar: "LLAMACPP_MODEL",
			BaseURL: "http://127.0.0.1:8080/v1", Wire: WireOpenAI, Dialect: "llamacpp", Keyless: true},
		{Name: "stepfun", Title: "StepFun", KeyVars: []string{"STEPFUN_API_KEY"}, Wire: WireOpenAI, Dialect: "stepfun",
			BaseURL: "https://api.stepfun.com/v1", KeyURL: "https://platform.stepfun.com"},
		{Name: "mimo", Title: "MiMo", KeyVars: []string{"MIMO_API_KEY"}, BaseVars: []string{"MIMO_BASE_URL"},
			Wire: WireOpenAI, Dialect: "mimo", Keyless: true},
		{Name: "vllm", Title: "vLLM", KeyVars: []string{"VLLM_API_KEY"}, BaseVars: []string{"VLLM_BASE_URL"},
			Wire: WireOpenAI, Dialect: "vllm", Keyless: true},
		{Name: "sglang", Title: "SGLang", KeyVars: []string{"SGLANG_API_KEY"}, BaseVars: []string{"SGLANG_BASE_URL"},
			Wire: WireOpenAI, Dialect: "sglang", Keyless: true},
		{Name: "mindie", Title: "MindIE", KeyVars: []string{"MINDIE_API_KEY"}, BaseVars: []string{"MINDIE_BASE_URL"},
			Wire: WireOpenAI, Dialect: "mindie", Keyless: true},
		{Name: "compatible", Title: "an OpenAI-compatible server", Wire: WireOpenAI, Keyless: true},
		{Name: "scripted", Title: "a scripted model", Wire: WireScripted, Keyless: true},
	}
}

func provider(name string) (Provider, bool) {
	for _, p := range Providers() {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}

func providerNames() []string {
	var names []string
	for _, p := range Providers() {
		names = append(names, p.Name)
	}
	return names
}

// key returns the first variable that is set, and its value.
func (p Provider) key(env Env) (string, Secret) {
	for _, name := range p.KeyVars {
		if v := env.Get(name); v != "" {
			return name, Secret(v)
		}
	}
	return "", ""
}

// KeyIn names the variable that has a key, or a token in its place; empty if there is none.
func (p Provider) KeyIn(env Env) string {
	if variable, _ := p.key(env); variable != "" {
		return variable
	}
	i := slices.IndexFunc(p.TokenVars, func(name string) bool { return env.Get(name) != "" })
	if i < 0 {
		return ""
	}
	return p.TokenVars[i]
}

// Address is where the provider is asked if an entry does not say it; empty if that has to.
func (p Provider) Address(env Env) string {
	base, _ := p.address(env)
	return base
}

// address returns the base URL and the variable that gave it; without one it is the provider's own.
func (p Provider) address(env Env) (base, variable string) {
	if p.Name == "ollama" {
		return OllamaURL(env) + "/v1", ollamaVariable(env)
	}
	for _, name := range p.BaseVars {
		if v := env.Get(name); v != "" {
			return strings.TrimRight(v, "/"), name
		}
	}
	return p.BaseURL, ""
}

func ollamaVariable(env Env) string {
	if env.Get("OLLAMA_HOST") == "" {
		return ""
	}
	return "OLLAMA_HOST"
}

// OllamaURL is the address of the local Ollama server: OLLAMA_HOST ("host", "host:port" or a URL), else
// 127.0.0.1:11434. A server that listens everywhere (0.0.0.0) is asked on the loopback.
func OllamaURL(env Env) string {
	s := strings.TrimRight(env.Get("OLLAMA_HOST"), "/")
	scheme := "http"
	if before, after, ok := strings.Cut(s, "://"); ok {
		scheme, s = before, after
	}
	host, port := s, "11434"
	if h, p, err := net.SplitHostPort(s); err == nil {
		host, port = h, p
	}
	switch host = strings.Trim(host, "[]"); host {
	case "", "0.0.0.0", "::":
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// class is a class path of a DeerFlow file and what it means here. An empty dialect is the provider's own.
type class struct{ path, provider, dialect string }

func classes() []class {
	return []class{
		{"langchain_openai:ChatOpenAI", "openai", ""},
		{"langchain_openai:AzureChatOpenAI", "azure", ""},
		{"langchain_anthropic:ChatAnthropic", "anthropic", ""},
		{"langchain_google_genai:ChatGoogleGenerativeAI", "gemini", ""},
		{"langchain_ollama:ChatOllama", "ollama", ""},
		{"langchain_deepseek:ChatDeepSeek", "deepseek", ""},
		{"deerflow.models.patched_openai:PatchedChatOpenAI", "openai", "gemini"},
		{"deerflow.models.patched_deepseek:PatchedChatDeepSeek", "deepseek", ""},
		{"deerflow.models.patched_minimax:PatchedChatMiniMax", "minimax", ""},
		{"deerflow.models.patched_mimo:PatchedChatMiMo", "mimo", ""},
		{"deerflow.models.patched_stepfun:PatchedChatStepFun", "stepfun", ""},
		{"deerflow.models.vllm_provider:VllmChatModel", "vllm", ""},
		{"deerflow.models.mindie_provider:MindIEChatModel", "mindie", ""},
		{claudeClass, "anthropic", ""},
		{"deerflow.models.openai_codex_provider:CodexChatModel", "codex", ""},
	}
}

// classProvider maps a class path. Pudu's own short forms are taken too.
func classProvider(use string) (name, dialect string, err error) {
	if slices.Contains(providerNames(), use) {
		return use, "", nil
	}
	var paths []string
	for _, c := range classes() {
		if c.path == use {
			return c.provider, c.dialect, nil
		}
		paths = append(paths, c.path)
	}
	return "", "", fmt.Errorf("use: %q is not known%s", use, suggest(use, append(paths, providerNames()...)))
}
