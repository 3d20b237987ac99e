package catalog

// gemini are the models of ai.google.dev/gemini-api/docs/models and …/pricing.
func gemini() []Row {
	return []Row{
		{Pattern: "gemini-*", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking},
		{Pattern: "gemini-flash*", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts},
		{Pattern: "gemini-pro", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts, Price: &Price{2, 12, 0.2, 0}},
		{Pattern: "gemini-4*", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts},
		{Pattern: "gemini-3*", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts},
		{Pattern: "gemini-3.5-flash", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts, Price: &Price{1.5, 9, 0.15, 0}},
		{Pattern: "gemini-3.5-flash-lite", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts, Price: &Price{0.3, 2.5, 0.03, 0}},
		{Pattern: "gemini-3.1-pro-preview", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts, Price: &Price{2, 12, 0.2, 0}},
		{Pattern: "gemini-3.1-flash-lite", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts, Price: &Price{0.25, 1.5, 0.025, 0}},
		{Pattern: "gemini-3-pro-preview", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts, Price: &Price{2, 12, 0.2, 0}},
		{Pattern: "gemini-3-flash-preview", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking | Efforts, Price: &Price{0.5, 3, 0.05, 0}},
		{Pattern: "gemini-2.5-pro", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking, Price: &Price{1.25, 10, 0.125, 0}},
		{Pattern: "gemini-2.5-flash", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking, Price: &Price{0.3, 2.5, 0.03, 0}},
		{Pattern: "gemini-2.5-flash-lite", Window: 1_048_576, Output: 65_536, Can: Vision | Thinking, Price: &Price{0.1, 0.4, 0.01, 0}},
		{Pattern: "gemini-2.0-flash*", Window: 1_048_576, Output: 8_192, Can: Vision},
		{Pattern: "gemini-2.0-flash", Window: 1_048_576, Output: 8_192, Can: Vision, Price: &Price{0.1, 0.4, 0.025, 0}},
		{Pattern: "gemini-1.5-pro*", Window: 2_097_152, Output: 8_192, Can: Vision},
		{Pattern: "gemini-1.5-flash*", Window: 1_048_576, Output: 8_192, Can: Vision},
	}
}
