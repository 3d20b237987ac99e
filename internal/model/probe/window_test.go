package probe

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWindowIsReadFromTheListOfModels(t *testing.T) {
	for _, c := range []struct {
		file, model string
		want        int
	}{
		{"openai", "gpt-4.1", 0},
		{"vllm", "Qwen/Qwen3-8B", 40960},
		{"vllm", "Qwen/Qwen3", 0},
		{"openrouter", "qwen/qwen3-8b", 40960},
		{"openrouter", "other/model", 1000},
		{"groq", "llama-3.3-70b-versatile", 131072},
		{"mistral", "mistral-large-latest", 131072},
		{"moonshot", "kimi-k2-turbo-preview", 262144},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "models", c.file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer k" {
				w.WriteHeader(http.StatusUnauthorized)
			}
			w.Write(data)
		}))
		s := Server{BaseURL: srv.URL + "/v1/", Header: http.Header{"Authorization": {"Bearer k"}}, Client: srv.Client()}
		if got := s.Window(t.Context(), c.model); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.file, c.model, got, c.want)
		}
		s.Header = nil
		if got := s.Window(t.Context(), c.model); got != 0 {
			t.Errorf("%s: %d without a key", c.file, got)
		}
		srv.Close()
	}
}

func TestTheKeyIsNotCarriedElsewhere(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	s := Server{BaseURL: srv.URL, Client: srv.Client()}
	if got := s.Window(t.Context(), "m"); got != 0 || !cmp.Equal(asked, []string{"/models"}) {
		t.Errorf("%d, asked %v", got, asked)
	}
	if got := (Server{BaseURL: "http://%"}).Window(t.Context(), "m"); got != 0 {
		t.Errorf("%d from no address", got)
	}
}

func TestAWindowThatIsLearnedIsCompared(t *testing.T) {
	for _, c := range []struct {
		declared, learned, window int
		option                    string
	}{
		{0, 40960, 40960, "40960"}, {131072, 40960, 40960, "40960"}, {32768, 40960, 40960, ""}, {32768, 0, 32768, ""},
	} {
		p := &prober{cfg: Config{Declared: Declared{Window: c.declared}}, report: Report{Window: c.declared}}
		p.cfg.Learn = windowOf(c.learned)
		p.learn(t.Context())
		option := ""
		for _, o := range p.report.Options {
			option += strings.TrimPrefix(o.Key, "context_window") + string(o.Value)
		}
		if p.report.Window != c.window || option != c.option {
			t.Errorf("%+v: window %d, option %q", c, p.report.Window, option)
		}
	}
}

func FuzzWindowIn(f *testing.F) {
	for _, file := range []string{"vllm", "openrouter"} {
		data, err := os.ReadFile(filepath.Join("testdata", "models", file+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "Qwen/Qwen3-8B")
	}
	f.Add([]byte(`{"data":[{"id":"m","context_length":-1e300,"max_model_len":"x"}]}`), "m")
	f.Fuzz(func(t *testing.T, data []byte, id string) {
		if n := windowIn(data, id); n < 0 || n > 1e9 {
			t.Errorf("%d", n)
		}
	})
}

func windowOf(n int) func(context.Context) int { return func(context.Context) int { return n } }
