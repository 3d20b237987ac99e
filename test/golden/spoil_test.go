package golden

import (
	"maps"
	"slices"
	"testing"
)

// TestSpoiledAnswersAreFound plays recordings back with one fault at a time, each of which the replayer must find.
func TestSpoiledAnswersAreFound(t *testing.T) {
	faults := map[string]func(e *Exchange, a *answer) bool{
		"another status":       func(_ *Exchange, a *answer) bool { a.status = 299; return true },
		"a missing header":     func(_ *Exchange, a *answer) bool { return drop(a.heads) },
		"a missing key":        func(_ *Exchange, a *answer) bool { return drop(aMap(a.body)) },
		"another type":         func(e *Exchange, a *answer) bool { return e.JSON != nil && retype(aMap(a.body)) },
		"another fixed value":  func(e *Exchange, a *answer) bool { return reword(e.JSON, a.body) },
		"another value":        func(e *Exchange, a *answer) bool { return revalue(e.JSON, aMap(a.body)) },
		"one row more":         func(e *Exchange, a *answer) bool { return relist(e.JSON, aMap(a.body), 0, more) },
		"rows turned round":    func(e *Exchange, a *answer) bool { return relist(e.JSON, aMap(a.body), 2, turned) },
		"a missing event":      func(_ *Exchange, a *answer) bool { return cutMiddle(a) },
		"an unknown event":     func(_ *Exchange, a *answer) bool { return addEvent(a) },
		"no end of the stream": func(_ *Exchange, a *answer) bool { return cutEnd(a) },
		"another first event":  func(_ *Exchange, a *answer) bool { return swapStart(a) },
		"a key of an event": func(_ *Exchange, a *answer) bool {
			return len(a.frames) > 0 && drop(aMap(a.frames[0].Data))
		},
		"no body": func(_ *Exchange, a *answer) bool { had := a.body != nil; a.json = false; return had },
	}
	names := []string{"gateway/10-thread-create", "gateway/30a-stream-web-client", "gateway/30c-stream-updates",
		"gateway/31b-two-tools-parallel", "gateway/40-runs-create-list-get", "gateway/41-join", "gateway/71-agents",
		"gateway/77-skills", "gateway/78-skills-custom", "gateway/79-memory"}
	for fault, spoil := range faults {
		t.Run(fault, func(t *testing.T) {
			tried := 0
			for _, rec := range recordings(t) {
				if !slices.Contains(names, rec.Name) {
					continue
				}
				for i := range rec.Exchanges {
					e := &rec.Exchanges[i]
					if IsLeftOut(rec.Name, e) || e.HangUp > 0 || find(changed(), rec.Name, e) >= 0 ||
						find(excused(), rec.Name, e) >= 0 {
						continue
					}
					one := Recording{Name: rec.Name, Exchanges: []Exchange{*e}}
					one.Exchanges[0].Overlaps, one.Exchanges[0].NeedsThread, one.Exchanges[0].NeedsRun = false, "", ""
					did := false
					found := playOnce(t, &one, func(e *Exchange, a *answer) { did = spoil(e, a) })
					if did {
						tried++
					}
					if did != (len(found) > 0) {
						t.Errorf("%s, exchange %d: spoiled %v, found %v", rec.Name, e.N, did, found)
					}
				}
			}
			if tried == 0 {
				t.Error("no answer could be spoiled so")
			}
		})
	}
}

func aMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func drop[V any](m map[string]V) bool {
	if len(m) == 0 {
		return false
	}
	delete(m, slices.Sorted(maps.Keys(m))[0])
	return true
}

func retype(m map[string]any) bool {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] != nil {
			_, list := m[k].([]any)
			if m[k] = []any{}; list {
				m[k] = "no list"
			}
			return true
		}
	}
	return false
}

func reword(s *Shape, body any) bool {
	m := aMap(body)
	if s == nil || m == nil {
		return false
	}
	for k, field := range s.Fields {
		if field.Kind == Literal && !hole.MatchString(field.Text) {
			m[k] = "something else"
			return true
		}
	}
	return false
}

// revalue changes a number, boolean or null that is compared.
func revalue(s *Shape, m map[string]any) bool {
	if s == nil || m == nil {
		return false
	}
	for k, field := range s.Fields {
		if field.Kind == Is {
			m[k] = 12345
			return true
		}
	}
	return false
}

// relist changes a list whose elements are compared one by one, if it has so many.
func relist(s *Shape, m map[string]any, least int, change func([]any) []any) bool {
	if s == nil || m == nil {
		return false
	}
	for k, field := range s.Fields {
		if list, ok := m[k].([]any); ok && field.Kind == Exactly && len(list) >= least {
			m[k] = change(list)
			return true
		}
	}
	return false
}

func more(list []any) []any { return append(list, "one more") }

func turned(list []any) []any {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

func cutMiddle(a *answer) bool {
	if len(a.frames) < 3 {
		return false
	}
	a.frames = slices.Delete(a.frames, 1, 2)
	return true
}

func addEvent(a *answer) bool {
	if len(a.frames) == 0 {
		return false
	}
	a.frames = slices.Insert(a.frames, 1, Frame{Event: "surprise", ID: "1-1"})
	return true
}

func cutEnd(a *answer) bool {
	if len(a.frames) < 2 {
		return false
	}
	a.frames = a.frames[:len(a.frames)-1]
	return true
}

func swapStart(a *answer) bool {
	if len(a.frames) < 3 {
		return false
	}
	a.frames[0], a.frames[1] = a.frames[1], a.frames[0]
	return true
}
