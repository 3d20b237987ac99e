package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// systemCallers are the files that may ask a store for its System, which looks at no user. Whoever acts for somebody
// who asks takes store.Store.For instead.
func systemCallers() []string {
	return []string{
		"cmd/pudu-bench/goals/commit.go", // a benchmark commits by itself
		"internal/app/backup.go",
		"internal/app/deleteuser.go",
		"internal/app/filehistory.go",
		"internal/app/gc.go",
		"internal/app/listen.go", // figures, and whether the database answers
		"internal/app/store.go",  // who holds a lease
		"internal/app/verify.go",
		"internal/feature/audit/audit.go",       // whose rows are the operator's
		"internal/feature/bin/jobs.go",          // deletes what has had its time
		"internal/feature/folders/system.go",    // whose folders are there, for the clean-up
		"internal/feature/models/models.go",     // whose rows are the installation's
		"internal/feature/search/jobs.go",       // looks for threads that are not indexed
		"internal/feature/session/session.go",   // finds out who asks
		"internal/feature/skills/skills.go",     // switches public skills for everybody
		"internal/job/queue.go",                 // what operators see of all jobs
		"internal/job/runner.go",                // does everybody's jobs
		"internal/replay/play.go",               // gives the thread of a replay its past
		"internal/runs/user.go",                 // the manager claims, commits and recovers
		"internal/stores/sqlstore/documents.go", // the checks of features
		"internal/testkit/databases/databases.go",
		"internal/testkit/gateways/trouble.go",
	}
}

// TestWhoIsTheSystem: the files that call System are those of the list. Tests may.
func TestWhoIsTheSystem(t *testing.T) {
	var found []string
	for _, p := range list(t) {
		for _, file := range p.GoFiles {
			name := filepath.Join(p.name(), file)
			if callsSystem(t, filepath.Join(root, name), nil) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	if diff := cmp.Diff(systemCallers(), found); diff != "" {
		t.Errorf("who may call System (-) and who does (+): %s", diff)
	}
	if !callsSystem(t, "x.go", "package x\n\nvar _ = st.System().Run\n") ||
		callsSystem(t, "x.go", "package x\n\nfunc (s) System() int { return 0 }\n") {
		t.Error("calls of System are not found, or others are")
	}
}

// callsSystem reads a file, or src instead when it is not nil.
func callsSystem(t *testing.T, file string, src any) (calls bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 0 {
			fn, ok := call.Fun.(*ast.SelectorExpr)
			calls = calls || ok && fn.Sel.Name == "System"
		}
		return true
	})
	return calls
}
