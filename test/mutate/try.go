package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fate is what became of a change.
type fate int

const (
	noticed  fate = iota // a test failed, or did not end
	survived             // all tests passed
	stale                // it does not compile
)

// examine tries a sample of the changes of a package, by its own tests or, if it is named as PACKAGE@OTHER,ANOTHER, by
// those of the others, one after the other.
func (o options) examine(ctx context.Context, named string, known map[string]string,
	out io.Writer) (r result, err error) {
	begun := time.Now()
	pkg, tests, of := strings.Cut(named, "@")
	if pkg = filepath.Clean(pkg); !of {
		tests = pkg
	}
	r.pkg = filepath.ToSlash(pkg)
	files, err := sources(ctx, pkg)
	if err != nil {
		return r, err
	}
	all, err := find(files)
	if err != nil {
		return r, err
	}
	r.possible = len(all)
	rnd := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // a sample
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = slices.DeleteFunc(all, func(c change) bool { return !strings.Contains(c.name(), o.match) })
	var by []reach
	for tests := range strings.SplitSeq(tests, ",") {
		reached, err := findReach(ctx, pkg, tests, o.dir)
		if err != nil {
			return r, err
		}
		by = append(by, reached)
	}
	var mu sync.Mutex
	var trying sync.WaitGroup
	open := 0 // changes that are being tried
	next := func() (c change, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		for ctx.Err() == nil && err == nil && r.noticed+r.survived+open < o.sample && len(all) > 0 {
			c, all = all[0], all[1:]
			if known[c.name()] == "" {
				open++
				return c, true
			}
			r.without++
		}
		return c, false
	}
	for n := range o.parallel {
		trying.Go(func() {
			for c, ok := next(); ok; c, ok = next() {
				f, who, failed := try(ctx, c, filepath.Join(o.dir, strconv.Itoa(n)), by)
				mu.Lock()
				err = errors.Join(err, failed)
				if open--; ctx.Err() == nil {
					r.count(f)
					o.tell(out, f, c, who)
				}
				mu.Unlock()
			}
		})
	}
	trying.Wait()
	r.took = time.Since(begun)
	return r, errors.Join(err, ctx.Err())
}

func (r *result) count(f fate) {
	switch f {
	case noticed:
		r.noticed++
	case stale:
		r.stale++
	case survived:
		r.survived++
	}
}

// tell prints what became of a change: that it survived, or, if everything is asked for, which test noticed it.
func (o options) tell(out io.Writer, f fate, c change, by string) {
	switch {
	case f == survived:
		fmt.Fprintf(out, "survived, line %d: %s\n", c.line, c.name())
	case f == noticed && o.verbose:
		fmt.Fprintf(out, "noticed by %s, line %d: %s\n", by, c.line, c.name())
	}
}

// sources are the files of a package that this system builds, without tests.
func sources(ctx context.Context, pkg string) (files []string, err error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", `{{range .GoFiles}}{{.}}{{"\n"}}{{end}}`, "./"+pkg).
		Output()
	if err != nil {
		return nil, fmt.Errorf("list its files: %w", err)
	}
	for name := range strings.Lines(string(out)) {
		files = append(files, filepath.Join(pkg, strings.TrimSpace(name)))
	}
	return files, nil
}

// try runs the tests of some packages on a change, and says which noticed it. dir is for its files.
func try(ctx context.Context, c change, dir string, by []reach) (f fate, who string, err error) {
	overlay, err := c.overlay(dir)
	if err != nil {
		return stale, "", err
	}
	binary := filepath.Join(dir, "changed.test")
	for _, r := range by {
		if _, err := build(ctx, r.pkg, binary, "-overlay", overlay); err != nil {
			return stale, "", ctx.Err()
		}
		for _, g := range r.of(c.file, c.line) {
			if who = notices(ctx, r.pkg, binary, g); who != "" {
				return noticed, who, ctx.Err()
			}
		}
	}
	return survived, "", ctx.Err()
}

// overlay writes the changed file, and the file that tells the go command to take it.
func (c change) overlay(dir string) (string, error) {
	path, err := filepath.Abs(c.file)
	if err != nil {
		return "", err
	}
	file, overlay := filepath.Join(dir, filepath.Base(c.file)), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: file}})
	if err == nil {
		err = errors.Join(
			os.MkdirAll(dir, 0o700), os.WriteFile(file, c.changed(), 0o600), os.WriteFile(overlay, list, 0o600),
		)
	}
	if err != nil {
		return "", fmt.Errorf("write change: %w", err)
	}
	return overlay, nil
}

// notices runs some tests and names the one that failed. On a busy machine tests may once take longer than they should:
// if they come to no end they are run again, with more time.
func notices(ctx context.Context, tests, binary string, g group) string {
	limit := 30*time.Second + 3*g.takes
	for range 2 {
		out, failed := runTests(ctx, tests, binary, limit, "-test.failfast", "-test.run", only(g.tests...))
		if failed == nil {
			return ""
		}
		if !bytes.Contains(out, []byte("panic: test timed out")) {
			return failedTest(out)
		}
		limit *= 2
	}
	return "the time"
}

// failedTest is the name of the test that failed first.
func failedTest(out []byte) string {
	if m := failedLine.FindSubmatch(out); m != nil {
		return string(m[1])
	}
	return "the process's end"
}

var failedLine = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// bounded starts the tests so that each of their processes gets at most 2 GiB of memory: a change may allocate without
// end. A process that wants more dies, which counts as noticed.
const bounded = `ulimit -d 2097152 && exec "$0" "$@"`

// build compiles the tests of a package.
func build(ctx context.Context, pkg, binary string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	args = append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}, args...)
	return exec.CommandContext(ctx, "go", append(args, "./"+pkg)...).CombinedOutput()
}

// runTests runs tests of a package alone. They end themselves at the limit; the process gets a little longer.
func runTests(ctx context.Context, pkg, binary string, limit time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", bounded, binary, "-test.timeout", limit.String()},
		args...)...)
	cmd.Dir = pkg
	cmd.Env = append(os.Environ(), "RAPID_NOFAILFILE=1") // nothing is written beside the source
	cmd.WaitDelay = 10 * time.Second
	return cmd.CombinedOutput()
}

// readTable reads the survivors that change nothing: lines of a change's name, " | " and the reason.
func readTable(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	known := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndex(line, " | ")
		if at < 0 {
			return nil, fmt.Errorf("read table: no reason in %q", line)
		}
		known[line[:at]] = line[at+3:]
	}
	return known, nil
}
