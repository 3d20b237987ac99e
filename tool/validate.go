package tool

import (
	"errors"
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
		return c.fail(v, s, at, ruleType)
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
		return c.fail(v, s, at, ruleConst)
	}
	if s.enum == nil {
		return true
	}
	for i := range s.enum {
		if c.equal(v, &s.enum[i]) {
			return true
		}
	}
	return c.fail(v, s, at, ruleEnum)
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
	case s.minimum != nil && n.compare(*s.minimum) < 0:
		return c.fail(v, s, at, ruleMinimum)
	case s.maximum != nil && n.compare(*s.maximum) > 0:
		return c.fail(v, s, at, ruleMaximum)
	case s.above != nil && n.compare(*s.above) <= 0:
		return c.fail(v, s, at, ruleAbove)
	case s.below != nil && n.compare(*s.below) >= 0:
		return c.fail(v, s, at, ruleBelow)
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
		return c.fail(v, s, at, ruleMinLength)
	case s.maxLength != nil && n > *s.maxLength:
		return c.fail(v, s, at, ruleMaxLength)
	case s.pattern != nil && !s.pattern.MatchString(text):
		return c.fail(v, s, at, rulePattern)
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
			return c.fail(v, s, at, ruleOneOf)
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
		return c.fail(v, s, at, ruleType)
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
	return c.fail(v, s, at, ruleAnyOf)
}

func (c *checker) checkArray(v *value, s *Schema, at *path) bool {
	ok := true
	switch {
	case s.minItems != nil && len(v.items) < *s.minItems:
		ok = c.fail(v, s, at, ruleMinItems)
	case s.maxItems != nil && len(v.items) > *s.maxItems:
		ok = c.fail(v, s, at, ruleMaxItems)
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
			ok = c.fail(&f.val, s, here, ruleUnknown)
			continue
		}
		ok = c.check(&f.val, sub, here) && ok
	}
	for _, name := range s.required {
		if c.goesOn(ok) && c.spend(1) && v.find(name) < 0 {
			ok = c.fail(v, s, &path{parent: at, name: name, index: -1}, ruleRequired)
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

func (c *checker) fail(v *value, s *Schema, at *path, r rule) bool {
	if c.report != nil && !c.exhausted() {
		c.report.add(r.describe(v, s, at))
	}
	return false
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
