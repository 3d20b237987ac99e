package catalog

// anthropic are the models of platform.claude.com/docs/en/about-claude/models and …/pricing. Cache writes are those of
// five minutes.
func anthropic() []Row {
	return []Row{
		{Pattern: "claude-*", Window: 200_000, Can: Vision},
		{Pattern: "claude-opus-*", Window: 200_000, Output: 64_000, Can: Vision | Thinking | Efforts | Adaptive},
		{Pattern: "claude-sonnet-*", Window: 200_000, Output: 64_000, Can: Vision | Thinking | Efforts | Adaptive},
		{Pattern: "claude-haiku-*", Window: 200_000, Output: 64_000, Can: Vision | Thinking},
		{Pattern: "claude-fable-*", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive},
		{Pattern: "claude-mythos-*", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive},
		{Pattern: "claude-fable-5", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{10, 50, 1, 12.5}},
		{Pattern: "claude-fable-5-1", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{10, 50, 0.25, 12.5}},
		{Pattern: "claude-mythos-5", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{10, 50, 1, 12.5}},
		{Pattern: "claude-mythos-5-1", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{10, 50, 0.25, 12.5}},
		{Pattern: "claude-opus-5-5", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{4, 20, 0.2, 5}},
		{Pattern: "claude-sonnet-5-5", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{2, 10, 0.1, 2.5}},
		{Pattern: "claude-haiku-5-5", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{0.1, 0.5, 0.01, 0.125}},
		{Pattern: "claude-opus-5", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{5, 25, 0.5, 6.25}},
		{Pattern: "claude-sonnet-5", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{2, 10, 0.2, 2.5}},
		{Pattern: "claude-opus-4-8", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{5, 25, 0.5, 6.25}},
		{Pattern: "claude-opus-4-7", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{5, 25, 0.5, 6.25}},
		{Pattern: "claude-opus-4-6", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{5, 25, 0.5, 6.25}},
		{Pattern: "claude-sonnet-4-6", Window: 1_000_000, Output: 128_000, Can: Vision | Thinking | Efforts | Adaptive, Price: &Price{3, 15, 0.3, 3.75}},
		{Pattern: "claude-opus-4-5", Window: 200_000, Output: 64_000, Can: Vision | Thinking | Efforts, Price: &Price{5, 25, 0.5, 6.25}},
		{Pattern: "claude-sonnet-4-5", Window: 200_000, Output: 64_000, Can: Vision | Thinking, Price: &Price{3, 15, 0.3, 3.75}},
		{Pattern: "claude-haiku-4-5", Window: 200_000, Output: 64_000, Can: Vision | Thinking, Price: &Price{1, 5, 0.1, 1.25}},
		{Pattern: "claude-opus-4-1", Window: 200_000, Output: 32_000, Can: Vision | Thinking, Price: &Price{15, 75, 1.5, 18.75}},
		{Pattern: "claude-opus-4", Window: 200_000, Output: 32_000, Can: Vision | Thinking, Price: &Price{15, 75, 1.5, 18.75}},
		{Pattern: "claude-opus-4-0", Window: 200_000, Output: 32_000, Can: Vision | Thinking, Price: &Price{15, 75, 1.5, 18.75}},
		{Pattern: "claude-sonnet-4", Window: 200_000, Output: 64_000, Can: Vision | Thinking, Price: &Price{3, 15, 0.3, 3.75}},
		{Pattern: "claude-sonnet-4-0", Window: 200_000, Output: 64_000, Can: Vision | Thinking, Price: &Price{3, 15, 0.3, 3.75}},
		{Pattern: "claude-3-7-sonnet", Window: 200_000, Output: 64_000, Can: Vision | Thinking, Price: &Price{3, 15, 0.3, 3.75}},
		{Pattern: "claude-3-5-sonnet", Window: 200_000, Output: 8_192, Can: Vision, Price: &Price{3, 15, 0.3, 3.75}},
		{Pattern: "claude-3-5-haiku", Window: 200_000, Output: 8_192, Can: Vision, Price: &Price{0.8, 4, 0.08, 1}},
		{Pattern: "claude-3-opus", Window: 200_000, Output: 4_096, Can: Vision, Price: &Price{15, 75, 1.5, 18.75}},
		{Pattern: "claude-3-sonnet", Window: 200_000, Output: 4_096, Can: Vision, Price: &Price{3, 15, 0, 0}},
		{Pattern: "claude-3-haiku", Window: 200_000, Output: 4_096, Can: Vision, Price: &Price{0.25, 1.25, 0.03, 0.3}},
	}
}
