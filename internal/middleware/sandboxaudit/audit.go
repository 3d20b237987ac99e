package sandboxaudit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/shellwords"
)

// MaxChars is the most characters of a command.
const MaxChars = 10_000

// Level says what becomes of a command.
type Level string

// The levels.
const (
	Pass  Level = "pass"
	Warn  Level = "warn"  // it runs, and its result has a warning
	Block Level = "block" // it does not run
)

// Verdict is the judgement of a command.
type Verdict struct {
	Level Level
	// Reason says for the model what is wrong; empty with Pass.
	Reason string
	// Programs are the names of the programs that the command would run, without arguments; see [shellwords.Names].
	Programs []string
}

// violation begins the reason of every command that is dangerous, other than one that is no command at all.
const violation = "security violation detected: "

// Judge looks at a command of bash. A line that cannot be parsed is read in a rough way that finds too much rather than
// too little.
func Judge(command string) Verdict {
	switch n := utf8.RuneCountInString(command); {
	case strings.TrimSpace(command) == "":
		return Verdict{Level: Block, Reason: "empty command"}
	case n > MaxChars:
		return Verdict{Level: Block,
			Reason: fmt.Sprintf("command too long (%d characters, at most %d); write long content with a file tool", n,
				MaxChars)}
	case strings.ContainsRune(command, 0):
		return Verdict{Level: Block, Reason: "null byte detected"}
	}
	script, err := shellwords.Parse(command)
	if err != nil {
		script = shellwords.Rough(command)
	}
	v := Verdict{Level: Pass, Programs: shellwords.Names(script.Commands)}
	if script.Bomb {
		v.Level, v.Reason = Block, violation+"it starts processes without end"
		return v
	}
	for _, c := range script.Commands {
		if reason := dangerous(c); reason != "" {
			v.Level, v.Reason = Block, violation+reason
			return v
		}
		if reason := risky(c); reason != "" && v.Level == Pass {
			v.Level, v.Reason = Warn, reason
		}
	}
	return v
}
