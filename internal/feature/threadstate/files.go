package threadstate

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/state"
)

// UploadedFile is a file that a user sent along.
type UploadedFile struct {
	Filename  string `json:"filename"`
	Size      int64  `json:"size"` // bytes
	Path      string `json:"path"` // as the agent sees it
	Extension string `json:"extension"`
	// Outline lists the headings of a document that has a text version, OutlinePreview its first lines if it has no
	// headings. Both are JSON of the feature that writes them; empty means that there is none.
	Outline        json.RawMessage `json:"outline,omitempty"`
	OutlinePreview json.RawMessage `json:"outline_preview,omitempty"`
}

// Artifacts are the paths of the files that the agent presented, in order and each once. A nil update keeps them; the
// first update is taken as it is.
var Artifacts = state.Reduced("artifacts", mergeArtifacts)

func mergeArtifacts(old, upd []string) ([]string, error) {
	switch {
	case old == nil && upd == nil:
		return []string{}, nil
	case old == nil:
		return upd, nil
	case upd == nil:
		return old, nil
	}
	return union(old, upd), nil
}

// union returns the distinct strings of a and b in order of first appearance.
func union(a, b []string) []string {
	seen := make(map[string]bool, len(a)+len(b))
	out := make([]string, 0, len(a)+len(b))
	for _, s := range slices.Concat(a, b) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// ViewedImages are the images that the agent looked at, by their path as the agent knows it. A nil update keeps them,
// an empty one drops all, and any other adds its images and replaces those of the same path.
var ViewedImages = state.Reduced("viewed_images", mergeViewedImages)

// ViewedImage describes an image; its bytes stay in the file.
type ViewedImage struct {
	MIMEType   string `json:"mime_type"`
	Size       int64  `json:"size"` // bytes
	ActualPath string `json:"actual_path"`
}

func mergeViewedImages(old, upd map[string]ViewedImage) (map[string]ViewedImage, error) {
	if upd == nil && old != nil {
		return old, nil
	}
	merged := make(map[string]ViewedImage, len(old)+len(upd))
	if len(upd) > 0 {
		maps.Copy(merged, old)
		maps.Copy(merged, upd)
	}
	return merged, nil
}
