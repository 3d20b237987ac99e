//go:build linux

package bwrap

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// known are programs worth telling a model about, in the order in which it hears of them.
var known = []string{
	"python3", "pip3", "node", "npm", "go", "gcc", "make", "cargo", "java", "ruby", "perl", "php",
	"git", "jq", "sqlite3", "psql", "rg", "curl", "wget", "zip", "unzip", "tar", "xz", "pdftotext", "pandoc",
	"libreoffice", "ffmpeg", "convert", "dot", "gnuplot", "tesseract", "R",
}

// Programs lists which well-known programs there are inside, without starting a sandbox: those that the system has
// below /usr.
func (p *Provider) Programs(context.Context) []string {
	return programs([]string{"/usr/local/bin", "/usr/bin"}, known)
}

func programs(dirs, names []string) []string {
	var out []string
	for _, name := range names {
		for _, dir := range dirs {
			if runnable(filepath.Join(dir, name)) {
				out = append(out, name)
				break
			}
		}
	}
	return out
}

// runnable reports whether path leads to a program that is still there when nothing but /usr is.
func runnable(path string) bool {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil || !strings.HasPrefix(resolved, "/usr/") {
		return false
	}
	fi, err := os.Stat(resolved)
	return err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}
