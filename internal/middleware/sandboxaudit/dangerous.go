package sandboxaudit

import (
	"path"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/shellwords"
)

// dangerous says why a command must not run, or nothing.
func dangerous(c *shellwords.Command) string {
	for _, class := range []func(*shellwords.Command) string{
		destroys, reads, writes, preloads, runsDownload, runsInput} {
		if reason := class(c); reason != "" {
			return reason
		}
	}
	return ""
}

// destroys finds what deletes or overwrites what the machine lives on.
func destroys(c *shellwords.Command) string {
	name := c.Base()
	switch {
	case name == "rm" && recursive(c.Args) && slices.ContainsFunc(c.Args, foundation):
		return "it deletes a system or home folder"
	case name == "dd" &&
		slices.ContainsFunc(c.Args, func(a shellwords.Word) bool { return strings.HasPrefix(a.Text, "if=") }):
		return "dd copies raw data"
	case name == "mkfs" || strings.HasPrefix(name, "mkfs."):
		return "mkfs makes a file system"
	}
	return ""
}

func recursive(args []shellwords.Word) bool {
	return slices.ContainsFunc(args, func(a shellwords.Word) bool {
		short := strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--")
		return short && strings.ContainsAny(a.Text, "rR") || a.Text == "--recursive"
	})
}

// foundation reports whether a word names the root, a home or a system folder, or all that is in one.
func foundation(w shellwords.Word) bool {
	if w.Open || w.Text == "" {
		return false
	}
	p := path.Clean(strings.TrimRight(w.Text, "*"))
	switch p {
	case "/", "~", "/home", "/root", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/var":
		return strings.HasSuffix(strings.TrimRight(w.Text, "*"), "/") || !strings.HasSuffix(w.Text, "*")
	}
	return false
}

// reads finds secrets of the system in the words and inputs of a command.
func reads(c *shellwords.Command) string {
	for _, r := range c.Redirects {
		if strings.HasPrefix(r.Op, "<<") {
			continue
		}
		if reason := secret(r.Target); reason != "" {
			return reason
		}
	}
	if says(c.Base()) {
		return ""
	}
	for _, a := range c.Args {
		if reason := secret(a); reason != "" {
			return reason
		}
	}
	return ""
}

// says reports whether a program does nothing with its words but print or compare them.
func says(name string) bool {
	return name == "echo" || name == "printf" || name == "[" || name == "test"
}

// secret says what a word opens that nobody should, or nothing. A dd-like "if=" before it is taken off.
func secret(w shellwords.Word) string {
	text := w.Text
	if _, value, ok := strings.Cut(text, "="); ok {
		text = value
	}
	switch p := path.Clean(text); {
	case p == "/etc/shadow" || w.Glob && matches(p, "/etc/shadow"):
		return "it reads /etc/shadow"
	case strings.HasPrefix(text, "/proc/") &&
		(strings.HasSuffix(p, "/environ") || strings.HasSuffix(w.Tail, "/environ") ||
			w.Glob && matches(p, "/proc/1/environ")):
		return "it reads the environment of processes"
	case strings.HasPrefix(text, "/dev/tcp/") || strings.HasPrefix(text, "/dev/udp/"):
		return "it opens a connection to the network"
	}
	return ""
}

