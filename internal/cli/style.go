package cli

import (
	"fmt"
	"strconv"
	"time"
)

// style colours text on a terminal and leaves it alone elsewhere. The zero value leaves it alone.
type style struct{ on bool }

// errStyle is the style of what goes to standard error.
func (stdio IO) errStyle() style { return style{on: stdio.ErrTTY && !stdio.Plain} }

func (s style) wrap(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string   { return s.wrap("1", t) }
func (s style) dim(t string) string    { return s.wrap("2", t) }
func (s style) yellow(t string) string { return s.wrap("33", t) }

// good and bad mark a line about what went well, or did not.
func (s style) good() string { return s.wrap("32", "✓") }
func (s style) bad() string  { return s.wrap("31", "✗") }

// tokens writes a count of tokens for people: 940, 12.4k, 1.2M.
func tokens(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// duration writes a duration for people: 0.4 s, 31 s, 2 min 5 s.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}
