// Command convert makes the recordings of test/golden from traces of other servers, which are not in this repository:
//
//	go run ./test/golden/convert -gateway DIR -langgraph DIR
//
// A trace is a text file of exchanges, each with request and response as they went over the wire.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/test/golden"
)

func main() {
	gateway := flag.String("gateway", "", "`folder` with the traces of DeerFlow's gateway")
	langgraph := flag.String("langgraph", "", "`folder` with the traces of LangGraph's JavaScript server")
	out := flag.String("out", "test/golden/testdata", "`folder` for the recordings")
	flag.Parse()
	for set, dir := range map[string]string{"gateway": *gateway, "langgraph": *langgraph} {
		if err := convertAll(set, dir, *out); err != nil {
			fmt.Fprintln(os.Stderr, "convert:", err)
			os.Exit(1)
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
		if err := golden.Write(out, &r); err != nil {
			return err
		}
	}
	return nil
}

// wanted leaves out what comes after the files: accounts, configuration, channels.
func wanted(name string) bool {
	return slices.Contains([]string{"1", "2", "3", "4", "5"}, name[:1])
}
