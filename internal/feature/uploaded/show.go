package uploaded

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/pudu-ai/pudu/internal/lib/untrusted"
)

// mostShown bounds a name that is shown, in characters. Paths are never cut.
const mostShown = 120

// ShowName returns a name for a line of text. Names of ordinary characters, quotes and any script stay as they are.
func ShowName(name string) string { return line(name, mostShown) }

// ShowPath returns a path for a line of text: as it is, or, when it holds what could be taken for something else, as a
// JSON string, which a model can put into a call as it stands.
func ShowPath(p string) string {
	if untrusted.Line(p) == p && strings.IndexFunc(p, hidden) < 0 {
		return p
	}
	raw, _ := json.Marshal(p) // escapes < and >
	return string(Inert(raw))
}

// Inert rewrites JSON so that no mark or invisible character stands in it; its value stays the same.
func Inert(raw []byte) []byte {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(string(raw), "--", `-\u002d`) {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}

// hidden reports characters that people do not see, such as those that turn the direction of writing.
func hidden(r rune) bool { return !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029' }

// line returns s on one line of at most limit characters, harmless.
func line(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case hidden(r):
			return -1
		}
		return r
	}, clip(s, 4*limit)) // escaping makes it longer
	return clip(untrusted.Line(s), limit)
}

// clip cuts s to limit characters.
func clip(s string, limit int) string {
	n, end := 0, 0
	for i := range s {
		if n == limit-1 {
			end = i
		}
		if n++; n > limit {
			return strings.ToValidUTF8(s[:end], "\uFFFD") + "…"
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Size writes a size as people do.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// Kinds counts files by their endings, the most frequent first: "4 .pdf, 3 .csv".
func Kinds(list []File) string {
	const most = 8
	count := make(map[string]int)
	for _, f := range list {
		ext := strings.ToLower(path.Ext(f.Name))
		if ext == "" {
			ext = "without ending"
		}
		count[line(ext, 20)]++
	}
	kinds := make([]string, 0, len(count))
	for ext := range count {
		kinds = append(kinds, ext)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	for i, ext := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", count[ext], ext)
	}
	if len(kinds) > most {
		kinds = append(kinds[:most], "others")
	}
	return strings.Join(kinds, ", ")
}
