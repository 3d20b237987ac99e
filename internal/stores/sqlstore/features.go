package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/database"
)

// known is what the store knows of a feature: its statements by their names.
type known struct {
	database.Feature

	queries, system map[string]statement
}

// statement is a text with what it does to which table; of one that only reads the table is empty.
type statement struct{ text, verb, table string }

// readFeatures reads the statements of all features for a database, "sqlite" or "postgres".
func readFeatures(list []database.Feature, variant string) (map[string]*known, error) {
	all := make(map[string]*known, len(list))
	for _, f := range list {
		queries, err := readStatements(f.Files, "queries", variant)
		var system map[string]statement
		if err == nil {
			system, err = readStatements(f.Files, "system", variant)
		}
		if err == nil && all[f.Name] != nil {
			err = errors.New("it is named twice")
		}
		if err != nil {
			return nil, fmt.Errorf("feature %s: %w", f.Name, err)
		}
		all[f.Name] = &known{f, queries, system}
	}
	return all, nil
}

// readStatements reads a folder. NAME.postgres.sql stands for NAME.sql on that database, and comes before it in the
// order of names.
func readStatements(files fs.FS, folder, variant string) (map[string]statement, error) {
	found, err := fs.Glob(files, folder+"/*.sql")
	list := make(map[string]statement, len(found))
	for i := 0; err == nil && i < len(found); i++ {
		name, of, _ := strings.Cut(strings.TrimSuffix(path.Base(found[i]), ".sql"), ".")
		if _, have := list[name]; have || of != "" && of != variant {
			continue
		}
		var text []byte
		if text, err = fs.ReadFile(files, found[i]); err == nil {
			list[name], err = newStatement(found[i], string(text))
		}
	}
	return list, err
}

var change = regexp.MustCompile(`^(INSERT INTO|UPDATE|DELETE FROM) (\w+)`)

// newStatement reads a file with one statement.
func newStatement(name, text string) (statement, error) {
	var code strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			code.WriteString(line)
		}
	}
	text = strings.TrimSuffix(strings.TrimSpace(code.String()), ";")
	st := statement{text: text, verb: "SELECT"}
	if m := change.FindStringSubmatch(text); m != nil {
		st.verb, st.table = m[1], m[2]
	} else if !strings.HasPrefix(text, "SELECT ") {
		return st, fmt.Errorf("%s does not begin with SELECT, INSERT INTO, UPDATE or DELETE FROM", name)
	}
	if strings.Contains(text, ";") {
		return st, fmt.Errorf("%s has more than one statement", name)
	}
	return st, nil
}

// line is the one line of migrations: those of the core and of all features for one database.
type line []fs.FS

var _ fs.GlobFS = line(nil)

// lineOf collects the migrations for a database, "sqlite" or "postgres".
func lineOf(features []database.Feature, folder string) (line, error) {
	var all line
	for _, files := range append([]fs.FS{migrations}, filesOf(features)...) {
		sub, err := fs.Sub(files, "migrations/"+folder)
		if err != nil {
			return nil, err
		}
		all = append(all, sub)
	}
	return all, nil
}

// newest is the version of the schema with those features.
func newest(features []database.Feature) (version int, err error) {
	all, err := lineOf(features, "sqlite")
	if err != nil {
		return 0, err
	}
	names, err := all.Glob("*.sql")
	if err == nil && len(names) > 0 {
		number, _, _ := strings.Cut(names[len(names)-1], "_")
		version, err = strconv.Atoi(number)
	}
	return version, err
}

func filesOf(features []database.Feature) (files []fs.FS) {
	for _, f := range features {
		files = append(files, f.Files)
	}
	return files
}

// Open implements [fs.FS].
func (l line) Open(name string) (fs.File, error) {
	for _, files := range l {
		if f, err := files.Open(name); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Glob implements [fs.GlobFS].
func (l line) Glob(pattern string) (names []string, err error) {
	for _, files := range l {
		found, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return names, nil
}
