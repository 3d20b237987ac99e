package sandboxaudit

import (
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/shellwords"
)

// risky names what about a command deserves a second thought, or nothing.
func risky(c *shellwords.Command) string {
	name := c.Base()
	if slices.ContainsFunc(c.Before, privileged) || privileged(name) {
		return "it asks for the rights of another user"
	}
	if slices.ContainsFunc(c.Assigns, func(a shellwords.Assign) bool { return a.Name == "PATH" }) {
		return "it changes PATH"
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(c.Args, func(a shellwords.Word) bool { return slices.Contains(words, a.Text) })
	}
	switch {
	case name == "chmod" && has("777", "0777", "a+rwx", "ugo+rwx"):
		return "it opens files to everybody"
	case strings.TrimRight(name, "0123456789.") == "pip" && has("install"), has("pip") && has("install") &&
		(name == "uv" || has("-m")):
		return "it installs Python packages"
	case (name == "apt" || name == "apt-get") && has("install"):
		return "it installs system packages"
	}
	return ""
}

func privileged(name string) bool { return name == "sudo" || name == "su" || name == "doas" }
