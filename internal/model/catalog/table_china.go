package catalog

// deepSeek are the models of api-docs.deepseek.com/quick_start/pricing. The aliases deepseek-chat and deepseek-reasoner
// have named several models over time, so they have no price.
func deepSeek() []Row {
	return []Row{
		{Pattern: "deepseek-v4*", Window: 1_000_000, Can: Thinking},
		{Pattern: "deepseek-v4-flash", Window: 1_000_000, Output: 393_216, Can: Vision | Thinking, Price: &Price{0.3, 1.2, 0.006, 0}},
		{Pattern: "deepseek-flash", Window: 1_000_000, Output: 393_216, Can: Vision | Thinking, Price: &Price{0.3, 1.2, 0.006, 0}},
		{Pattern: "deepseek-v4-pro", Window: 1_000_000, Output: 393_216, Can: Thinking, Price: &Price{1.32, 3.96, 0.044, 0}},
		{Pattern: "deepseek-chat", Window: 131_072, Output: 8_192},
		{Pattern: "deepseek-reasoner", Window: 131_072, Output: 65_536, Can: Thinking},
		{Pattern: "deepseek-v3*", Window: 131_072},
		{Pattern: "deepseek-v3.1*", Window: 131_072, Can: Thinking},
		{Pattern: "deepseek-v3.2*", Window: 131_072, Can: Thinking},
		{Pattern: "deepseek-r1*", Window: 131_072, Can: Thinking},
	}
}

// qwen are the models of Alibaba Cloud Model Studio ("Models" and "Model pricing"). Most prices there go by the length
// of the prompt and the region: only flat ones are here.
func qwen() []Row {
	return []Row{
		{Pattern: "qwen3*", Window: 131_072, Can: Thinking},
		{Pattern: "qwen3-max*", Window: 258_048, Output: 65_536, Can: Thinking},
		{Pattern: "qwen3-*-2507", Window: 262_144, Can: Thinking},
		{Pattern: "qwen3-next*", Window: 262_144, Can: Thinking},
		{Pattern: "qwen3-coder*", Window: 262_144, Output: 65_536},
		{Pattern: "qwen3-coder-plus", Window: 997_952, Output: 65_536},
		{Pattern: "qwen3-coder-flash", Window: 997_952, Output: 65_536},
		{Pattern: "qwen3-vl*", Window: 131_072, Output: 32_768, Can: Vision | Thinking},
		{Pattern: "qwen3*-instruct", Window: 131_072},
		{Pattern: "qwen3*-instruct-2507", Window: 262_144},
		{Pattern: "qwen3-next*-instruct", Window: 262_144},
		{Pattern: "qwen3-coder*-instruct", Window: 262_144},
		{Pattern: "qwen3-vl*-instruct", Window: 131_072, Can: Vision},
		{Pattern: "qwen3-vl-plus", Window: 260_096, Output: 32_768, Can: Vision | Thinking},
		{Pattern: "qwen3.5*", Window: 262_144, Output: 65_536, Can: Vision | Thinking},
		{Pattern: "qwen3.5-plus", Window: 991_808, Output: 65_536, Can: Vision | Thinking},
		{Pattern: "qwen3.6*", Window: 262_144, Output: 65_536, Can: Vision | Thinking},
		{Pattern: "qwen3.7-max", Window: 991_808, Output: 65_536, Can: Thinking, Price: &Price{2.5, 7.5, 0.5, 3.125}},
		{Pattern: "qwen3.7-plus", Window: 991_808, Output: 65_536, Can: Vision | Thinking},
		{Pattern: "qwen3.8*", Window: 131_072, Can: Vision | Thinking},
		{Pattern: "qwen3.8-max", Window: 991_808, Output: 131_072, Can: Vision | Thinking},
		{Pattern: "qwen3.8-flash", Window: 991_808, Output: 131_072, Can: Vision | Thinking},
		{Pattern: "qwen-max*", Window: 30_720, Output: 8_192},
		{Pattern: "qwen-plus*", Window: 129_024, Output: 16_384, Can: Thinking},
		{Pattern: "qwen-flash*", Window: 997_952, Output: 32_768, Can: Thinking},
		{Pattern: "qwen-turbo*", Window: 129_024, Output: 16_384, Can: Thinking},
		{Pattern: "qwen-vl*", Window: 131_072, Output: 8_192, Can: Vision},
		{Pattern: "qwq*", Window: 98_304, Output: 8_192, Can: Thinking},
		{Pattern: "qwen2.5*", Window: 32_768, Output: 8_192},
		{Pattern: "qwen2.5-vl*", Window: 32_768, Output: 8_192, Can: Vision},
	}
}

