package wire

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// TestSecretsAreCutOut: a server that echoes what it was sent, with the word in front of a token and without it, tells
// nobody.
func TestSecretsAreCutOut(t *testing.T) {
	c, srv := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		echo := []string{r.URL.String(), r.URL.Query().Get("key"), user, password}
		for _, values := range r.Header {
			_, bare, _ := strings.Cut(values[0], " ")
			echo = append(echo, values[0], bare)
		}
		http.Error(w, strings.Join(echo, "\n"), http.StatusUnauthorized)
	})
	host := strings.TrimPrefix(srv.URL, "http://")
	for name, tt := range map[string]struct {
		key, in string
		more    map[string]string
		url     string
	}{
		"the key":                      {key: "hunter2-hunter2"},
		"the key in another header":    {key: "hunter2-hunter2", in: "X-Key"},
		"a token of a header":          {more: map[string]string{"Authorization": "Bearer hunter2"}},
		"a token with another word":    {more: map[string]string{"Authorization": "Token hunter2"}},
		"a cookie":                     {more: map[string]string{"Cookie": "session=hunter2"}},
		"a password of the address":    {url: "http://me:hunter2%2F@" + host + "/v1"},
		"a token of the address":       {url: "http://hunter2@" + host + "/v1"},
		"a query":                      {url: srv.URL + "/v1?api-version=2024-10-21&key=hunter%322%20x"},
		"a secret that is part of one": {key: "hunter2", more: map[string]string{"X-Token": "hunter2-hunter2"}},
	} {
		t.Run(name, func(t *testing.T) {
			address := cmp.Or(tt.url, srv.URL)
			header := Header(tt.key, tt.in, tt.more)
			c.Secrets = Secrets(tt.key, header, address)
			_, err := c.Post(t.Context(), address, header, nil)
			basic := base64.StdEncoding.EncodeToString([]byte("hunter2:"))
			if err == nil || strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), basic) {
				t.Errorf("the error tells a secret: %v", err)
			}
			if tt.url != "" && !strings.Contains(err.Error(), "/v1") {
				t.Errorf("the error tells nothing: %v", err)
			}
		})
	}
	// "me:" and its base64
	if got := Secrets("", http.Header{"Accept": {"x"}}, "https://me:@h/v1?a=&api-version=2024-10-21"); len(got) > 2 {
		t.Errorf("secrets %q", got)
	}
}
