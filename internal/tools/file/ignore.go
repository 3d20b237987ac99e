package file

import "path"

// ignored reports names that ls, glob and grep leave out: version control, dependencies, build results, caches, logs
// and what editors and systems leave behind. A file that is named outright is read all the same.
func ignored(name string) bool {
	if ignoredNames[name] {
		return true
	}
	for _, p := range ignoredPatterns {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

var ignoredNames = set(
	".git", ".svn", ".hg", ".bzr",
	"node_modules", "__pycache__", ".venv", "venv", ".env", "env", ".tox", ".nox", ".eggs", "site-packages",
	"dist", "build", ".next", ".nuxt", ".output", ".turbo", "target", "out",
	".idea", ".vscode", ".project", ".classpath", ".settings",
	".DS_Store", "Thumbs.db", "desktop.ini",
	".cache", "logs", ".coverage", "coverage", ".nyc_output", "htmlcov", ".pytest_cache", ".mypy_cache", ".ruff_cache",
)

var ignoredPatterns = []string{
	"*.egg-info", "*.swp", "*.swo", "*~", "*.lnk", "*.log", "*.tmp", "*.temp", ".upload-*.part", "*.bak", "*.cache",
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
