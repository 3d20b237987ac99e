package gateway

import (
	"net/url"
	"strings"
)

// oneSlash is a path that begins with one slash.
func oneSlash(path string) string { return "/" + strings.TrimLeft(path, "/") }

// tidy takes empty names out of a path: http.ServeMux would send the client elsewhere, with escapes that are escaped
// again. What comes after "artifacts" loses the slashes at its end alone.
func tidy(path string) string {
	var out []string
	names := strings.Split(strings.TrimRight(path, "/"), "/")
	for i, name := range names {
		if len(out) == 3 && out[0] == "threads" && out[2] == "artifacts" {
			out = append(out, strings.Join(names[i:], "/"))
			break
		}
		if name != "" {
			out = append(out, name)
		}
	}
	return "/" + strings.Join(out, "/")
}

// literal is the URL of a path that http.ServeMux takes as it stands. Without it a ".." would be resolved and the
// client sent elsewhere: from DELETE /threads/ID/uploads/.. to DELETE /threads/ID. What comes after "artifacts" is one
// name, whose slashes and dots are looked at by [artifactPath] alone.
func literal(path string) *url.URL {
	names := strings.SplitN(path, "/", 5) // "", "threads", ID, "artifacts", rest
	if len(names) > 3 && names[1] == "threads" && names[3] == "artifacts" {
		if len(names) == 4 {
			names, path = append(names, ""), path+"/"
		}
	} else {
		names = strings.Split(path, "/")
	}
	for i, name := range names {
		if names[i] = url.PathEscape(name); name == "." || name == ".." {
			names[i] = strings.ReplaceAll(name, ".", "%2E")
		}
	}
	return &url.URL{Path: path, RawPath: strings.Join(names, "/")}
}