// zai are the models of docs.z.ai/guides/overview/pricing.
func zai() []Row {
	return []Row{
		{Pattern: "glm-4*", Window: 128_000},
		{Pattern: "glm-4.5*", Window: 128_000, Output: 32_000, Can: Thinking},
		{Pattern: "glm-4.5", Window: 128_000, Output: 32_000, Can: Thinking, Price: &Price{0.6, 2.2, 0.11, 0}},
		{Pattern: "glm-4.5-air", Window: 128_000, Output: 32_000, Can: Thinking, Price: &Price{0.2, 1.1, 0.03, 0}},
		{Pattern: "glm-4.5v*", Window: 64_000, Output: 16_384, Can: Vision | Thinking},
		{Pattern: "glm-4.6", Window: 200_000, Output: 128_000, Can: Thinking, Price: &Price{0.6, 2.2, 0.11, 0}},
		{Pattern: "glm-4.6v*", Window: 128_000, Output: 32_000, Can: Vision | Thinking},
		{Pattern: "glm-4.7*", Window: 200_000, Output: 128_000, Can: Thinking},
		{Pattern: "glm-4.7", Window: 200_000, Output: 128_000, Can: Thinking, Price: &Price{0.6, 2.2, 0.11, 0}},
		{Pattern: "glm-5*", Window: 200_000, Output: 128_000, Can: Thinking},
		{Pattern: "glm-5", Window: 200_000, Output: 128_000, Can: Thinking, Price: &Price{1, 3.2, 0.2, 0}},
		{Pattern: "glm-5.1", Window: 200_000, Output: 128_000, Can: Thinking, Price: &Price{1.4, 4.4, 0.26, 0}},
		{Pattern: "glm-5.2", Window: 1_000_000, Output: 128_000, Can: Thinking, Price: &Price{1.4, 4.4, 0.26, 0}},
		{Pattern: "glm-5.3", Window: 1_000_000, Output: 128_000, Can: Thinking, Price: &Price{1.4, 4.4, 0.26, 0}},
		{Pattern: "glm-5.3-flash", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking, Price: &Price{0.15, 0.5, 0.03, 0}},
		{Pattern: "glm-5v*", Window: 200_000, Output: 128_000, Can: Vision | Thinking},
	}
}

// moonshot are the models of platform.moonshot.ai/docs/pricing.
func moonshot() []Row {
	return []Row{
		{Pattern: "kimi-k2*", Window: 262_144},
		{Pattern: "kimi-k2-0711-preview", Window: 131_072},
		{Pattern: "kimi-k2-thinking*", Window: 262_144, Can: Thinking},
		{Pattern: "kimi-k2-thinking", Window: 262_144, Can: Thinking, Price: &Price{0.6, 2.5, 0.15, 0}},
		{Pattern: "kimi-k2.5", Window: 262_144, Can: Vision | Thinking, Price: &Price{0.6, 3, 0.1, 0}},
		{Pattern: "kimi-k2.6", Window: 262_144, Can: Vision | Thinking, Price: &Price{0.95, 4, 0.16, 0}},
		{Pattern: "kimi-k2.7*", Window: 262_144, Can: Vision | Thinking},
		{Pattern: "kimi-k2.7-code", Window: 262_144, Can: Vision | Thinking, Price: &Price{0.95, 4, 0.19, 0}},
		{Pattern: "kimi-k3*", Window: 1_048_576, Can: Vision | Thinking},
		{Pattern: "kimi-k3", Window: 1_048_576, Can: Vision | Thinking, Price: &Price{3, 15, 0.3, 3}},
		{Pattern: "kimi-k3.1-pro", Window: 1_048_576, Can: Vision | Thinking, Price: &Price{2, 10, 0.2, 2}},
		{Pattern: "kimi-latest", Window: 131_072, Can: Vision},
		{Pattern: "moonshot-v1-8k*", Window: 8_192},
		{Pattern: "moonshot-v1-32k*", Window: 32_768},
		{Pattern: "moonshot-v1-128k*", Window: 131_072},
	}
}
