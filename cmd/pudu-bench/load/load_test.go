package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// little is enough to see that everything is measured.
func little() sizes {
	return sizes{
		clients: []int{1, 4}, steps: []int{0, 5},
		warm: 20 * time.Millisecond, window: 100 * time.Millisecond, directWindow: 50 * time.Millisecond, most: 5 * time.Second, answer: 5,
		streams: []int{3}, streamTokens: 10,
		longTokens: 500, rounds: 2,
		starts: 1, idleThreads: 5, liveRuns: 5,
		recoveryRuns: 5, recoveryTokens: 40,
	}
}

// measure runs the measurements on toy servers.
func measure(t *testing.T, c Config, fault string) (figures []Figure, printed string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	c.Out, c.Dir = &out, t.TempDir()
	c.Player, c.Server = []string{os.Args[0], "model"}, []string{os.Args[0], "toy", "-fault=" + fault}
	figures, err = run(ctx, c, little())
	left, readErr := os.ReadDir(c.Dir)
	if readErr != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, readErr)
	}
	return figures, out.String(), err
}

func TestEveryFigureOfOwnServers(t *testing.T) {
	t.Parallel()
	figures, printed, err := measure(t, Config{}, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	for _, f := range figures {
		switch {
		case f.Name == "limit": // a busy machine reaches it
		case f.Note != "":
			t.Errorf("%s: %s: %s", f.Group, f.Name, f.Note)
		case f.Value < 0, f.Value == 0 && f.Goal != "≤ 0" && !strings.Contains(f.Name, "per ") && !strings.Contains(f.Name, "first event"):
			t.Errorf("%s: %s is %v", f.Group, f.Name, f.Value)
		case f.Goal == "≤ 0" && f.Value != 0:
			t.Errorf("%s: %s is %v", f.Group, f.Name, f.Value)
		}
		if !strings.Contains(printed, f.Name) {
			t.Errorf("%s is not printed", f.Name)
		}
	}
	var groups []string
	for _, f := range figures {
		groups = append(groups, f.Group)
	}
	if diff := cmp.Diff(Groups(), slices.Compact(groups)); diff != "" {
		t.Error(diff)
	}
	all := figureOf(t, figures, "runs that ended well")
	if all.Value != 5 || !*all.Met {
		t.Errorf("%+v", all)
	}
	if under := figureOf(t, figures, "runs under way at the kill"); under.Value == 0 {
		t.Error("all runs had ended before the kill")
	}
}

func figureOf(t *testing.T, figures []Figure, name string) Figure {
	t.Helper()
	i := slices.IndexFunc(figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no figure %q among %+v", name, figures)
	}
	return figures[i]
}

func TestRecoveryFindsWhatAServerLosesOrDoubles(t *testing.T) {
	for _, test := range []struct{ fault, figure string }{
		{"double", "frames seen twice or out of order"},
		{"lose", "frames that only one of two readers saw"},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			figures, printed, err := measure(t, Config{Only: []string{"recovery"}}, test.fault)
			if !errors.Is(err, ErrMissed) {
				t.Fatalf("%v\n%s", err, printed)
			}
			if f := figureOf(t, figures, test.figure); f.Value == 0 || *f.Met {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestAServerSomewhereElse(t *testing.T) {
	for _, test := range []struct {
		name, fault string
		wait        bool
	}{
		{"that creates threads with runs", "", false},
		{"that wants threads to be created first", "strict", false},
		{"whose runs are waited for", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			figures, printed, err := elsewhere(t, test.fault, Config{Wait: test.wait, Only: []string{"runs", "streams", "tokens"}, JSON: true})
			if err != nil {
				t.Fatal(err)
			}
			var decoded []Figure
			for dec := json.NewDecoder(strings.NewReader(printed)); dec.More(); {
				var f Figure
				if err := dec.Decode(&f); err != nil {
					t.Fatal(err)
				}
				decoded = append(decoded, f)
			}
			if diff := cmp.Diff(figures, decoded); diff != "" {
				t.Error(diff)
			}
			if f := figureOf(t, figures, "5 steps, c=4"); f.Value == 0 || f.Direct == 0 || f.Unit != "/s" {
				t.Errorf("%+v", f)
			}
		})
	}
}

// elsewhere measures a toy server that is there already.
func elsewhere(t *testing.T, fault string, c Config) ([]Figure, string, error) {
	t.Helper()
	free := httptest.NewServer(nil)
	c.Model.Addr = strings.TrimPrefix(free.URL, "http://")
	free.Close()
	ty := &toy{model: "http://" + c.Model.Addr + "/v1", dir: t.TempDir(), fault: fault}
	server := httptest.NewServer(ty.routes())
	defer ty.all.Wait()
	defer server.Close()
	c.URL, c.Assistant = server.URL+"/", "toy"
	return measure(t, c, "")
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	own := func(fault string, only ...string) func(*testing.T) error {
		return func(t *testing.T) error {
			_, _, err := measure(t, Config{Only: only}, fault)
			return err
		}
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T) error
		want string
	}{
		{"a name that is none", own("", "runs", "walks"), `there is no measurement "walks": choose of runs, streams, tokens, memory, recovery`},
		{"a server that does not start", own("dead", "memory"), "it ended before it told its address (exit status 1); its last words:\n  no such luck"},
		{"a server that refuses", own("broken", "runs"), "HTTP 500: the disk is full"},
		{"an answer without the model's words", own("silent", "runs"), errUnanswered.Error()},
		{"recovery of a server elsewhere", func(t *testing.T) error {
			_, _, err := elsewhere(t, "", Config{Only: []string{"recovery"}})
			return err
		}, "leave out --url"},
		{"a server with another model", func(t *testing.T) error {
			other, err := StartModel(t.Context(), ModelConfig{})
			if err != nil {
				return err
			}
			defer other.Close()
			ty := &toy{model: other.URL, dir: t.TempDir()}
			server := httptest.NewServer(ty.routes())
			defer ty.all.Wait()
			defer server.Close()
			_, _, err = measure(t, Config{URL: server.URL}, "")
			return err
		}, "the server made 0 model calls at http://127.0.0.1:"},
		{"a model server that does not start", func(t *testing.T) error {
			_, _, err := measure(t, Config{Model: ModelConfig{Addr: "127.0.0.1:none"}}, "")
			return err
		}, "start model server: it ended before it told its address (exit status 1); its last words:\n  start model server: listen tcp"},
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
	c := Config{Out: cancelling{cancel}, Dir: dir, Player: []string{os.Args[0], "model"}, Server: []string{os.Args[0], "toy"}}
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
