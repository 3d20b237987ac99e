package tool

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxWork bounds the steps of one check. A schema of many choices within choices could else keep a checker busy for
// years; honest ones take a few steps per value.
const maxWork = 1 << 24

var errTooMuchWork = errors.New("they take too long to compare with the tool's schema; simplify them")

// checker compares values with schemas. It says yes or no, or, with a report, what is wrong.
type checker struct {
	work   int
	report *report // nil: the first misfit ends the check
	loose  bool    // met an integer that is written like 5.0
}

// path is where in the arguments a value stands. The root has no parent.
type path struct {
	parent *path
	name   string
	index  int // -1: name counts
}

var rootPath = &path{index: -1}

// spend takes n steps from the budget. Once that is gone nothing fits.
func (c *checker) spend(n int) bool {
	c.work += n
	return c.work <= maxWork
}

func (c *checker) exhausted() bool { return c.work > maxWork }

// check reports whether v fits s.
func (c *checker) check(v *value, s *Schema, at *path) bool {
	if !c.spend(1) {
		return false
	}
	if !s.types.has(v.kind) || s.never {
		return c.badType(v, s, at)
	}
	if v.kind == isInteger && !s.fit.has(isNumber) && !isPlain(v.raw) {
		c.loose = true
	}
	ok := c.checkEqual(v, s, at)
	switch v.kind {
	case isInteger, isNumber:
		ok = ok && c.checkNumber(v, s, at)
	case isString:
		ok = ok && c.checkString(v, s, at)
	}
	if !ok {
		return false
	}
	if ok = c.checkInPlace(v, s, at); !ok && c.report == nil {
		return false
	}
	switch v.kind {
	case isArray:
		ok = c.checkArray(v, s, at) && ok
	case isObject:
		ok = c.checkObject(v, s, at) && ok
	}
	return ok
}

func (c *checker) checkEqual(v *value, s *Schema, at *path) bool {
	if s.constant != nil && !c.equal(v, s.constant) {
		return c.must(v, s, at, "be "+show(s.constant))
	}
	if s.enum == nil {
		return true
	}
	for i := range s.enum {
		if c.equal(v, &s.enum[i]) {
			return true
		}
	}
	return c.must(v, s, at, "be one of "+list(s.enum))
}

func (c *checker) equal(v, w *value) bool {
	return c.spend(1+len(w.raw)/16) && v.equal(w)
}

func (c *checker) checkNumber(v *value, s *Schema, at *path) bool {
	if s.minimum == nil && s.maximum == nil && s.above == nil && s.below == nil {
		return true
	}
	n := v.number()
	switch {
	case s.minimum != nil && n.Cmp(s.minimum) < 0:
		return c.must(v, s, at, "be at least "+bound(s.minimum))
	case s.maximum != nil && n.Cmp(s.maximum) > 0:
		return c.must(v, s, at, "be at most "+bound(s.maximum))
	case s.above != nil && n.Cmp(s.above) <= 0:
		return c.must(v, s, at, "be more than "+bound(s.above))
	case s.below != nil && n.Cmp(s.below) >= 0:
		return c.must(v, s, at, "be less than "+bound(s.below))
	}
	return true
}

func (c *checker) checkString(v *value, s *Schema, at *path) bool {
	if s.minLength == nil && s.maxLength == nil && s.pattern == nil {
		return true
	}
	if !c.spend(len(v.raw) / 16) {
		return false
	}
	text := v.str()
	n := utf8.RuneCountInString(text)
	switch {
	case s.minLength != nil && n < *s.minLength:
		return c.tell(at, "must have at least %d characters, got %d", *s.minLength, n)
	case s.maxLength != nil && n > *s.maxLength:
		return c.tell(at, "must have at most %d characters, got %d", *s.maxLength, n)
	case s.pattern != nil && !s.pattern.MatchString(text):
		return c.must(v, s, at, "match the pattern "+clip(s.pattern.String(), 2*maxShown))
	}
	return true
}

// checkInPlace checks the schemas that apply to the same value.
func (c *checker) checkInPlace(v *value, s *Schema, at *path) bool {
	if s.target != nil && !c.check(v, s.target, at) {
		return false
	}
	for _, sub := range s.allOf {
		if !c.check(v, sub, at) {
			return false
		}
	}
	if s.anyOf != nil && c.choose(v, s.anyOf) == nil {
		return c.failChoice(v, s, s.anyOf, at)
	}
	if s.oneOf == nil {
		return true
	}
	first := c.choose(v, s.oneOf)
	if first == nil {
		return c.failChoice(v, s, s.oneOf, at)
	}
	for _, sub := range s.oneOf {
		if sub != first && c.fits(v, sub) {
			return c.tell(at, "fits more than one of the allowed forms, got %s", found(v))
		}
	}
	return true
}

