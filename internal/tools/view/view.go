// Package view holds the view_image tool. The tool checks the image, keeps a rendering of it that a model can take, and
// names it in the result; the thread's state gets its path. The bytes stay in files, so that no checkpoint and no frame
// carries them: whoever makes the next model request puts the image in.
package view

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// ToolName is the tool that looks at an image.
const ToolName = "view_image"

// Config is what the tool works with.
type Config struct {
	Files *sandbox.Files
	// Album renders the images; nil makes one of the tool's own.
	Album *picture.Album
}

//go:embed view_image.md
var description string

type viewArgs struct {
	ImagePath string `json:"image_path" doc:"Absolute path of the image."`
}

// New returns the view_image tool for a thread's files. To look twice at one image is harmless: its rendering is kept
// once.
func New(cfg Config) tool.Tool {
	if cfg.Album == nil {
		cfg.Album = picture.NewAlbum(0)
	}
	spec := tool.Spec{Name: ToolName, Description: strings.TrimSpace(description), Effect: tool.Idempotent}
	return tool.MustNew(spec, func(ctx context.Context, _ *tool.Call, in viewArgs) (*tool.Result, error) {
		return cfg.view(ctx, in.ImagePath), nil
	})
}

func (cfg Config) view(ctx context.Context, imagePath string) *tool.Result {
	clean, data, err := load(cfg.Files, imagePath)
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Error("Error: Image file not found: " + excerpt.Clip(imagePath, 500))
	}
	if err != nil {
		return tool.Error("Error: " + err.Error())
	}
	ref, err := cfg.Album.Add(ctx, cfg.Files, clean, data)
	if err != nil {
		return tool.Error(fmt.Sprintf("Error: cannot view %s: %v", excerpt.Clip(imagePath, 500), err))
	}
	raw, err := json.Marshal(ref)
	if err != nil {
		return tool.Error("Error: " + err.Error())
	}
	res := tool.Text("Successfully read image")
	res.Kwargs = message.Fields{picture.KeyRef: raw}
	res.Summary = fmt.Sprintf("%s (%d×%d, %d bytes)", clean, ref.FromWidth, ref.FromHeight, len(data))
	res.Update = threadstate.ViewedImages.Put(map[string]threadstate.ViewedImage{
		clean: {MIMEType: picture.Sniff(data), Size: int64(len(data)), ActualPath: clean},
	})
	return res
}

// load reads an image whose type is what its name says.
func load(files *sandbox.Files, imagePath string) (clean string, data []byte, err error) {
	clean, err = sandbox.CleanPath(imagePath)
	if err != nil || !allowed(clean) {
		return "", nil, fmt.Errorf("only images below %s, %s or %s can be viewed: %s", sandbox.Workspace,
			sandbox.Uploads, sandbox.Outputs, excerpt.Clip(imagePath, 500))
	}
	want := typeOf(path.Ext(clean))
	if want == "" {
		return "", nil,
			fmt.Errorf("unsupported image format: %s. It must be jpg, jpeg, png, webp or gif; convert it first",
				excerpt.Clip(imagePath, 500))
	}
	if data, err = files.ReadFile(clean, picture.MaxFile); err != nil {
		return "", nil, err
	}
	if got := picture.Sniff(data); got != want {
		return "", nil, fmt.Errorf("the content of %s does not match its ending: it is %s",
			excerpt.Clip(imagePath, 500), orUnknown(got))
	}
	return clean, data, nil
}

// typeOf is what a file of that ending must hold; empty for one that is no image.
func typeOf(ext string) string {
	switch strings.ToLower(ext) {
	case ".jpg", ".jpeg":
		return picture.JPEG
	case ".png":
		return picture.PNG
	case ".webp":
		return picture.WebP
	case ".gif":
		return picture.GIF
	}
	return ""
}

func allowed(clean string) bool {
	for _, folder := range []string{sandbox.Workspace, sandbox.Uploads, sandbox.Outputs} {
		if strings.HasPrefix(clean, folder+"/") {
			return true
		}
	}
	return false
}

func orUnknown(mime string) string {
	if mime == "" {
		return "no image that can be viewed"
	}
	return mime
}
