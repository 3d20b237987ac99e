package openai

import (
	"net/http"
	"net/http/httptest"
)

// benchServer answers each request with body, event by event as the socket takes them.
func benchServer(body []byte) (*Model, func()) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(body) }))
	m := New(Config{BaseURL: srv.URL, Model: "m"})
	return m, func() { m.client.HTTP.CloseIdleConnections(); srv.Close() }
}
