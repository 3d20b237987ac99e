package catalog

// miniMax are the models of platform.minimax.io/docs/guides/pricing.
func miniMax() []Row {
	return []Row{
		{Pattern: "minimax-m*", Window: 204_800, Can: Thinking},
		{Pattern: "minimax-m2", Window: 204_800, Can: Thinking, Price: &Price{0.3, 1.2, 0.03, 0.375}},
		{Pattern: "minimax-m2.1", Window: 204_800, Can: Thinking, Price: &Price{0.3, 1.2, 0.03, 0.375}},
		{Pattern: "minimax-m2.5", Window: 204_800, Can: Thinking, Price: &Price{0.3, 1.2, 0.03, 0.375}},
		{Pattern: "minimax-m2.7", Window: 204_800, Can: Thinking, Price: &Price{0.3, 1.2, 0.06, 0.375}},
		{Pattern: "minimax-m3", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking, Price: &Price{0.3, 1.2, 0.06, 0}},
		{Pattern: "minimax-m3.1*", Window: 1_000_000, Can: Vision | Thinking},
		{Pattern: "minimax-m1*", Window: 1_000_000, Can: Thinking},
	}
}

// doubao are the models of Volcengine Ark ("Model list"). They are sold in yuan and by the length of the prompt: no
// prices here.
func doubao() []Row {
	return []Row{
		{Pattern: "doubao-seed-1-6*", Window: 256_000, Output: 32_000, Can: Vision | Thinking},
		{Pattern: "doubao-seed-1.6*", Window: 256_000, Output: 32_000, Can: Vision | Thinking},
		{Pattern: "doubao-seed-1-8*", Window: 256_000, Output: 64_000, Can: Vision | Thinking | Efforts},
		{Pattern: "doubao-seed-1.8*", Window: 256_000, Output: 64_000, Can: Vision | Thinking | Efforts},
		{Pattern: "doubao-seed-2*", Window: 256_000, Output: 128_000, Can: Vision | Thinking | Efforts},
		{Pattern: "doubao-1-5-pro-32k*", Window: 32_768},
		{Pattern: "doubao-1-5-pro-256k*", Window: 256_000},
	}
}

// mistral are the models of docs.mistral.ai/getting-started/models and mistral.ai/pricing.
func mistral() []Row {
	return []Row{
		{Pattern: "mistral-large*", Window: 131_072},
		{Pattern: "mistral-large-latest", Window: 262_144, Can: Vision, Price: &Price{0.5, 1.5, 0.05, 0}},
		{Pattern: "mistral-large-3", Window: 262_144, Can: Vision, Price: &Price{0.5, 1.5, 0.05, 0}},
		{Pattern: "mistral-large-4*", Window: 1_048_576, Can: Vision | Thinking},
		{Pattern: "mistral-medium*", Window: 131_072, Can: Vision},
		{Pattern: "mistral-medium-latest", Window: 262_144, Can: Vision | Thinking, Price: &Price{1.5, 7.5, 0.15, 0}},
		{Pattern: "mistral-medium-3-5", Window: 262_144, Can: Vision | Thinking, Price: &Price{1.5, 7.5, 0.15, 0}},
		{Pattern: "mistral-medium-3.5", Window: 262_144, Can: Vision | Thinking, Price: &Price{1.5, 7.5, 0.15, 0}},
		{Pattern: "mistral-small*", Window: 32_768},
		{Pattern: "mistral-small-latest", Window: 262_144, Can: Vision | Thinking, Price: &Price{0.15, 0.6, 0.015, 0}},
		{Pattern: "mistral-small-2603", Window: 262_144, Can: Vision | Thinking, Price: &Price{0.15, 0.6, 0.015, 0}},
		{Pattern: "mistral-small-3.1*", Window: 131_072, Can: Vision},
		{Pattern: "mistral-small-3.2*", Window: 131_072, Can: Vision},
		{Pattern: "magistral*", Window: 40_960, Can: Thinking},
		{Pattern: "ministral*", Window: 131_072},
		{Pattern: "devstral*", Window: 131_072},
		{Pattern: "devstral-2512", Window: 262_144, Price: &Price{0.4, 2, 0.04, 0}},
		{Pattern: "codestral*", Window: 128_000},
		{Pattern: "pixtral*", Window: 128_000, Can: Vision},
		{Pattern: "open-mistral-nemo", Window: 128_000},
		{Pattern: "mistral-nemo*", Window: 128_000},
		{Pattern: "mixtral*", Window: 32_768},
	}
}

