package uploaded

import (
	"bufio"
	"bytes"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/sandbox"
)

// Bounds of an outline.
const (
	// MaxHeadings is how many headings an outline has at most.
	MaxHeadings = 15
	mostTitle   = 100     // characters of a heading
	mostPreview = 4       // lines of a preview
	mostLine    = 120     // characters of a line of it
	mostRead    = 2 << 20 // bytes of the file that are looked at
	mostCode    = 400     // bytes of a line that are looked at
	mostFront   = 100     // lines of front matter
)

// Outline says what is in a text file: its headings or, if it has none, its first lines. All texts are harmless lines.
// The zero value is that of a file that is no text.
type Outline struct {
	Headings []Heading
	// More is how many headings there are beyond Headings.
	More    int
	Preview []string
}

// Heading is a heading and where it stands, counted from 1.
type Heading struct {
	Title string `json:"title"`
	Line  int    `json:"line"`
}

// Outline reads what the file holds; of a document with a text version what that holds. A file that cannot be read has
// none.
func (f File) Outline(files *sandbox.Files) Outline {
	name := f.Name
	if f.Text != "" {
		name = f.Text
	}
	h, err := files.Open(sandbox.Uploads + "/" + name)
	if err != nil {
		return Outline{}
	}
	defer h.Close()
	return ReadOutline(h, name)
}

// ReadOutline makes the outline of a text; the ending of the name says how its headings look. It reads a bounded part.
func ReadOutline(r io.Reader, name string) Outline {
	br := bufio.NewReaderSize(io.LimitReader(r, mostRead), 8192)
	if start, _ := br.Peek(4096); binary(start) {
		return Outline{}
	}
	p := parser{style: styleOf(name)}
	for n := 1; ; n++ {
		text, err := readLine(br)
		if err != nil {
			return p.out()
		}
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		p.line(n, text)
		if p.style == noHeadings && len(p.preview) == mostPreview {
			return p.out()
		}
	}
}

// binary reports whether a file that starts like this is no text.
func binary(start []byte) bool {
	if bytes.IndexByte(start, 0) >= 0 {
		return true
	}
	bad, n := 0, len(start)
	for len(start) >= utf8.UTFMax { // the end may be cut inside of a character
		r, size := utf8.DecodeRune(start)
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		start = start[size:]
	}
	return bad*10 > n
}

// readLine returns the start of the next line, and an error at the end.
func readLine(br *bufio.Reader) (string, error) {
	var kept []byte
	for {
		part, err := br.ReadSlice('\n')
		kept = append(kept, part[:min(len(part), mostCode-len(kept))]...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && len(part) == 0 && len(kept) == 0:
			return "", err
		}
		return strings.TrimRight(strings.ToValidUTF8(string(kept), "\uFFFD"), "\r\n"), nil
	}
}

// style is how the headings of a kind of file look.
type style int

const (
	noHeadings style = iota
	plainText        // underlined, or "Chapter 3"
	markdown         // underlined, or behind number signs
)

func styleOf(name string) style {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx", ".qmd", ".rmd":
		return markdown
	case ".txt", ".text", ".rst", "":
		return plainText
	}
	return noHeadings
}

var (
	numberSigns = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$`)
	chapter     = regexp.MustCompile(`(?i)^ {0,3}(chapter|part|section|appendix|kapitel|teil|anhang|\x{7b2c})[ ` +
		`\t]?[0-9ivxlc\p{Han}]{1,6}\b?.{0,80}$`)
	underline = regexp.MustCompile(`^ {0,3}(={3,}|-{3,}|~{3,})[ \t]*$`)
)

// canBeTitle reports whether a line can be a heading when the next one underlines it: items of lists, quotes, tables
// and code cannot.
func canBeTitle(trimmed string) bool {
	if trimmed == "" || strings.IndexByte("-*+>|=~#`", trimmed[0]) >= 0 {
		return false
	}
	rest := strings.TrimLeft(trimmed, "0123456789")
	return rest == trimmed || !strings.HasPrefix(rest, ". ") && !strings.HasPrefix(rest, ") ")
}

// parser gathers headings and the preview line by line.
type parser struct {
	style    style
	headings []Heading
	more     int
	preview  []string
	last     string // the line before, empty if it cannot be a heading
	fence    string // what ends the code block that the lines are in
	front    bool   // in the front matter
}

func (p *parser) out() Outline {
	if len(p.headings) > 0 {
		return Outline{Headings: p.headings, More: p.more}
	}
	return Outline{Preview: p.preview}
}

func (p *parser) line(n int, text string) {
	trimmed := strings.TrimSpace(text)
	if shown := line(text, mostLine); shown != "" && len(p.preview) < mostPreview {
		p.preview = append(p.preview, shown)
	}
	if p.style == noHeadings || p.style == markdown && p.skips(n, trimmed) {
		p.last = ""
		return
	}
	switch {
	case p.last != "" && trimmed != "" && strings.IndexByte("=-~", trimmed[0]) >= 0 && underline.MatchString(text):
		p.add(n-1, p.last)
		p.last = ""
		return
	case p.style == markdown:
		if strings.HasPrefix(trimmed, "#") {
			if m := numberSigns.FindStringSubmatch(text); m != nil {
				p.add(n, m[1])
			}
		}
	case chapter.MatchString(text):
		p.add(n, trimmed)
		trimmed = "" // an underline makes no second one of it
	}
	p.last = ""
	if canBeTitle(trimmed) {
		p.last = trimmed
	}
}

// skips reports whether the line belongs to the front matter or a code block of Markdown.
func (p *parser) skips(n int, trimmed string) bool {
	switch {
	case p.front:
		p.front = trimmed != "---" && trimmed != "..." && n < mostFront
		return true
	case n == 1 && trimmed == "---":
		p.front = true
		return true
	case p.fence != "":
		if strings.HasPrefix(trimmed, p.fence) && strings.Trim(trimmed, p.fence[:1]) == "" {
			p.fence = ""
		}
		return true
	}
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(trimmed, mark) {
			p.fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, mark[:1]))]
			return true
		}
	}
	return false
}

func (p *parser) add(n int, title string) {
	title = line(title, mostTitle)
	switch {
	case title == "":
	case len(p.headings) == MaxHeadings:
		p.more++
	default:
		p.headings = append(p.headings, Heading{title, n})
	}
}
