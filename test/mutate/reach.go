package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/cover"
)

// reach says which tests of a package reach which lines, and how long each test takes.
type reach struct {
	pkg   string
	tests []reachingTest // the quickest first
}

type reachingTest struct {
	name   string
	took   time.Duration
	blocks map[string][]block // of each file of the package, by its name
}

// block is a piece of a file, from its first to its last line.
type block struct{ from, to int }

// findReach runs each test of a package alone, and looks which lines of pkg it reaches. dir is for its files.
func findReach(ctx context.Context, pkg, tests, dir string) (r reach, err error) {
	r.pkg = tests
	binary := filepath.Join(dir, "cover.test")
	if out, err := build(ctx, tests, binary, "-cover", "-coverpkg=./"+pkg); err != nil {
		return r, fmt.Errorf("build its tests: %w\n%s", err, out)
	}
	list, err := runTests(ctx, tests, binary, time.Minute, "-test.list", ".")
	if err != nil {
		return r, fmt.Errorf("list its tests: %w\n%s", err, list)
	}
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSpace(name)
		if !isTest.MatchString(name) {
			continue
		}
		profile, begun := filepath.Join(dir, "cover.out"), time.Now()
		out, err := runTests(ctx, tests, binary, 10*time.Minute, "-test.run", only(name), "-test.coverprofile", profile)
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			return r, fmt.Errorf("its test %s fails without a change: %w\n%s", name, err, out)
		}
		t := reachingTest{name: name, took: time.Since(begun)}
		if t.blocks, err = readProfile(profile); err != nil {
			return r, fmt.Errorf("its test %s: %w", name, err)
		}
		r.tests = append(r.tests, t)
	}
	slices.SortStableFunc(r.tests, func(a, b reachingTest) int { return cmp.Compare(a.took, b.took) })
	return r, nil
}

// isTest matches what -test.list names of tests; benchmarks are not run.
var isTest = regexp.MustCompile(`^(Test|Fuzz|Example)`)

// only is the pattern of the tests of these names.
func only(names ...string) string { return "^(" + strings.Join(names, "|") + ")$" }

// of returns the tests in groups that are tried one after the other, each test once: first those that reach a line,
// each group of which takes about four times as long as the one before it, then the others, which may reach it in
// another process.
func (r reach) of(file string, line int) (groups []group) {
	var others group
	most := 2 * time.Second
	for _, t := range r.tests {
		last := len(groups) - 1
		switch {
		case !t.reaches(file, line):
			others.add(t)
		case last >= 0 && groups[last].takes+t.took <= most:
			groups[last].add(t)
		default:
			if last >= 0 {
				most *= 4
			}
			groups = append(groups, group{tests: []string{t.name}, takes: t.took})
		}
	}
	if len(others.tests) > 0 {
		groups = append(groups, others)
	}
	return groups
}

func (t reachingTest) reaches(file string, line int) bool {
	return slices.ContainsFunc(t.blocks[filepath.Base(file)],
		func(b block) bool { return b.from <= line && line <= b.to })
}

// group is some tests, and how long they take one after the other.
type group struct {
	tests []string
	takes time.Duration
}

func (g *group) add(t reachingTest) {
	g.tests, g.takes = append(g.tests, t.name), g.takes+t.took
}

// readProfile returns the blocks of a coverage profile that were run, by the names of their files.
func readProfile(path string) (map[string][]block, error) {
	profiles, err := cover.ParseProfiles(path)
	if err != nil {
		return nil, fmt.Errorf("read coverage: %w", err)
	}
	blocks := make(map[string][]block)
	for _, p := range profiles {
		for _, b := range p.Blocks {
			if name := filepath.Base(p.FileName); b.Count > 0 {
				blocks[name] = append(blocks[name], block{from: b.StartLine, to: b.EndLine})
			}
		}
	}
	return blocks, os.Remove(path)
}
