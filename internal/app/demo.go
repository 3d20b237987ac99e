package app

import (
	_ "embed"
	"errors"
	"io/fs"

	"github.com/pudu-ai/pudu/examples"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/sandbox"
)

// The scripts of the demonstration, with and without a sandbox.
var (
	//go:embed demo.yaml
	demoScript []byte
	//go:embed demo-files.yaml
	demoFilesScript []byte
)

// demo is the script that can be played with the sandbox, or without.
func (b box) demo() []byte {
	if b.off != "" {
		return demoFilesScript
	}
	return demoScript
}

// layOut puts the file of the demonstration where the script expects it, for a task that came in without.
func layOut(files *sandbox.Files) error {
	path := sandbox.Uploads + "/" + demo().Name
	if _, err := files.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return files.WriteFile(path, demo().File, false)
}

// demo is the task that the scripts carry out.
func demo() *cli.Demo {
	return &cli.Demo{
		Task: "Find the three best months in sales.csv. Write report.md with a table of them, and chart.svg with the " +
			"revenue of every month.",
		Name: "sales.csv", File: examples.SalesCSV,
	}
}
