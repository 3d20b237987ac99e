// Package untrusted takes the power out of text that came from outside before it goes to a model: what a user typed, a web
// page, the name of a file. The program speaks to the model in tags such as <system-reminder>, and marks where the user's
// words begin and end; a text that holds such marks could pass for the program's own words.
package untrusted

import (
	"regexp"
	"strings"
)

// The lines around what a user said.
const (
	Begin = "--- BEGIN USER INPUT ---"
	End   = "--- END USER INPUT ---"
)

// reserved are the tags with which the program speaks, and those that models take for instructions.
const reserved = "system-reminder|system_reminder|memory|current_date|think|analysis|role|soul|self_update|thinking_style|" +
	"clarification_system|critical_reminders|response_style|citations|uploaded_files|current_uploads|subagent_system|skill_system|" +
	"skill_index|available_skills|disabled_skills|memory_tool_system|todo_list_system|durable_context_data|slash_skill_activation|" +
	"mcp_routing_hints|available-deferred-tools|goal_continuation|background_task_event|file_editing_workflow|guidelines|" +
	"output_format|working_directory|tool_restrictions|system|instruction|important|override|ignore|prompt"

// tag matches an opening, closing or self-closing reserved tag, with attributes and also where it is cut off.
var tag = regexp.MustCompile(`(?i)<\s*/?\s*(?:` + reserved + `)\b(?:[^<>]*>)?`)

var marks = strings.NewReplacer(Begin, "[BEGIN USER INPUT]", End, "[END USER INPUT]")

var escape = strings.NewReplacer("<", "&lt;", ">", "&gt;")

// Text returns s with its reserved tags escaped and its marks replaced. A text without any is returned as it is, and
// doing it twice changes nothing more.
func Text(s string) string {
	if strings.Contains(s, "---") {
		s = marks.Replace(s)
	}
	if !strings.Contains(s, "<") {
		return s
	}
	return tag.ReplaceAllStringFunc(s, escape.Replace)
}

// Line is Text for names and titles that stand in a line: line breaks become blanks, and no tag survives.
func Line(s string) string {
	return escape.Replace(strings.Join(strings.Fields(Text(s)), " "))
}
