package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// player is the [Model] as the measurements see it: an address. It runs in a process of its own, as any model does for a server
// and for who calls it directly. In one process with the caller, Go's scheduler would hand a call over from one to the other
// and make it in half the time; the comparison would be with calls that nobody makes.
type player struct {
	url     string // such as http://127.0.0.1:4711/v1
	http    *http.Client
	process *process
}

// startPlayer starts the model server. Kill its process.
func startPlayer(ctx context.Context, command []string, m ModelConfig, dir string, c *http.Client) (*player, error) {
	for _, flag := range [][2]string{{"--addr", m.Addr}, {"--tool", m.Tool}, {"--tool-args", m.Args}} {
		if flag[1] != "" {
			command = slices.Concat(command, flag[:])
		}
	}
	p, err := startProcess(ctx, "model server", command, dir, c)
	if err != nil {
		return nil, err
	}
	return &player{url: p.url + "/v1", http: c, process: p}, nil
}

// tape returns the requests that come while work is done.
func (p *player) tape(ctx context.Context, work func() error) ([][]byte, error) {
	if _, err := p.tapeCall(ctx, http.MethodPost); err != nil {
		return nil, err
	}
	errWork := work()
	taped, err := p.tapeCall(ctx, http.MethodGet)
	return taped, errors.Join(errWork, err)
}

func (p *player) tapeCall(ctx context.Context, method string) (taped [][]byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(p.url, "/v1")+"/tape", nil)
	if err != nil {
		return nil, err
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("tape the model's requests: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("tape the model's requests: HTTP %d", resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 2*maxTape)).Decode(&taped); err != nil {
		return nil, fmt.Errorf("tape the model's requests: %w", err)
	}
	return taped, nil
}
