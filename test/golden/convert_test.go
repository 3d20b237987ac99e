package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Where the traces of other servers are, which are not in this repository.
var (
	gatewayTraces   = flag.String("gateway", "", "`folder` with the traces of DeerFlow's gateway")
	langgraphTraces = flag.String("langgraph", "", "`folder` with the traces of LangGraph's JavaScript server")
)

// TestConvert makes the recordings anew from traces of other servers, if it is told where they are:
//
//	go test ./test/golden -run TestConvert -gateway DIR -langgraph DIR
//
// A trace is a text file of exchanges, each with request and response as they went over the wire.
func TestConvert(t *testing.T) {
	for set, dir := range map[string]string{"gateway": *gatewayTraces, "langgraph": *langgraphTraces} {
		if dir == "" {
			continue
		}
		if err := convertAll(set, dir, "testdata"); err != nil {
			t.Error(err)
		}
	}
}

func convertAll(set, dir, out string) error {
	files, err := filepath.Glob(filepath.Join(dir, "[0-9]*.txt"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no traces in %q; give the folder with -%s", dir, set)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if set == "gateway" && !wanted(name) {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		traces, err := parse(string(raw))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		r := convert(set+"/"+name, traces)
		if err := Write(out, &r); err != nil {
			return err
		}
	}
	return nil
}

// wanted leaves out what comes after the files, but agents, skills and memory: accounts, configuration, channels.
func wanted(name string) bool {
	return slices.Contains([]string{"1", "2", "3", "4", "5"}, name[:1]) || exact("gateway/"+name)
}

// exact are the recordings of agents, skills and memory, whose answers follow from the requests alone.
func exact(name string) bool {
	return slices.ContainsFunc([]string{"71-", "72-", "77-", "78-", "79-"},
		func(n string) bool { return strings.HasPrefix(name, "gateway/"+n) })
}
