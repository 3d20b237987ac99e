package route

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/message"
)

// Document describes routes as OpenAPI, so that tools can read them. It is made of the types that the routes read and
// answer.
type Document struct {
	OpenAPI string                          `json:"openapi"`
	Info    map[string]string               `json:"info"`
	Paths   map[string]map[string]operation `json:"paths"`
}

type operation struct {
	Summary    string                        `json:"summary"`
	Tags       []string                      `json:"tags"`
	Parameters []parameter                   `json:"parameters,omitempty"`
	Body       *requestBody                  `json:"requestBody,omitempty"`
	Responses  map[string]map[string]content `json:"responses"`
	Security   []map[string][]string         `json:"security"`
	Role       access.Role                   `json:"x-role,omitempty"`
	Owner      Owner                         `json:"x-owner"`
	Rate       Rate                          `json:"x-rate"`
}

type parameter struct {
	Name     string             `json:"name"`
	In       string             `json:"in"`
	Required bool               `json:"required"`
	Schema   *jsonschema.Schema `json:"schema"`
}

type requestBody struct {
	Required bool    `json:"required"`
	Content  content `json:"content"`
}

// content is a description, or what there is by media type.
type content any

type media struct {
	Schema *jsonschema.Schema `json:"schema"`
}

// Describe makes the document of a list of routes.
func Describe(version string, routes []Route) Document {
	doc := Document{OpenAPI: "3.1.0", Paths: make(map[string]map[string]operation), Info: map[string]string{
		"title": "Pudu", "version": version, "description": "The LangGraph API, with DeerFlow's routes beside it. " +
			"All paths are served below /api and /api/langgraph too.",
	}}
	for _, r := range routes {
		path := r.Template()
		if doc.Paths[path] == nil {
			doc.Paths[path] = make(map[string]operation)
		}
		doc.Paths[path][strings.ToLower(r.Method)] = r.operation()
	}
	return doc
}

func (r Route) operation() operation {
	op := operation{
		Summary: r.Summary, Tags: []string{r.Group}, Role: r.Role, Owner: r.Owner, Rate: r.Rate,
		Security:  []map[string][]string{},
		Responses: map[string]map[string]content{"default": {"description": "see docs/api.md"}},
	}
	if r.Role != Anyone {
		op.Security = append(op.Security, map[string][]string{"bearer": {r.Scope}})
	}
	for rest := r.Template(); ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		var name string
		name, rest, _ = strings.Cut(after, "}")
		op.Parameters = append(op.Parameters, parameter{name, "path", true, &jsonschema.Schema{Type: "string"}})
	}
	for _, f := range r.in.fields {
		if f.source == "query" || f.source == "header" {
			op.Parameters = append(op.Parameters, parameter{f.name, f.source, f.required(), f.schema()})
		}
	}
	op.Body = r.body()
	if r.out != nil {
		op.Responses["200"] = map[string]content{"description": "as asked for", "content": map[string]media{
			"application/json": {schemaOf(r.out)},
		}}
	}
	return op
}

// body describes what the route reads of a request's body.
func (r Route) body() *requestBody {
	object := &jsonschema.Schema{Type: "object", Properties: make(map[string]*jsonschema.Schema)}
	for _, f := range r.in.fields {
		if f.source == "body" && f.name != "*" {
			object.Properties[f.name] = f.schema()
			if f.required() {
				object.Required = append(object.Required, f.name)
			}
		}
	}
	switch r.Bound {
	case JSON, Maybe:
		return &requestBody{r.Bound == JSON, map[string]media{"application/json": {object}}}
	case List:
		list := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object"}}
		return &requestBody{true, map[string]media{"application/json": {list}}}
	case Form:
		return &requestBody{true, map[string]media{"multipart/form-data": {&jsonschema.Schema{Type: "object"}}}}
	}
	return nil
}

func (f field) required() bool { _, ok := f.tag.Lookup("required"); return ok }

// schema describes a field by its type and its tags.
func (f field) schema() *jsonschema.Schema {
	s := schemaOf(f.typ)
	s.Description = f.tag.Get("doc")
	if types, ok := f.tag.Lookup("types"); ok { // of a field that reads itself, or whose handler reads it
		s.Types = strings.Split(types, ",")
	}
	if enum := f.tag.Get("enum"); enum != "" {
		for v := range strings.SplitSeq(enum, ",") {
			s.Enum = append(s.Enum, v)
		}
	}
	most, bounded := f.tag.Lookup("max")
	n, _ := strconv.Atoi(most)
	switch f.typ.Kind() {
	case reflect.Int:
		least, _ := strconv.Atoi(f.tag.Get("min"))
		if !bounded {
			n = math.MaxInt32
		}
		s.Minimum, s.Maximum = new(float64(least)), new(float64(n))
	case reflect.Slice:
		if bounded && s.Items != nil { // no JSON as it comes, which is a slice too
			s.MaxItems = &n
		}
	}
	if def, ok := f.tag.Lookup("default"); ok {
		s.Default = json.RawMessage(def)
	}
	return s
}

// schemaOf describes a type; any JSON where that says nothing, as of a type that writes itself.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	anything := &jsonschema.Schema{}
	if t.Implements(reflect.TypeFor[Responder]()) && t.Kind() != reflect.Struct ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[Reader]()) || t.Kind() == reflect.Interface {
		return anything
	}
	if t.Implements(reflect.TypeFor[Responder]()) {
		if entries, ok := t.FieldByName("Entries"); ok { // a Page
			t = entries.Type
		}
	}
	s, err := jsonschema.ForType(t,
		&jsonschema.ForOptions{IgnoreInvalidTypes: true, TypeSchemas: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[json.RawMessage](): {}, reflect.TypeFor[message.Message](): {Type: "object"},
		}})
	if err != nil || s == nil {
		return anything
	}
	return s
}
