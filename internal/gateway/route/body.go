package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// maxDepth bounds the nesting of a JSON body.
const maxDepth = 100

// bodyText reads what a request brings, without white space around it.
func (e *Env) bodyText(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > e.Limits.Body { // it says so itself: not a byte of it is waited for
		w.Header().Set("Connection", "close")
		return nil, &http.MaxBytesError{Limit: e.Limits.Body}
	}
	raw, err := io.ReadAll(e.Steady(w, r, e.Limits.Body))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, Failf(http.StatusRequestTimeout, "The request came too slowly")
	case err != nil:
		return nil, Failf(http.StatusBadRequest, "The request's body cannot be read: %s", Clip(err.Error()))
	}
	return bytes.TrimSpace(raw), nil
}

// body reads the JSON object that a request brings. Without one, optional is an empty object and else a fault.
func (e *Env) body(w http.ResponseWriter, r *http.Request, optional bool) (*Input, error) {
	in := &Input{At: []any{"body"}, request: r}
	raw, err := e.bodyText(w, r)
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 || string(raw) == "null" {
		if optional {
			return in, nil
		}
		in.Add("missing", "Field required", nil, "body")
		return nil, in.Err()
	}
	if offset, err := CheckJSON(raw); err != nil {
		f := in.Add("json_invalid", "JSON decode error", json.RawMessage("{}"), "body", offset)
		f.Ctx = map[string]any{"error": err.Error()}
		return nil, in.Err()
	}
	if mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); raw[0] != '{' ||
		err == nil && mt != "application/json" && !strings.HasSuffix(mt, "+json") && !strings.HasPrefix(mt, "text/") {
		in.Add("model_attributes_type", "Input should be a valid dictionary or object to extract fields from",
			Quoted(raw), "body")
		return nil, in.Err()
	}
	in.Members, _ = rawjson.Members(raw)
	return in, nil
}

// bodyOf reads what a route reads of a request's body.
func (e *Env) bodyOf(w http.ResponseWriter, r *http.Request, b Bound) (*Input, error) {
	switch b {
	case JSON, Maybe:
		return e.body(w, r, b == Maybe)
	case List:
		return e.list(w, r)
	case None:
		r.Body = http.NoBody
	}
	return &Input{At: []any{"body"}, request: r}, nil
}

// list reads the JSON list that a request brings.
func (e *Env) list(w http.ResponseWriter, r *http.Request) (*Input, error) {
	in := &Input{At: []any{"body"}, request: r}
	raw, err := e.bodyText(w, r)
	if err != nil {
		return nil, err
	}
	if offset, err := CheckJSON(raw); err != nil {
		in.Add("json_invalid", "JSON decode error", json.RawMessage("{}"), "body",
			offset).Ctx = map[string]any{"error": err.Error()}
	} else if in.Elements, err = elements(raw); err != nil {
		in.Add("list_type", "Input should be a valid list", Quoted(raw), "body")
	}
	return in, in.Err()
}

func elements(raw []byte) (list []json.RawMessage, err error) {
	err = json.Unmarshal(raw, &list)
	return list, err
}

// CheckJSON reports whether raw is one JSON value of valid text, not too deep; offset is where it is not.
func CheckJSON(raw []byte) (offset int64, err error) {
	if !utf8.Valid(raw) {
		return 0, errors.New("the text is not UTF-8")
	}
	if s := rawjson.Scan(raw); passes(&s, maxDepth) && s.End() {
		return offset, nil
	}
	return findFault(raw)
}

// passes walks over a value and reports whether there is no fault in it; what follows the value is not looked at.
func passes(s *rawjson.Scanner, depth int) bool {
	switch s.Peek() {
	case '{':
		for name := s.Object(); name != nil; name = s.Next() {
			if depth == 0 || !passes(s, depth-1) {
				return false
			}
		}
		return depth > 0
	case '[':
		for more := s.List(); more; more = s.More() {
			if depth == 0 || !passes(s, depth-1) {
				return false
			}
		}
		return depth > 0
	case '"', 't', 'f', 'n':
		return s.Value() != nil
	}
	_, err := Decimal(string(s.Value()))
	return err == nil // what no float64 holds is refused
}

// Decimal reads a number as float64.
func Decimal(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

// findFault is CheckJSON for those that have a fault, by tokens: slower, but it knows what is wrong, and where.
func findFault(raw []byte) (offset int64, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	for depth := 0; ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) && depth == 0 {
			return offset, nil
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return dec.InputOffset(), err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxDepth {
			return dec.InputOffset(), fmt.Errorf("nested deeper than %d", maxDepth)
		}
		if depth == 0 && dec.InputOffset() < int64(len(raw)) {
			return dec.InputOffset(), errors.New("extra data")
		}
	}
}
