package lead_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/state"
)

// ownPlace is the name of the place for what an embedding program adds.
const ownPlace = "(your own)"

// madeByName are the middlewares of the full chain, by name.
func madeByName() map[string]agent.Middleware {
	made := make(map[string]agent.Middleware)
	for _, m := range lead.Chain(lead.Full(config.Default())) {
		made[m.Name()] = m
	}
	return made
}

func TestTheFullChainHasAMiddlewareInEveryPlaceThatIsBuilt(t *testing.T) {
	off := config.Default()
	*off = config.Config{}
	made := lead.Chain(lead.Full(off))
	var got, want []string
	for _, m := range made {
		got = append(got, m.Name())
	}
	for _, p := range lead.Places() {
		if p.Later == "" && p.Name != ownPlace {
			want = append(want, p.Name)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the chain of lead.Full (-places +made):\n%s", d)
	}
	for _, p := range lead.Places() {
		if p.For == "" || p.Later == "" && p.Why == "" {
			t.Errorf("%s: a place says what it is for and why it stands where it stands", p.Name)
		}
	}
}

// TestTheDocumentationIsThatOfTheCode holds docs/middlewares.md to what the code says.
func TestTheDocumentationIsThatOfTheCode(t *testing.T) {
	const path = "../../docs/middlewares.md"
	page := documentation(t)
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(page, string(have)); d != "" {
		t.Errorf("%s is not what the code says; write it anew with: go test ./internal/lead -update (-code +page)\n%s",
			path, d)
	}
}

func documentation(t *testing.T) string {
	t.Helper()
	page, err := template.ParseFiles("testdata/middlewares.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	err = page.Execute(&b, map[string]string{
		"Chain": chainTable(),
		"Channels": mdTable([][]string{{"of", "channels"}, {"the loop", channelNames(agent.Channels())},
			{"the thread", channelNames(threadstate.Channels())}}),
		"Subsets": subsetTable(t), "Keys": keyTable(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// mdTable writes rows of cells as Markdown; the first one is the head.
func mdTable(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func mdCode(words ...string) string {
	for i, w := range words {
		words[i] = "`" + w + "`"
	}
	return strings.Join(words, ", ")
}

func channelNames(channels []state.AnyChannel) string {
	names := make([]string, len(channels))
	for i, c := range channels {
		names[i] = mdCode(c.Name())
		if c.Private() {
			names[i] = "*" + names[i] + "*"
		}
	}
	return strings.Join(names, ", ")
}

func chainTable() string {
	rows := [][]string{{"#", "middleware", "what for", "hooks", "when", "configuration", "state", "tools", "why here"}}
	made := madeByName()
	for i, p := range lead.Places() {
		row := []string{fmt.Sprint(i + 1), p.Name, p.For, "", p.When, "", "", "", p.Why}
		switch {
		case p.Later != "":
			row[1], row[4] = p.Name+" †", "comes with "+p.Later
		case p.When == "":
			row[4] = "always"
		}
		if p.Config != "" {
			row[5] = mdCode(strings.Split(p.Config, ", ")...)
		}
		if m := made[p.Name]; m != nil {
			row[3], row[6], row[7] = hookNames(m), ownChannels(m), toolNames(m)
		}
		if p.Name == ownPlace {
			row[3] = "any"
		}
		rows = append(rows, row)
	}
	return mdTable(rows) + "\n\n† Not built yet; the place is kept."
}

func hookNames(m agent.Middleware) string {
	hooks := agent.Hooks(m)
	names := make([]string, len(hooks))
	for i, h := range hooks {
		names[i] = string(h)
	}
	return mdCode(names...)
}

func ownChannels(m agent.Middleware) string {
	if p, ok := m.(agent.StateProvider); ok {
		return channelNames(p.Channels())
	}
	return ""
}

func toolNames(m agent.Middleware) string {
	p, ok := m.(agent.ToolProvider)
	if !ok {
		return ""
	}
	var names []string
	for _, t := range p.Tools() {
		names = append(names, t.Spec().Name)
	}
	return mdCode(names...)
}

// subsets are the shorter descriptions of the chain, each in its own order, by the beginnings of the names of places.
var subsets = [][]string{
	{"ThreadData", "Uploads", "Sandbox", "DanglingToolCall", "DeerFlowSummarization", "Todo", "Title", "Memory",
		"ViewImage", "SubagentLimit", "Clarification"},
	{"ThreadData", "DeerFlowSummarization", "Todo", "TokenUsage", "Title", "Memory", "ViewImage", "DeferredToolFilter",
		"SubagentLimit", "LoopDetection", ownPlace, "Clarification"},
	{
		"ThreadData", "Sandbox", "Uploads", "TokenUsage", "Memory", "Title", "ViewImage", "DanglingToolCall",
		"DeerFlowSummarization", "Todo", "DeferredToolFilter", "SubagentLimit", "LoopDetection", "Clarification",
	},
}

func subsetTable(t *testing.T) string {
	t.Helper()
	rows, found := [][]string{{"#", "middleware", "11 middlewares", "12 groups", "14 layers"}}, 0
	for i, p := range lead.Places() {
		row, named := []string{fmt.Sprint(i + 1), p.Name}, false
		for _, names := range subsets {
			at := slices.Index(names, strings.TrimSuffix(p.Name, "Middleware"))
			if at < 0 {
				row = append(row, "")
				continue
			}
			row, named, found = append(row, fmt.Sprint(at+1)), true, found+1
		}
		if named {
			rows = append(rows, row)
		}
	}
	if want := len(slices.Concat(subsets...)); found != want {
		t.Errorf("%d of %d names of the shorter descriptions are places of the chain", found, want)
	}
	return mdTable(rows)
}

// keyTable lists the keys of the sections that the places name, in the order of the places.
func keyTable(t *testing.T) string {
	t.Helper()
	rows, seen := [][]string{{"key", "default", "allowed", "of"}}, map[string]bool{}
	for _, p := range lead.Places() {
		for path := range strings.SplitSeq(p.Config, ", ") {
			if path == "" || seen[path] {
				continue
			}
			seen[path] = true
			section, ok := findKey(reflect.ValueOf(*config.Default()), path)
			if !ok {
				t.Errorf("%s: the configuration has no section %s", p.Name, path)
				continue
			}
			for _, k := range keysOf(path, section, "") {
				rows = append(rows, []string{mdCode(k.name), k.value, k.allowed,
					strings.TrimSuffix(p.Name, "Middleware")})
			}
		}
	}
	return mdTable(rows)
}

// findKey follows a path of keys; "name[]" is an entry of a list.
func findKey(v reflect.Value, path string) (reflect.Value, bool) {
	name, rest, more := strings.Cut(path, ".")
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("key"), ",")
		if key != strings.TrimSuffix(name, "[]") || key == "" {
			continue
		}
		f := v.Field(i)
		if strings.HasSuffix(name, "[]") || f.Kind() == reflect.Pointer {
			f = reflect.Zero(f.Type().Elem())
		}
		if more {
			return findKey(f, rest)
		}
		return f, true
	}
	return reflect.Value{}, false
}

type configKey struct{ name, value, allowed string }

// keysOf lists the keys at and below a value. Entries of lists and tables are shown by their keys.
func keysOf(at string, v reflect.Value, tag reflect.StructTag) []configKey {
	k := []configKey{{name: at, value: defaultOf(v, tag), allowed: allowedOf(v, tag)}}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct {
			return keysOf(at, reflect.Zero(v.Type().Elem()), tag)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			return append(k, keysOf(at+"[]", reflect.Zero(v.Type().Elem()), "")...)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.Struct {
			return append(k, keysOf(at+".NAME", reflect.Zero(v.Type().Elem()), "")...)
		}
	case reflect.Struct:
		if v.NumField() == 0 { // read by the provider
			return k
		}
		var all []configKey
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("key"), ","); name != "" && name != "*" && name[0] != '@' {
				all = append(all, keysOf(at+"."+name, v.Field(i), f.Tag)...)
			}
		}
		return all
	default:
	}
	return k
}

// defaultOf is a default as the file would say it; a dash stands for nothing.
func defaultOf(v reflect.Value, tag reflect.StructTag) string {
	if !v.CanInterface() || v.IsZero() && v.Kind() != reflect.Bool {
		return "–"
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		unit := time.Second
		if tag.Get("unit") == "ms" {
			unit = time.Millisecond
		}
		return mdCode(fmt.Sprint(int64(x / unit)))
	case []string:
		return mdCode("[" + strings.Join(x, ", ") + "]")
	}
	return mdCode(fmt.Sprint(v.Interface()))
}

func allowedOf(v reflect.Value, tag reflect.StructTag) string {
	if words := tag.Get("allow"); words != "" {
		return strings.ReplaceAll(words, "|", ", ")
	}
	if v.Kind() == reflect.Bool {
		return "true, false"
	}
	return ""
}
