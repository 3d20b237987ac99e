package route

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/store"
)

// Reader is a field of a request that reads itself: from the object, the member that its tag names. It notes what is
// wrong with it in the object.
type Reader interface {
	ReadFrom(in *Input, name string)
}

// plan is how the fields of a request are read. It is made once for a route.
type plan struct {
	fields []field
	// queries and headers are the names of what is read there, with whether a list is.
	queries, headers map[string]bool
	thread, run      []int // the fields of what belongs to the route; nil is none
	// rest says that the handler reads on in the body: it answers with all that is wrong with it.
	rest bool
}

// field is one of them.
type field struct {
	at     []int
	source string // path, query, header or body
	name   string
	typ    reflect.Type
	tag    reflect.StructTag
	read   func(in *Input, v reflect.Value)
}

// sources are the tags that say where a field is read.
func sources() []string { return []string{"path", "query", "header", "body"} }

// planOf makes a plan. A struct that no request can be read into is a mistake of the program, like a pattern that does
// not compile: the routes are made when the server is.
func planOf(t reflect.Type) *plan {
	p := &plan{queries: make(map[string]bool), headers: make(map[string]bool)}
	p.add(t, nil)
	return p
}

func (p *plan) add(t reflect.Type, at []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		here := append(slices.Clip(at), i)
		switch of := f.Tag.Get("of"); {
		case of == "thread" && f.Type == reflect.TypeFor[store.Thread]():
			p.thread = here
			continue
		case of == "run" && f.Type == reflect.TypeFor[store.Run]():
			p.run = here
			continue
		}
		p.addField(f, here)
	}
}

func (p *plan) addField(f reflect.StructField, at []int) {
	for _, source := range sources() {
		name, ok := f.Tag.Lookup(source)
		if !ok {
			continue
		}
		p.fields = append(p.fields, field{at, source, name, f.Type, f.Tag, readerOf(f)})
		p.rest = p.rest || f.Type == reflect.TypeFor[Rest]()
		switch source {
		case "query":
			p.queries[name] = f.Type.Kind() == reflect.Slice
		case "header":
			p.headers[name] = false
		}
		return
	}
	if !f.Anonymous || f.Type.Kind() != reflect.Struct {
		panic(fmt.Sprintf("route: the field %s has no tag that says where it is read", f.Name))
	}
	p.add(f.Type, at)
}

// readerOf is how a field of this type is read.
func readerOf(f reflect.StructField) func(in *Input, v reflect.Value) {
	name := f.Tag.Get(sourceOf(f))
	if reflect.PointerTo(f.Type).Implements(reflect.TypeFor[Reader]()) {
		return func(in *Input, v reflect.Value) { v.Addr().Interface().(Reader).ReadFrom(in, name) } //nolint:forcetypeassert // see above
	}
	read := scalarOf(f, name)
	if read == nil {
		read = objectOf(f, name)
	}
	if _, ok := f.Tag.Lookup("required"); !ok {
		return read
	}
	return func(in *Input, v reflect.Value) {
		in.Demand(name)
		read(in, v)
	}
}

func sourceOf(f reflect.StructField) string {
	for _, source := range sources() {
		if _, ok := f.Tag.Lookup(source); ok {
			return source
		}
	}
	return ""
}

// scalarOf reads texts, numbers and truth values; nil if the field is none.
func scalarOf(f reflect.StructField, name string) func(in *Input, v reflect.Value) {
	switch f.Type.Kind() {
	case reflect.String:
		most, enum := number(f, "max", 0), f.Tag.Get("enum")
		return func(in *Input, v reflect.Value) {
			switch {
			case enum != "":
				v.SetString(in.OneOf(name, strings.Split(enum, ",")...))
			case most > 0:
				v.SetString(in.Text(name, most))
			default:
				v.SetString(in.Str(name))
			}
		}
	case reflect.Int:
		def, least, most := number(f, "default", 0), number(f, "min", 0), number(f, "max", math.MaxInt32)
		return func(in *Input, v reflect.Value) { v.SetInt(int64(in.Integer(name, def, least, most))) }
	case reflect.Bool:
		def := f.Tag.Get("default") == "true"
		return func(in *Input, v reflect.Value) { v.SetBool(in.Boolean(name, def)) }
	}
	return nil
}

// objectOf reads lists of texts and JSON as it comes.
func objectOf(f reflect.StructField, name string) func(in *Input, v reflect.Value) {
	most := number(f, "max", 0)
	switch f.Type {
	case reflect.TypeFor[[]string]():
		return func(in *Input, v reflect.Value) { v.Set(reflect.ValueOf(in.Names(name, most))) }
	case reflect.TypeFor[json.RawMessage]():
		return func(in *Input, v reflect.Value) {
			if most > 0 {
				v.SetBytes(in.Bounded(name, most))
			} else {
				v.SetBytes(in.RawObject(name))
			}
		}
	case reflect.TypeFor[map[string]json.RawMessage]():
		return func(in *Input, v reflect.Value) { v.Set(reflect.ValueOf(in.MembersOf(name))) }
	}
	panic(fmt.Sprintf("route: the field %s is of a type that no request is read into: %v", f.Name, f.Type))
}

func number(f reflect.StructField, tag string, def int) int {
	text, ok := f.Tag.Lookup(tag)
	if !ok {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("route: the field %s has a tag %s that is no number: %s", f.Name, tag, text))
	}
	return n
}

