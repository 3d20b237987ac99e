package app

import (
	_ "embed"

	"github.com/pudu-ai/pudu/examples"
	"github.com/pudu-ai/pudu/internal/cli"
)

// The scripts of the demonstration, with and without a sandbox.
var (
	//go:embed demo.yaml
	demoScript []byte
	//go:embed demo-files.yaml
	demoFilesScript []byte
)

// demo is the task that the scripts carry out.
func demo() cli.Demo {
	return cli.Demo{
		Task: "Find the three best months in sales.csv. Write report.md with a table of them, and chart.svg with the revenue of every month.",
		Name: "sales.csv", File: examples.SalesCSV,
	}
}