// xai are the models of docs.x.ai/docs/models.
func xai() []Row {
	return []Row{
		{Pattern: "grok-*", Window: 131_072},
		{Pattern: "grok-4*", Window: 256_000, Can: Vision | Thinking},
		{Pattern: "grok-4", Window: 256_000, Can: Vision | Thinking, Price: &Price{3, 15, 0.75, 0}},
		{Pattern: "grok-4.7", Window: 500_000, Can: Vision | Thinking, Price: &Price{2, 6, 0.5, 0}},
		{Pattern: "grok-4.6", Window: 500_000, Can: Vision | Thinking, Price: &Price{2, 6, 0.5, 0}},
		{Pattern: "grok-4.5", Window: 500_000, Can: Vision | Thinking, Price: &Price{2, 6, 0.3, 0}},
		{Pattern: "grok-4.3", Window: 1_000_000, Can: Vision | Thinking, Price: &Price{1.25, 2.5, 0.2, 0}},
		{Pattern: "grok-4.20", Window: 1_000_000, Can: Vision | Thinking, Price: &Price{1.25, 2.5, 0.2, 0}},
		{Pattern: "grok-4-fast*", Window: 2_000_000, Can: Vision | Thinking},
		{Pattern: "grok-4-1-fast*", Window: 2_000_000, Can: Vision | Thinking},
		{Pattern: "grok-*-non-reasoning", Window: 1_000_000, Can: Vision},
		{Pattern: "grok-code-fast*", Window: 256_000, Can: Thinking},
		{Pattern: "grok-3-mini*", Window: 131_072, Can: Thinking | Efforts},
	}
}

// mimo are the models of platform.xiaomimimo.com.
func mimo() []Row {
	return []Row{
		{Pattern: "mimo-v2*", Window: 262_144, Can: Thinking},
		{Pattern: "mimo-v2.6*", Window: 1_048_576, Output: 131_072, Can: Vision | Thinking},
	}
}

// groq are the prices of console.groq.com/docs/models for weights that others serve too.
func groq() []Row {
	return []Row{
		{Pattern: "gpt-oss-120b", Window: 131_072, Output: 65_536, Can: Thinking | Efforts, Price: &Price{0.15, 0.6, 0.075, 0}},
		{Pattern: "gpt-oss-20b", Window: 131_072, Output: 65_536, Can: Thinking | Efforts, Price: &Price{0.075, 0.3, 0.0375, 0}},
	}
}

// weights are published weights without a vendor of their own here, by their model cards. A server may be set to a
// smaller window.
func weights() []Row {
	return []Row{
		{Pattern: "gpt-oss*", Window: 131_072, Output: 65_536, Can: Thinking | Efforts},
		{Pattern: "llama-3*", Window: 131_072},
		{Pattern: "llama3*", Window: 131_072},
		{Pattern: "llama-3-*", Window: 8_192},
		{Pattern: "llama3", Window: 8_192},
		{Pattern: "llama-3.2-*-vision*", Window: 131_072, Can: Vision},
		{Pattern: "llama3.2-vision*", Window: 131_072, Can: Vision},
		{Pattern: "llama-4*", Window: 1_000_000, Can: Vision},
		{Pattern: "llama4*", Window: 1_000_000, Can: Vision},
		{Pattern: "gemma-2*", Window: 8_192},
		{Pattern: "gemma2*", Window: 8_192},
		{Pattern: "gemma-3*", Window: 131_072, Can: Vision},
		{Pattern: "gemma3*", Window: 131_072, Can: Vision},
		{Pattern: "gemma-3-1b*", Window: 32_768},
		{Pattern: "gemma-4*", Window: 262_144, Can: Vision | Thinking},
		{Pattern: "gemma4*", Window: 262_144, Can: Vision | Thinking},
		{Pattern: "phi-4", Window: 16_384},
		{Pattern: "phi4", Window: 16_384},
		{Pattern: "phi-4-mini*", Window: 131_072},
		{Pattern: "phi4-mini*", Window: 131_072},
		{Pattern: "phi-4-reasoning*", Window: 32_768, Can: Thinking},
		{Pattern: "smollm2*", Window: 8_192},
	}
}
