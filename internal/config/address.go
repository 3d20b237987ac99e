package config

import (
	"net/url"
	"strings"
)

// ShownURL is an address as people, clients and logs may see it: without user, password, query and fragment, which may
// be credentials. Wherever an address of a model's server is shown, this is what is shown. Of a text that is no address
// nothing stays that could be one of them.
func ShownURL(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
		return u.String()
	}
	address = address[strings.LastIndexByte(address, '@')+1:]
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		address = address[:i]
	}
	return address
}
