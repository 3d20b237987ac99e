package structure

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// dialers are the packages that may connect to somewhere by themselves, each with its reason. Everything else uses a
// client of internal/outgoing, which checks the address.
func dialers() map[string]string {
	return map[string]string{
		"internal/outgoing":    "it is the guarded client",
		"internal/model/wire":  "the models' servers, which the operator names",
		"internal/model/probe": "the list of models of such a server",
		"internal/app":         "the local Ollama",
		"internal/buses/nats":  "the bus",
		"tool":                 "the client that answers that there is none",
		"internal/client":      "the server that the person at the terminal names",
	}
}

// dials are what connects, by import path.
func dials() map[string][]string {
	return map[string][]string{
		"net":        {"Dial", "DialIP", "DialTCP", "DialTimeout", "DialUDP", "DialUnix", "Dialer"},
		"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
		"net/http":   {"Client", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm", "Transport"},
	}
}

// TestNobodyElseDials: tests, programs that measure and examples may; the program may where dialers says so.
func TestNobodyElseDials(t *testing.T) {
	used := map[string]bool{}
	others := regexp.MustCompile(`^(cmd|examples|test|internal/testkit)/|_test\.go$`)
	for _, file := range goFiles(t) {
		if others.MatchString(file) {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range dialsIn(set, f) {
			if dir := path.Dir(file); dialers()[dir] == "" {
				t.Errorf("%s: use a client of internal/outgoing, or name the package and its reason in dialers()", at)
			} else {
				used[dir] = true
			}
		}
	}
	for dir := range dialers() {
		if !used[dir] {
			t.Errorf("%s does not dial: take it out of dialers()", dir)
		}
	}
}

// dialsIn are the places of a file that make a connection or a client. To name the type *http.Client is none.
func dialsIn(set *token.FileSet, f *ast.File) (places []string) {
	names := map[string][]string{} // by the name of the import in this file
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil || dials()[p] == nil {
			continue
		}
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = dials()[p]
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr, *ast.FieldList: // types of parameters and fields; what they hold is made elsewhere
			return false
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && slices.Contains(names[of.Name], n.Sel.Name) {
				places = append(places, fmt.Sprintf("%s: %s.%s", set.Position(n.Pos()), of.Name, n.Sel.Name))
			}
		}
		return true
	})
	return places
}

func TestDialsAreFound(t *testing.T) {
	const src = `package p
import ("net"; web "net/http")
type s struct { c *web.Client }
func f(c *web.Client) error {
	_, err := net.Dial("tcp", "x:1")
	_ = web.DefaultClient
	_ = &web.Client{}
	var d net.Dialer
	_ = d
	_, _ = c.Get("x")
	return err
}`
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"p.go:5:12: net.Dial", "p.go:6:6: web.DefaultClient", "p.go:7:7: web.Client",
		"p.go:8:8: net.Dialer"}
	if got := dialsIn(set, f); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
