package untrusted

import "strings"

// reserved are the tags with which the program speaks, and those that models take for instructions.
const reserved = "system-reminder|system_reminder|memory|current_date|think|analysis|role|soul|self_update|" +
	"thinking_style|clarification_system|critical_reminders|response_style|citations|uploaded_files|" +
	"current_uploads|subagent_system|skill_system|skill_index|available_skills|disabled_skills|" +
	"memory_tool_system|todo_list_system|durable_context_data|slash_skill_activation|skill_secrets|" +
	"mcp_routing_hints|available-deferred-tools|goal_continuation|background_task_event|" +
	"file_editing_workflow|guidelines|output_format|working_directory|tool_response|tool_restrictions|" +
	"system|instruction|important|override|ignore|prompt"

// names are the reserved tags; shortest and longest are the lengths of the names in bytes.
var names = func() map[string]bool {
	set := make(map[string]bool)
	for name := range strings.SplitSeq(reserved, "|") {
		set[name] = true
	}
	return set
}()

const shortest, longest = 4, 24

// escapeTags escapes the angle brackets of reserved tags: opening, closing and self-closing ones, with attributes and
// also where they are cut off.
func escapeTags(s string) string {
	var b strings.Builder
	done := 0 // what of s is in b
	for at := 0; ; at++ {
		next := strings.IndexByte(s[at:], '<')
		if next < 0 {
			break
		}
		at += next
		name := nameAfter(s, at+1)
		if name < 0 || !isReserved(s[name:]) {
			continue
		}
		b.WriteString(s[done:at])
		b.WriteString("&lt;")
		done = at + 1
		if end := strings.IndexAny(s[name:], "<>"); end >= 0 && s[name+end] == '>' {
			at = name + end
			b.WriteString(s[done:at])
			b.WriteString("&gt;")
			done = at + 1
		}
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// nameAfter is where the name of a tag begins whose bracket ends at i, or -1.
func nameAfter(s string, i int) int {
	for slash := false; i < len(s); i++ {
		switch s[i] {
		case ' ', '\t', '\n', '\f', '\r', '\v':
		case '/':
			if slash {
				return -1
			}
			slash = true
		default:
			return i
		}
	}
	return -1
}

// isReserved reports whether s begins with a reserved name, in any case, that ends where a word does.
func isReserved(s string) bool {
	var name [longest]byte
	n := 0
	for i := 0; i < len(s); n++ {
		c, size := letter(s[i:])
		if c == 0 || c == '-' {
			if n >= shortest && names[string(name[:n])] {
				return true
			}
			if c == 0 {
				return false
			}
		}
		if n == longest {
			return false
		}
		name[n], i = c, i+size
	}
	return n >= shortest && names[string(name[:n])]
}

// letter is the byte of a name, in lower case, with which s begins, and how long it is in s; 0 if s begins with
// another. Two letters beyond ASCII are the same as one of ASCII but for their case.
func letter(s string) (c byte, size int) {
	switch c = s[0]; {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A', 1
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-':
		return c, 1
	case strings.HasPrefix(s, "\u017f"): // long s
		return 's', len("\u017f")
	case strings.HasPrefix(s, "\u212a"): // the sign for Kelvin
		return 'k', len("\u212a")
	}
	return 0, 0
}
