package id

// IsName reports whether s is 1 to most letters, digits, "_" or "-", of ASCII.
func IsName(s string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || 'z' < c) && (c < 'A' || 'Z' < c) && (c < '0' || '9' < c) && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
