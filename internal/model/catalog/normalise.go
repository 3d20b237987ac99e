package catalog

import "strings"

// spellings are the ids to look for, from the one that is written to the shortest: a date can be part of a model's
// name. The shortest is in lower case, without the vendor or path in front ("openai/gpt-5", "models/gemini-2.5-pro",
// "us.anthropic.claude-…"), without what is behind ":" or "@" ("qwen3:8b", ":free"), and without a date, "latest" or
// the form of the weights ("-q4_k_m", "-fp8", "-gguf") at its end.
func spellings(id string) []string {
	list := []string{base(id)}
	for {
		id = list[len(list)-1]
		cut := strings.LastIndexByte(id, '-')
		if cut <= 0 || !droppable(id[cut+1:]) {
			return list
		}
		if id = base(dropDate(strings.TrimRight(id[:cut], "-"))); id == "" {
			return list
		}
		list = append(list, id)
	}
}

// clouds are the vendors that stand before the id of a model of another one's cloud.
func clouds() []string {
	return []string{"anthropic.", "openai.", "meta.", "mistral.", "deepseek.", "qwen.", "moonshot.", "minimax.", "zai.",
		"google."}
}

// base is the id without what stands before and behind it.
func base(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	id = id[strings.LastIndexByte(id, '/')+1:]
	if cut := strings.IndexAny(id, ":@"); cut > 0 {
		id = id[:cut]
	}
	for _, vendor := range clouds() {
		if i := strings.LastIndex(id, vendor); i >= 0 && i+len(vendor) < len(id) {
			id = id[i+len(vendor):]
		}
	}
	return strings.TrimSpace(id)
}

// droppable reports whether the last word of an id does not tell which model it is.
func droppable(word string) bool {
	switch word {
	case "latest", "gguf", "fp8", "fp16", "bf16", "awq", "gptq", "int4", "int8", "4bit", "8bit", "mlx", "nvfp4",
		"mxfp4", "v1", "hf":
		return true
	}
	return isDate(word) || isQuantisation(word)
}

// isDate takes 20250514, 250615 and 2507, and the last part of 2025-04-14, which dropDate completes.
func isDate(word string) bool {
	switch len(word) {
	case 2, 4, 6, 8:
		return strings.Trim(word, "0123456789") == ""
	}
	return false
}

// dropDate removes what is left of a date of three words when its day is gone.
func dropDate(id string) string {
	n := len(id)
	if n > 8 && id[n-3] == '-' && id[n-8] == '-' && isDate(id[n-2:]) && isDate(id[n-7:n-3]) {
		return id[:n-8]
	}
	return id
}

// isQuantisation takes the names that llama.cpp gives its formats, such as q4_k_m, iq3_xs and q8_0.
func isQuantisation(word string) bool {
	word = strings.TrimPrefix(word, "i")
	return len(word) >= 2 && word[0] == 'q' && word[1] >= '1' && word[1] <= '9' && (len(word) == 2 || word[2] == '_')
}
