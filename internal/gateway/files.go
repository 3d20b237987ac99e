package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/pudu-ai/pudu/sandbox"
)

// threadFiles opens the files of the thread of the path and returns the thread's id; the caller closes them. A thread that
// is not there yet has files too: clients upload before they send the first message.
func (s *Server) threadFiles(r *http.Request) (string, *sandbox.Files, error) {
	id, err := thread(r)
	if err != nil {
		return "", nil, err
	}
	taken, err := s.mine(r.Context()).Taken(r.Context(), id)
	if taken {
		err = notFound("Thread", id)
	}
	if err != nil {
		return "", nil, err
	}
	files, err := s.Files(caller(r.Context()).User, id)
	return id, files, err
}

// storeError gives an error of storing a file the answer that says what is wrong, if it is known.
func storeError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return failf(http.StatusInsufficientStorage, "There is no space left on the server's disk")
	}
	return err
}

// oneSlash is a path that begins with one slash.
func oneSlash(path string) string { return "/" + strings.TrimLeft(path, "/") }

// tidy takes empty names out of a path: http.ServeMux would send the client elsewhere, with escapes that are escaped again.
// What comes after "artifacts" loses the slashes at its end alone.
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

// literal is the URL of a path that http.ServeMux takes as it stands. Without it a ".." would be resolved and the client
// sent elsewhere: from DELETE /threads/ID/uploads/.. to DELETE /threads/ID. What comes after "artifacts" is one name, whose
// slashes and dots are looked at by [artifactPath] alone.
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

// percent escapes everything but letters, digits and "-._~", as URLs and file names in headers need it.
func percent(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}
