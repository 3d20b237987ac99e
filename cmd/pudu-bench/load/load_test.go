package load

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

// little is enough to see that everything is measured.
func little() sizes {
	return sizes{
		clients: []int{1, 4}, steps: []int{0, 5},
		warm: 20 * time.Millisecond, window: 100 * time.Millisecond, directWindow: 50 * time.Millisecond,
		streams: []int{3}, streamTokens: 10,
		longTokens: 500, starts: 1, idle: 100 * time.Millisecond, recoveryRuns: 5, recoveryTokens: 40,
		newsUsers: 3, newsClients: 1, newsRounds: 1,
	}
}

// runToy runs the measurements on toy servers.
func runToy(t *testing.T, c Config, fault string) (figures []measure.Figure, printed string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	c.Out, c.Notes, c.Dir = &out, io.Discard, t.TempDir()
	if c.ModelAddr == "" {
		c.ModelAddr = "127.0.0.1:0"
	}
	c.Player, c.Server = []string{os.Args[0], "model"}, []string{os.Args[0], "toy", "-fault=" + fault}
	figures, err = run(ctx, c, little())
	left, readErr := os.ReadDir(c.Dir)
	if readErr != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, readErr)
	}
	return figures, out.String(), err
}

// maybeNone are figures that may be 0 where so little is measured.
var maybeNone = regexp.MustCompile("per |first event|of a processor")

func TestEveryFigureOfOwnServers(t *testing.T) {
	t.Parallel()
	figures, printed, err := runToy(t, Config{}, "")
	// how fast it is beside other tests says nothing; what must be 0 is looked at below
	if err != nil && !errors.Is(err, ErrMissed) {
		t.Fatalf("%v\n%s", err, printed)
	}
	for _, f := range figures {
		switch {
		case f.Note != "":
			t.Errorf("%s: %s", f.Name, f.Note)
		case f.Goal != nil && f.Goal.Limit == 0 && f.Value != 0:
			t.Errorf("%s is %v", f.Name, f.Value)
		case f.Value < 0, f.Value == 0 && (f.Goal == nil || f.Goal.Limit > 0) && !maybeNone.MatchString(f.Name):
			t.Errorf("%s is %v", f.Name, f.Value)
		}
		if !strings.Contains(printed, f.Name) {
			t.Errorf("%s is not printed", f.Name)
		}
	}
	for _, group := range Groups() {
		if !strings.Contains(printed, "\n"+group+" ") {
			t.Errorf("no %s in\n%s", group, printed)
		}
	}
	if under := figureOf(t, figures, "runs under way at the kill"); under.Value == 0 {
		t.Error("all runs had ended before the kill")
	}
	if f := figureOf(t, figures, "5 steps, c=4"); f.Value == 0 || f.Beside == 0 {
		t.Errorf("%+v", f)
	}
}

func figureOf(t *testing.T, figures []measure.Figure, name string) measure.Figure {
	t.Helper()
	i := slices.IndexFunc(figures, func(f measure.Figure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no figure %q among %+v", name, figures)
	}
	return figures[i]
}

func TestRecoveryFindsWhatAServerLosesOrDoubles(t *testing.T) {
	for _, test := range []struct{ fault, figure string }{
		{"double", "frames seen twice"},
		{"lose", "frames that only a later reader saw"},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			figures, printed, err := runToy(t, Config{Only: []string{"recovery"}}, test.fault)
			if !errors.Is(err, ErrMissed) {
				t.Fatalf("%v\n%s", err, printed)
			}
			if f := figureOf(t, figures, test.figure); f.Value == 0 || f.Met() {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestAServerSomewhereElse(t *testing.T) {
	t.Parallel()
	figures, printed, err := elsewhere(t, Config{Only: []string{"runs", "streams", "tokens"}})
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if f := figureOf(t, figures, "5 steps, c=4"); f.Value == 0 || f.Beside == 0 {
		t.Errorf("%+v", f)
	}
}

// elsewhere measures a toy server that is there already.
func elsewhere(t *testing.T, c Config) ([]measure.Figure, string, error) {
	t.Helper()
	free := httptest.NewServer(nil)
	c.ModelAddr = strings.TrimPrefix(free.URL, "http://")
	free.Close()
	ty := &toy{model: "http://" + c.ModelAddr, dir: t.TempDir()}
	server := httptest.NewServer(ty.routes())
	defer ty.all.Wait()
	defer server.Close()
	c.URL = server.URL + "/"
	return runToy(t, c, "")
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	own := func(fault string, only ...string) func(*testing.T) error {
		return func(t *testing.T) error {
			_, _, err := runToy(t, Config{Only: only}, fault)
			return err
		}
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T) error
		want string
	}{
		{"a name that is none", own("", "runs", "walks"),
			`there is no measurement "walks": choose of runs, streams, tokens, memory, news, recovery`},
		{"a server that does not start", own("dead", "memory"),
			"the server ended by itself (exit status 1); it said:\nno such luck"},
		{"a server that refuses", own("broken", "runs"), "HTTP 500: the disk is full"},
		{"an answer without the model's words", own("silent", "runs"), errUnanswered.Error()},
		{"recovery of a server elsewhere", func(t *testing.T) error {
			_, _, err := elsewhere(t, Config{Only: []string{"recovery"}})
			return err
		}, "leave out --url"},
		{"a server with another model", func(t *testing.T) error {
			other, err := StartModel(t.Context(), "127.0.0.1:0")
			if err != nil {
				return err
			}
			defer other.Close()
			ty := &toy{model: other.URL, dir: t.TempDir()}
			server := httptest.NewServer(ty.routes())
			defer ty.all.Wait()
			defer server.Close()
			_, _, err = runToy(t, Config{URL: server.URL}, "")
			return err
		}, "the server made 0 model calls at http://127.0.0.1:"},
		{"a model server that does not start", func(t *testing.T) error {
			_, _, err := runToy(t, Config{ModelAddr: "127.0.0.1:none"}, "")
			return err
		},
			"start model server: the model server ended by itself (exit status 1); it said:\nstart model server: listen tcp"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.run(t); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nshould hold: %s", err, test.want)
			}
		})
	}
}

func TestCancelEndsEverything(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	c := Config{Out: cancelling{cancel}, Notes: io.Discard, Dir: dir, ModelAddr: "127.0.0.1:0",
		Player: []string{os.Args[0], "model"}, Server: []string{os.Args[0], "toy"}}
	n := little()
	n.window = time.Hour
	if _, err := run(ctx, c, n); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// cancelling cancels as soon as something is printed: the first title.
type cancelling struct{ cancel func() }

func (c cancelling) Write(b []byte) (int, error) {
	time.AfterFunc(300*time.Millisecond, c.cancel)
	return len(b), nil
}