// read fills in a request and finds what it is about. The order is that of the answers: a thread's id that can be none,
// a body that cannot be read, fields with faults, and then what is not there.
func (p *plan) read(e *Env, w http.ResponseWriter, r *http.Request, rt *Route, v reflect.Value) error {
	if rt.Owner == Thread || rt.Owner == ThreadOrNew || rt.Owner == ThreadName || rt.Owner == RunName {
		if err := checkThread(r); err != nil {
			return err
		}
	}
	body, err := e.bodyOf(w, r, rt.Bound)
	if err != nil {
		return err
	}
	from := map[string]*Input{"body": body, "query": queryOf(r, p.queries), "header": headerOf(r, p.headers)}
	for _, f := range p.fields {
		if f.source == "path" {
			v.FieldByIndex(f.at).SetString(r.PathValue(f.name))
			continue
		}
		f.read(from[f.source], v.FieldByIndex(f.at))
	}
	all := slices.Concat(body.Faults, from["query"].Faults, from["header"].Faults)
	if p.rest {
		body.Faults = all
		all = nil
	}
	if err := all.Err(); err != nil {
		return err
	}
	return p.find(e, r, rt, v)
}

// Decode fills in a struct, whose fields have the tag body, from an object.
func Decode(in *Input, into any) {
	v := reflect.ValueOf(into).Elem()
	for _, f := range planOf(v.Type()).fields {
		f.read(in, v.FieldByIndex(f.at))
	}
}

// queryOf and headerOf make objects of what a request has outside of its body: texts, by the names that are read.
func queryOf(r *http.Request, names map[string]bool) *Input {
	in := &Input{At: []any{"query"}, Members: make(map[string]json.RawMessage), request: r}
	if len(names) == 0 || r.URL.RawQuery == "" {
		return in
	}
	values, _ := url.ParseQuery(r.URL.RawQuery) // what cannot be read is not there
	for name, list := range names {
		switch {
		case list && len(values[name]) > 0:
			in.Members[name], _ = json.Marshal(values[name])
		case values.Get(name) != "":
			in.Members[name], _ = json.Marshal(values.Get(name))
		}
	}
	return in
}

func headerOf(r *http.Request, names map[string]bool) *Input {
	in := &Input{At: []any{"header"}, Members: make(map[string]json.RawMessage), request: r}
	for name := range names {
		if v := r.Header.Get(name); v != "" {
			in.Members[name], _ = json.Marshal(v)
		}
	}
	return in
}

// checkThread refuses a path whose thread can be none.
func checkThread(r *http.Request) error {
	name := r.PathValue("thread_id")
	if id.IsName(name, maxThreadID) {
		return nil
	}
	var f Faults
	shown, _ := json.Marshal(Clip(name))
	f.Add("string_pattern_mismatch", "String should match pattern '"+threadPattern+"'", shown, "path", "thread_id").
		Ctx = map[string]any{"pattern": threadPattern}
	return f.Err()
}

// find looks up what the route is about, in what the caller has.
func (p *plan) find(e *Env, r *http.Request, rt *Route, v reflect.Value) error {
	switch rt.Owner {
	case Thread:
		t, err := e.thread(r)
		if err == nil && t.Trashed() && rt.Role != access.Viewer { // who looks needs no more than that
			err = InBin(t.ID)
		}
		if err == nil && p.thread != nil {
			v.FieldByIndex(p.thread).Set(reflect.ValueOf(t))
		}
		return err
	case Run:
		run, err := e.run(r)
		if err == nil && rt.Role != access.Viewer {
			err = e.notInBin(r.Context(), run.ThreadID)
		}
		if err == nil && p.run != nil {
			v.FieldByIndex(p.run).Set(reflect.ValueOf(run))
		}
		return err
	case ThreadOrNew:
		taken, err := e.Mine(r.Context()).Taken(r.Context(), r.PathValue("thread_id"))
		if taken {
			return NotFound("Thread", r.PathValue("thread_id"))
		}
		if err == nil && rt.Role != access.Viewer {
			err = e.notInBin(r.Context(), r.PathValue("thread_id"))
		}
		return err
	}
	return nil
}

// notInBin refuses what would change a thread in the bin. One that is not there is none.
func (e *Env) notInBin(ctx context.Context, thread string) error {
	t, err := e.Mine(ctx).Thread(ctx, thread)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err == nil && t.Trashed():
		return InBin(t.ID)
	}
	return err
}

// thread is the thread of the path, if there is one and it is the caller's.
func (e *Env) thread(r *http.Request) (store.Thread, error) {
	t, err := e.Mine(r.Context()).Thread(r.Context(), r.PathValue("thread_id"))
	if errors.Is(err, store.ErrNotFound) {
		return t, NotFound("Thread", r.PathValue("thread_id"))
	}
	return t, err
}

// run is the run of the path, if it is the thread's and the caller's.
func (e *Env) run(r *http.Request) (store.Run, error) {
	threadID, runID := r.PathValue("thread_id"), r.PathValue("run_id")
	if len(runID) > 256 || !utf8.ValidString(runID) || strings.ContainsRune(runID, 0) { // no database has it
		return store.Run{}, NotFound("Run", Clip(runID))
	}
	run, err := e.Mine(r.Context()).Run(r.Context(), runID)
	if errors.Is(err, store.ErrNotFound) || err == nil && threadID != "" && run.ThreadID != threadID {
		return run, NotFound("Run", Clip(runID))
	}
	return run, err
}
