package structure

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStatementsNameTheUser: each statement of a feature that a user's request leads to is about that user, whose id is
// $1.
func TestStatementsNameTheUser(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "internal/feature/*/queries/*.sql"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !namesUser(string(text)) {
			t.Errorf("%s: it has to say WHERE user_id = $1 AND ..., or to insert user_id as $1", file)
		}
	}
	for text, want := range map[string]bool{
		"SELECT a FROM b WHERE user_id = $1 AND c = $2":                                                  true,
		"SELECT a FROM b WHERE c = $2":                                                                   false,
		"SELECT a FROM b WHERE c = $2 OR user_id = $1":                                                   false,
		"SELECT a FROM b WHERE user_id = $1 OR c = $2":                                                   false,
		"SELECT a FROM b WHERE user_id = $1 AND (c = $2 OR c = $3)":                                      true,
		"SELECT a FROM b x JOIN c y ON y.d = x.d WHERE x.user_id = $1":                                   true,
		"-- user_id = $1\nDELETE FROM b WHERE c = $2":                                                    false,
		"INSERT INTO b (user_id, c) VALUES ($1, $2)":                                                     true,
		"INSERT INTO b (c, user_id) VALUES ($1, $2)":                                                     false,
		"INSERT INTO b (user_id, c) SELECT $1, c FROM d WHERE user_id = $1 AND e = $2":                   true,
		"INSERT INTO b (user_id, c) SELECT $1, c FROM d WHERE e = $2":                                    false,
		"INSERT INTO b (thread_id, c) SELECT t.id, 0 FROM threads t WHERE t.id = $2":                     false,
		"INSERT INTO b (thread_id, c) SELECT t.id, $2 FROM threads t WHERE t.user_id = $1 AND t.id = $3": true,
	} {
		if namesUser(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

var (
	sqlComment = regexp.MustCompile(`(?m)--.*$`)
	inserts    = regexp.MustCompile(`^INSERT INTO \w+ \(user_id,[^)]*\) (VALUES \(\$1,|SELECT (CAST\()?\$1[ ,])`)
	// ofThread inserts rows of a thread, which the condition says is the user's.
	ofThread = regexp.MustCompile(`^INSERT INTO \w+ \(thread_id,[^)]*\) SELECT t\.id,.* FROM threads t`)
	ofUser   = regexp.MustCompile(`WHERE (\w+\.)?user_id = \$1( |$)`)
	brackets = regexp.MustCompile(`\([^()]*\)`)
)

// namesUser reports whether a statement is about the rows of the user in $1: the condition begins with him, and has no
// OR beside it.
func namesUser(text string) bool {
	text = strings.Join(strings.Fields(sqlComment.ReplaceAllString(text, "")), " ")
	if strings.HasPrefix(text, "INSERT ") && !inserts.MatchString(text) && !ofThread.MatchString(text) {
		return false
	}
	if strings.HasPrefix(text, "INSERT ") && !strings.Contains(text, " SELECT ") {
		return true
	}
	if !ofUser.MatchString(text) {
		return false
	}
	for brackets.MatchString(text) {
		text = brackets.ReplaceAllString(text, "")
	}
	return !strings.Contains(text, " OR ")
}