func matches(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// writes finds output into system folders and into files that a shell runs when it starts.
func writes(c *shellwords.Command) string {
	var targets []shellwords.Word
	for _, r := range c.Redirects {
		if r.Writes() {
			targets = append(targets, r.Target)
		}
	}
	if c.Base() == "tee" {
		targets = append(targets, c.Args...)
	}
	for _, w := range targets {
		switch p := path.Clean(w.Text); {
		case slices.ContainsFunc([]string{"/etc/", "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/"},
			func(dir string) bool { return strings.HasPrefix(p+"/", dir) }):
			return "it writes to a system folder"
		case startFile(p):
			return "it changes a file that shells run when they start"
		}
	}
	return ""
}

func startFile(p string) bool {
	dir, name := path.Split(p)
	home := dir == "~/" || dir == "/root/" || strings.HasPrefix(dir, "/home/") && strings.Count(dir, "/") == 3
	return home && slices.Contains([]string{".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc",
		".zprofile", ".zshenv"}, name)
}

// preloads finds variables that put foreign code into every program.
func preloads(c *shellwords.Command) string {
	for _, a := range c.Assigns {
		if a.Name == "LD_PRELOAD" || a.Name == "LD_LIBRARY_PATH" {
			return "it sets " + a.Name
		}
	}
	return ""
}

// runsDownload finds what a substitution fetches or makes, where it is run: as the command itself, by eval or source,
// or as the code of an interpreter. As a value ("x=$(curl ...)", "echo $(...)") it passes.
func runsDownload(c *shellwords.Command) string {
	const reason = "it would run what a substitution returns"
	if c.Name.Text == "" && makesCode(c.Name) {
		return reason
	}
	name := c.Base()
	if (name == "eval" || name == "source" || name == ".") && slices.ContainsFunc(c.Args, makesCode) {
		return reason
	}
	if !interpreter(name) {
		return ""
	}
	for _, letter := range []string{"c", "e", "p", "r"} {
		if code, ok := shellwords.Code(c, letter); ok && makesCode(code) {
			return reason
		}
	}
	for _, r := range c.Redirects {
		if r.Op == "<<<" && makesCode(r.Target) {
			return reason
		}
	}
	if script := shellwords.Operand(c); makesCode(script) { // bash <(curl ...)
		return reason
	}
	return ""
}

// makesCode reports whether the substitutions of a word run a program that fetches, decodes or writes code.
func makesCode(w shellwords.Word) bool { return slices.ContainsFunc(w.Runs, maker) }

func maker(c *shellwords.Command) bool {
	return fetches(c) || c.Base() == "base64" || interpreter(c.Base())
}

func fetches(c *shellwords.Command) bool { return c.Base() == "curl" || c.Base() == "wget" }

// decodes reports whether a command is base64 that decodes.
func decodes(c *shellwords.Command) bool {
	return c.Base() == "base64" && slices.ContainsFunc(c.Args, func(a shellwords.Word) bool {
		return strings.HasPrefix(a.Text, "--d") || a.Text == "-D" || strings.HasPrefix(a.Text, "-") &&
			!strings.HasPrefix(a.Text, "--") && strings.Contains(a.Text, "d")
	})
}

func interpreter(name string) bool {
	if shellwords.Shell(name) {
		return true
	}
	switch strings.TrimRight(name, "0123456789.") {
	case "python", "ruby", "perl", "node", "php":
		return true
	}
	return false
}

// runsInput finds a pipe into a shell, a download into any interpreter, and decoded text into anything but a filter.
func runsInput(c *shellwords.Command) string {
	if len(c.From) == 0 {
		return ""
	}
	name := c.Base()
	reading := interpreter(name) && shellwords.Operand(c).Text == "" && !hasCode(c)
	switch {
	case reading && shellwords.Shell(name):
		return "it pipes into a shell"
	case reading && slices.ContainsFunc(c.From, fetches):
		return "it would run what a download returns"
	case (name == "source" || name == ".") && shellwords.Operand(c).Text == "":
		return "it pipes into a shell"
	case slices.ContainsFunc(c.From, decodes) && !filter(name):
		return "it would run decoded text"
	}
	return ""
}

// hasCode reports whether an interpreter has its code in its arguments, so that its input is data.
func hasCode(c *shellwords.Command) bool {
	return slices.ContainsFunc([]string{"c", "e", "p", "r", "m"}, func(letter string) bool {
		_, ok := shellwords.Code(c, letter)
		return ok
	})
}

// filter reports whether a program only looks at its input or writes it on.
func filter(name string) bool {
	return slices.Contains([]string{
		"cat", "head", "tail", "grep", "jq", "wc", "od", "xxd", "hexdump", "file", "sort", "uniq", "cut", "tr",
		"strings", "md5sum", "sha1sum", "sha256sum", "cksum", "gzip", "gunzip", "zcat", "tee", "less", "base64",
	}, name)
}
