package crash

import (
	"testing"
	"time"
)

func TestParseMark(t *testing.T) {
	m, err := parseMark("1795274197067482000 attempt 3 2")
	if err != nil || !m.at.Equal(time.Unix(0, 1795274197067482000)) || m.what != markAttempt || m.word(0) != "3" ||
		m.word(1) != "2" || m.word(2) != "" {
		t.Errorf("%+v, error %v", m, err)
	}
	for _, line := range []string{"", "1", "x start", "1.5 start", "99999999999999999999 start"} {
		if m, err := parseMark(line); err == nil {
			t.Errorf("%q was read as %+v", line, m)
		}
	}
}

func FuzzParseMark(f *testing.F) {
	f.Add("1795274197067482000 attempt 3 2")
	f.Add(" 1  end  c0-0 ")
	f.Fuzz(func(t *testing.T, line string) {
		m, err := parseMark(line)
		if err == nil && (m.what == "" || m.at.IsZero()) {
			t.Errorf("%q was read as %+v", line, m)
		}
	})
}
