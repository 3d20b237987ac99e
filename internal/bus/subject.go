package bus

import "fmt"

// MaxSubject is how many bytes a subject may have.
const MaxSubject = 200

// CheckSubject returns nil if s is a subject: tokens of the letters A to Z and a to z, digits, "_" and "-", joined by
// dots, such as "run.0198-ab", and at most [MaxSubject] bytes.
func CheckSubject(s string) error {
	if len(s) > MaxSubject {
		return fmt.Errorf("subject %q... has %d bytes: at most %d", s[:32], len(s), MaxSubject)
	}
	start := 0 // of the token
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s) || s[i] == '.':
			if i == start {
				return fmt.Errorf("subject %q has an empty token at byte %d: write tokens joined by single dots", s, i)
			}
			start = i + 1
		case !tokenByte(s[i]):
			return fmt.Errorf("subject %q has %q at byte %d: a token is made of A-Z, a-z, 0-9, _ and -", s, s[i:i+1], i)
		}
	}
	return nil
}

func tokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}