// fits is check without a report.
func (c *checker) fits(v *value, s *Schema) bool {
	if !s.fit.has(v.kind) {
		return false
	}
	quiet := checker{work: c.work}
	ok := quiet.check(v, s, rootPath)
	c.work = quiet.work
	c.loose = c.loose || ok && quiet.loose
	return ok
}

// choose returns the first of the schemas that v fits.
func (c *checker) choose(v *value, choice []*Schema) *Schema {
	for _, sub := range choice {
		if c.fits(v, sub) {
			return sub
		}
	}
	return nil
}

// failChoice reports why v fits none of the schemas. If only one of them wants a value of this type, it is the one
// that was meant.
func (c *checker) failChoice(v *value, s *Schema, choice []*Schema, at *path) bool {
	if c.report == nil || !s.fit.has(v.kind) {
		return c.badType(v, s, at)
	}
	var meant []*Schema
	for _, sub := range choice {
		if sub.fit.has(v.kind) {
			meant = append(meant, sub)
		}
	}
	if len(meant) == 1 {
		return c.check(v, meant[0], at)
	}
	return c.tell(at, "fits none of the allowed forms, got %s", found(v))
}

func (c *checker) checkArray(v *value, s *Schema, at *path) bool {
	ok := true
	switch {
	case s.minItems != nil && len(v.items) < *s.minItems:
		ok = c.tell(at, "must have at least %d items, got %d", *s.minItems, len(v.items))
	case s.maxItems != nil && len(v.items) > *s.maxItems:
		ok = c.tell(at, "must have at most %d items, got %d", *s.maxItems, len(v.items))
	}
	if s.items == nil {
		return ok
	}
	for i := s.itemsFrom; i < len(v.items) && c.goesOn(ok); i++ {
		ok = c.check(&v.items[i], s.items, &path{parent: at, index: i}) && ok
	}
	return ok
}

func (c *checker) checkObject(v *value, s *Schema, at *path) bool {
	ok := true
	for i := range v.fields {
		if !c.goesOn(ok) {
			return false
		}
		f := &v.fields[i]
		sub := s.property(f.name)
		if sub == nil {
			continue
		}
		here := &path{parent: at, name: f.name, index: -1}
		if sub == s.additional && sub.never {
			ok = c.tell(here, "is not a known parameter%s", known(s))
			continue
		}
		ok = c.check(&f.val, sub, here) && ok
	}
	for _, name := range s.required {
		if c.goesOn(ok) && c.spend(1) && v.find(name) < 0 {
			ok = c.tell(&path{parent: at, name: name, index: -1}, "is required")
		}
	}
	return ok
}

// goesOn reports whether there is more to find out: with a report, until that is full.
func (c *checker) goesOn(ok bool) bool {
	if c.exhausted() {
		return false
	}
	return ok || c.report != nil && !c.report.full()
}

// property returns the schema of a property; nil if any value is welcome.
func (s *Schema) property(name string) *Schema {
	if sub := s.properties[name]; sub != nil {
		return sub
	}
	return s.additional
}

// tell reports a problem. It is false, for the check's result.
func (c *checker) tell(at *path, format string, a ...any) bool {
	if c.report != nil && !c.exhausted() {
		c.report.add(at.String() + " " + fmt.Sprintf(format, a...))
	}
	return false
}

// must reports what a value must do that it does not.
func (c *checker) must(v *value, s *Schema, at *path, want string) bool {
	if s.never || s.fit == noKind {
		return c.tell(at, "can have no value")
	}
	return c.tell(at, "must %s, got %s", want, found(v))
}

// badType reports a value of another type than all that fit.
func (c *checker) badType(v *value, s *Schema, at *path) bool {
	if c.report == nil { // as for most choices; the rest is work
		return false
	}
	if len(s.enum) > 0 {
		return c.must(v, s, at, "be one of "+list(s.enum))
	}
	return c.must(v, s, at, "be "+s.fit.String())
}

// verdict returns nil if v fits, else an [ArgumentError] that lists the misfits.
func (s *Schema) verdict(v *value, c *checker) error {
	if c.check(v, s, rootPath) {
		return nil
	}
	r := &report{}
	again := checker{work: c.work, report: r}
	again.check(v, s, rootPath)
	if again.exhausted() {
		return &ArgumentError{Problems: []string{errTooMuchWork.Error()}}
	}
	return r.err()
}
