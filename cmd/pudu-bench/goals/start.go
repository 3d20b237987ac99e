package goals

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/internal/lib/units"
)

const mb = 1 << 20

// measureStart measures the program itself: its size, how fast it starts, and what it holds while a model thinks.
func measureStart(ctx context.Context, e env, r *measure.Table) error {
	pudu, err := filepath.Abs(e.pudu)
	if err != nil {
		return err
	}
	info, err := os.Stat(pudu)
	if err != nil {
		return fmt.Errorf("%w; build it with `make build`", err)
	}
	took, err := compare(ctx, 20, timed(1, bare(pudu, "version")), timed(1, bare("/bin/true")))
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "pudu version beside /bin/true",
		Unit: units.Seconds, Value: took[0], Beside: took[1], Goal: measure.Within(20e-3)})
	r.Add(measure.Figure{Name: "size of the program",
		Unit: units.Bytes, Value: float64(info.Size()), Goal: measure.Sized(60 * mb)})
	rss, err := waitingMemory(ctx, pudu, e.dir)
	if errors.Is(err, measure.ErrNoProcess) {
		r.Missing("memory", err)
		return nil
	}
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "memory of a run that waits for its model",
		Unit: units.Bytes, Value: rss, Goal: measure.Within(60 * mb)})
	return nil
}

// waitingMemory starts a run with a model that does not answer for a while and returns the resident memory then.
func waitingMemory(ctx context.Context, pudu, dir string) (rss float64, err error) {
	config, err := slowModel(dir)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, pudu, "run", "--json", "--config", config, "--data", filepath.Join(dir, "data"),
		"hello")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	asked := waitForInput(out)
	if asked {
		time.Sleep(200 * time.Millisecond) // the rest of its way to the model
		rss, err = measure.Memory(cmd.Process.Pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	if !asked {
		return 0, fmt.Errorf("%s ended before it asked its model: %s", pudu, &complaints)
	}
	return rss, err
}

// waitForInput reads events until the run's input is kept: asking the model is what comes next.
func waitForInput(events io.Reader) bool {
	for lines := bufio.NewScanner(events); lines.Scan(); {
		if strings.Contains(lines.Text(), `"__start__"`) {
			return true
		}
	}
	return false
}

func slowModel(dir string) (config string, err error) {
	config, script := filepath.Join(dir, "slow.yaml"), filepath.Join(dir, "script.yaml")
	text := "models:\n- {name: slow, provider: scripted, script: script.yaml}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return "", err
	}
	return config, os.WriteFile(script, []byte("dialogues:\n- turns:\n  - {delay: 60s, text: done}\n"), 0o600)
}
