package picture

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/pudu-ai/pudu/sandbox"
)

// DefaultCache is what an [Album] holds in memory when nobody says, in bytes.
const DefaultCache = 64 << 20

// maxRendering bounds a kept rendering, in bytes. Those of [Render] are far below.
const maxRendering = 5 << 20

// Album renders images and has their renderings at hand. One serves all threads of a process: it renders one image at a
// time, because a large one takes hundreds of megabytes while it is decoded, and its cache is pure: what it holds is
// found by the hash of its bytes. Make one with [NewAlbum].
type Album struct {
	turn  chan struct{}
	mu    sync.Mutex
	cache cache
}

// NewAlbum makes an album that holds at most limit bytes in memory; 0 means [DefaultCache].
func NewAlbum(limit int) *Album {
	if limit <= 0 {
		limit = DefaultCache
	}
	return &Album{turn: make(chan struct{}, 1), cache: cache{limit: limit}}
}

// Add renders a file's content and keeps the rendering among the thread's files. Adding it again changes nothing.
func (a *Album) Add(ctx context.Context, files *sandbox.Files, path string, file []byte) (Ref, error) {
	ref, rendering, err := a.render(ctx, file)
	if err != nil {
		return Ref{}, err
	}
	ref.Path = path
	kept, err := ref.file()
	if err != nil {
		return Ref{}, err
	}
	if _, err := read(files, ref); err == nil {
		return ref, nil
	}
	if err := files.WriteFile(kept, rendering, false); err != nil {
		return Ref{}, fmt.Errorf("keep the image: %w", err)
	}
	return ref, nil
}

func (a *Album) render(ctx context.Context, file []byte) (Ref, []byte, error) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
		return Render(file)
	case <-ctx.Done():
		return Ref{}, nil, context.Cause(ctx)
	}
}

// URL returns a kept rendering as a data: URL. [ErrGone] means that it is not there any more or was changed; any other
// error is one of reading.
func (a *Album) URL(files *sandbox.Files, ref Ref) (string, error) {
	key := ref.MIMEType + ref.SHA256
	a.mu.Lock()
	url, ok := a.cache.get(key)
	a.mu.Unlock()
	if ok {
		return url, nil
	}
	data, err := read(files, ref)
	if err != nil {
		return "", err
	}
	url = "data:" + ref.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(data)
	a.mu.Lock()
	a.cache.put(key, url)
	a.mu.Unlock()
	return url, nil
}

func read(files *sandbox.Files, ref Ref) ([]byte, error) {
	kept, err := ref.file()
	if err != nil {
		return nil, err
	}
	data, err := files.ReadFile(kept, maxRendering)
	if err != nil {
		return nil, errors.Join(ErrGone, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != ref.SHA256 {
		return nil, fmt.Errorf("%w: it was changed", ErrGone)
	}
	return data, nil
}
