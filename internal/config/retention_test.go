package config

import (
	"strings"
	"testing"
	"time"
)

func TestRetention(t *testing.T) {
	for _, c := range []struct {
		text string
		want Age
	}{
		{"{}", Age(24 * time.Hour)},
		{"{chunks: 90m}", Age(90 * time.Minute)},
		{"{chunks: 7d}", Age(7 * 24 * time.Hour)},
		{"{chunks: 3600}", Age(time.Hour)},
		{"{chunks: forever}", 0},
		{"{chunks: $AGE}", Age(2 * time.Hour)},
	} {
		cfg, warnings := mustParse(t, "retention: "+c.text, map[string]string{"AGE": "2h"})
		if cfg.Retention.Chunks != c.want || len(warnings) > 0 {
			t.Errorf("%s: %v, warnings %v", c.text, time.Duration(cfg.Retention.Chunks), warnings)
		}
	}
	for _, bad := range []string{"soon", "-1h", "0", "0d", "1w", "d", "", "40000d", "9999999h", "[1h]", "{}"} {
		_, _, err := parsed(t, "retention:\n  logs: "+quoted(bad), nil)
		if err == nil || !strings.Contains(err.Error(), "config.yaml:2") ||
			!strings.Contains(err.Error(), "retention.logs") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, _, err := parsed(t, "retention: {chunk: 1h}", nil); err == nil || !strings.Contains(err.Error(), "chunks") {
		t.Errorf("a misspelt key: %v", err)
	}
}

func quoted(s string) string {
	if strings.ContainsAny(s, "[{") {
		return s
	}
	return `"` + s + `"`
}

func TestAgeBefore(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	if got := Age(time.Hour).Before(now); !got.Equal(now.Add(-time.Hour)) {
		t.Errorf("got %v", got)
	}
	if got := Age(0).Before(now); !got.IsZero() {
		t.Errorf("forever ends at %v", got)
	}
}

func FuzzParseAge(f *testing.F) {
	for _, s := range []string{"1h", "7d", "0", "forever", "-5s", "1e9h", "18446744073709551615d", "99999999999",
		" 1 d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if age, ok := parseAge(s); ok && (age < 0 || time.Duration(age) > 101*365*24*time.Hour) {
			t.Errorf("%q is %v", s, time.Duration(age))
		}
	})
}
