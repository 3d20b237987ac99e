package shellwords

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// builder makes words of the parts of one.
type builder struct {
	w    *walker
	done []Word // what an unquoted $IFS ended
	word Word
	text strings.Builder
}

// word reads a word as one; nil is the empty one.
func (w *walker) word(word *syntax.Word) Word {
	if word == nil {
		return Word{}
	}
	b := builder{w: w}
	b.parts(word.Parts, true)
	return b.end()
}

// words reads the words of a command.
func (w *walker) words(list []*syntax.Word) []Word {
	var out []Word
	for _, word := range list {
		b := builder{w: w}
		b.parts(word.Parts, false)
		last := b.end()
		out = append(append(out, b.done...), last)
	}
	return out
}

func (b *builder) end() Word {
	b.word.Text = b.text.String()
	if b.word.Text == "[" && !b.word.Open { // the program of that name: a pattern has a bracket at its end
		b.word.Glob = false
	}
	return b.word
}

// add appends text that is known.
func (b *builder) add(text string) {
	if b.word.Open {
		const most = 256
		b.word.Tail += text
		b.word.Tail = b.word.Tail[max(0, len(b.word.Tail)-most):]
	} else {
		b.text.WriteString(text)
	}
}

// open notes a part that only the shell knows.
func (b *builder) open(runs []*Command) {
	b.word.Runs = append(b.word.Runs, runs...)
	b.word.Open, b.word.Tail = true, ""
}

func (b *builder) parts(parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.literal(p.Value, quoted)
		case *syntax.SglQuoted:
			if p.Dollar {
				b.add(unescape(p.Value))
			} else {
				b.add(p.Value)
			}
		case *syntax.DblQuoted:
			b.parts(p.Parts, true)
		case *syntax.ParamExp:
			b.variable(p, quoted)
		default:
			b.open(b.w.substitutions(p))
		}
	}
}

// literal adds text outside single quotes: backslashes are taken off; a brace expansion ends what is known.
func (b *builder) literal(s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			i++
			if s[i] != '\n' {
				b.add(s[i : i+1])
			}
			continue
		case quoted:
		case c == '{' && (strings.Contains(s[i:], ",") || strings.Contains(s[i:], "..")):
			b.open(nil)
		case strings.IndexByte("*?[", c) >= 0:
			b.word.Glob = true
		}
		b.add(s[i : i+1])
	}
}

func (b *builder) variable(p *syntax.ParamExp, quoted bool) {
	plain := p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil &&
		p.Names == 0 && p.Exp == nil
	switch {
	case plain && p.Param.Value == "HOME":
		b.add("~")
	case plain && p.Param.Value == "IFS" && !quoted:
		b.done = append(b.done, b.end())
		b.word = Word{}
		b.text.Reset()
	default:
		b.open(b.w.substitutions(p))
	}
}

// unescape reads the text of $'...'.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'x':
			i += number(&out, s[i+1:], 16, 2)
		case 'u':
			i += number(&out, s[i+1:], 16, 4)
		case 'U':
			i += number(&out, s[i+1:], 16, 8)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i += number(&out, s[i:], 8, 3) - 1
		default:
			if at := strings.IndexByte("abeEfnrtv", c); at >= 0 {
				c = "\a\b\x1b\x1b\f\n\r\t\v"[at]
			}
			out.WriteByte(c)
		}
	}
	return out.String()
}

// number writes the character whose number stands at the beginning of s, in at most so many digits, and returns how
// many digits there are.
func number(out *strings.Builder, s string, base, digits int) int {
	n := 0
	for n < len(s) && n < digits && strings.IndexByte("0123456789abcdefABCDEF"[:base+max(0, (base-10))], s[n]) >= 0 {
		n++
	}
	v, err := strconv.ParseUint(s[:n], base, 32)
	if err != nil {
		return 0
	}
	if digits < 4 {
		out.WriteByte(byte(v))
	} else if r := rune(v); utf8.ValidRune(r) {
		out.WriteRune(r)
	}
	return n
}
