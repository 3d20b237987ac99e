package wire

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Secrets collects what must not appear in an error: the key, the values of headers that by their name hold one, with
// and without the word in front, and what of the address is not its place. The longest come first, so that no rest of
// one stays where another is a part of it.
func Secrets(key string, header http.Header, address string) []string {
	secrets := []string{key}
	for name, values := range header {
		if has(strings.ToLower(name), []string{"auth", "key", "token", "secret", "cookie"}) {
			for _, v := range values {
				_, bare, _ := strings.Cut(v, " ")
				secrets = append(secrets, v, bare)
			}
		}
	}
	secrets = append(secrets, secretsIn(address)...)
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.DeleteFunc(slices.Compact(secrets), func(s string) bool { return s == "" })
}

// secretsIn are the user with the password, and the values of the query as they stand there and as they are meant. A
// user without a password is a token. Which version of an API is asked for is no secret.
func secretsIn(address string) (secrets []string) {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	if u.User != nil {
		name := u.User.Username()
		password, both := u.User.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
		secrets = append(secrets, password, u.User.String(), basic)
		if !both {
			secrets = append(secrets, name)
		}
	}
	for member := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(member, "=")
		if name == "api-version" {
			continue
		}
		secrets = append(secrets, value)
		if meant, err := url.QueryUnescape(value); err == nil {
			secrets = append(secrets, meant)
		}
	}
	return secrets
}
