package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
	"github.com/pudu-ai/pudu/internal/testkit/toolboxes"
)

// TestOffice: sessions with the toolbox, which are as those of TestScripts.
func TestOffice(t *testing.T) {
	box := toolboxes.Get(t, "../../.cache/toolbox").Host
	if _, err := exec.LookPath("pdftotext"); err != nil {
		machinetest.Cannot(t, "pdftotext, which reads what was made")
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "office"), RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("PUDU_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("BOX", box)
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
		},
	})
}
