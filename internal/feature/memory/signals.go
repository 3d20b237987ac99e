package memory

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed signals/*.yaml
var ownSignals embed.FS

// reinforcement is the signal without which no fact is confirmed.
const reinforcement = "reinforcement"

// signalNames are in the order in which they are told.
func signalNames() []string {
	return []string{"correction", reinforcement, "preference", "identity", "goal", "decision"}
}

// signals are patterns that tell what the user may have said, by their names.
type signals map[string][]*regexp.Regexp

var standardSignals = sync.OnceValues(func() (signals, error) {
	dir, err := fs.Sub(ownSignals, "signals")
	if err != nil {
		return nil, err
	}
	return readSignals(dir, nil)
})

// signalsOf are the program's own, or those of a folder with files of the same names; a file that is not there leaves
// the program's own.
func signalsOf(folder string) (signals, error) {
	own, err := standardSignals()
	if err != nil || folder == "" {
		return own, err
	}
	return readSignals(os.DirFS(folder), own)
}

// maxSignals bounds a file, in bytes.
const maxSignals = 256 << 10

func readSignals(dir fs.FS, otherwise signals) (signals, error) {
	out := make(signals)
	for _, name := range signalNames() {
		raw, err := fs.ReadFile(dir, name+".yaml")
		if errors.Is(err, fs.ErrNotExist) && otherwise != nil {
			out[name] = otherwise[name]
			continue
		}
		var list []string
		if err == nil && len(raw) > maxSignals {
			err = fmt.Errorf("it has more than %d bytes", maxSignals)
		}
		if err == nil {
			err = yaml.Unmarshal(raw, &list)
		}
		for _, text := range list {
			re, wrong := regexp.Compile(text)
			out[name], err = append(out[name], re), errors.Join(err, wrong)
		}
		if err != nil {
			return nil, fmt.Errorf("read the patterns of the memory in %s.yaml: %w", name, err)
		}
	}
	return out, nil
}

// in are the names of those that the last of the turns give.
func (s signals) in(turns []turn) (names []string) {
	var text []string
	for _, t := range turns[max(0, len(turns)-signalTurns):] {
		if t.Human {
			text = append(text, t.Own)
		}
	}
	all := strings.Join(text, "\n")
	for _, name := range signalNames() {
		if slices.ContainsFunc(s[name], func(re *regexp.Regexp) bool { return re.MatchString(all) }) {
			names = append(names, name)
		}
	}
	return names
}
