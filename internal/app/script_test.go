package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pudu-ai/pudu/internal/app"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pudu": func() { os.Exit(app.Main("test")) }})
}

// TestScripts runs the program as a user does: each file of testdata/script is one session, with the real sandbox and
// the real store. Only the model is scripted.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Setenv("PUDU_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("OLLAMA_HOST", "127.0.0.1:9") // nothing listens there
			return os.MkdirAll(home, 0o755)
		},
	})
}
