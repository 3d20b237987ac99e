package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pudu-ai/pudu/internal/secrets"
)

// fromInput behind a name reads the value from standard input.
const fromInput = "=-"

// readSecrets reads the values of --secret flags: of the environment, of standard input, or of the person. A value
// never stands on the command line, which everybody on the machine can read.
func readSecrets(stdio IO, specs []string, taskOnInput bool) (secrets.Values, error) {
	values, input := secrets.Values{}, ""
	for _, spec := range specs {
		name, isInput := strings.CutSuffix(spec, fromInput)
		if bare, _, given := strings.Cut(name, "="); given {
			return nil,
				usageError("--secret %s: a value on the command line can be read by others; export %[1]s and use "+
					"--secret %[1]s, or pipe it to "+
					"--secret %[1]s=-", bare)
		}
		if err := secrets.CheckName(name); err != nil {
			return nil, usageError("--secret: %w", err)
		}
		if _, twice := values[name]; twice {
			return nil, usageError("--secret %s is given twice", name)
		}
		if isInput {
			switch {
			case input != "":
				return nil, usageError("--secret %s=-: standard input is %s already", name, input)
			case taskOnInput:
				return nil,
					usageError("--secret %s=-: standard input is the task already; give the task as an argument", name)
			}
			input = name
		}
		value, err := stdio.secretOf(name, isInput)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	if err := values.Check(); err != nil {
		return nil, usageError("--secret: %w", err)
	}
	return values, nil
}

func (stdio IO) secretOf(name string, isInput bool) (string, error) {
	if isInput {
		raw, err := io.ReadAll(io.LimitReader(stdio.In, secrets.MaxValue+2))
		if err != nil {
			return "", usageError("--secret %s: read standard input: %w", name, err)
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r"), nil
	}
	if value, there := os.LookupEnv(name); there {
		return value, nil
	}
	if !stdio.InTTY {
		return "",
			usageError("--secret %s: there is no variable of that name, and nobody to ask; export it, or use "+
				"--secret %[1]s=- and pipe the value", name)
	}
	fmt.Fprintf(stdio.Err, "Value of %s (it is not shown): ", name)
	value, err := stdio.hiddenLine()
	if err != nil {
		return "", usageError("--secret %s: read the value: %w", name, err)
	}
	return value, nil
}

// secretFlags are the flags that ask for the same secrets again.
func secretFlags(v secrets.Values) (s string) {
	for _, name := range v.Names() {
		s += " --secret " + name
	}
	return s
}
