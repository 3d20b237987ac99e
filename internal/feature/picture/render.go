package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	stddraw "image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

const (
	// maxPNG is how large a PNG may be before it becomes a JPEG, in bytes.
	maxPNG      = 1 << 20
	jpegQuality = 85
)

// codec decodes one type of image.
type codec struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

func codecs() map[string]codec {
	return map[string]codec{
		PNG: {png.DecodeConfig, png.Decode}, JPEG: {jpeg.DecodeConfig, jpeg.Decode},
		// of an animation the first picture
		GIF: {gif.DecodeConfig, gif.Decode}, WebP: {webp.DecodeConfig, webp.Decode},
	}
}

// Render makes the rendering of an image file: upright, within [MaxEdge] and [MaxArea], transparent parts white, and as
// PNG where the file draws sharp lines (PNG, GIF) and that is not too large, else as JPEG. The same bytes give the same
// rendering. Its Path is empty. The error says what is wrong with the file, and is fit for a model.
func Render(file []byte) (ref Ref, rendering []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // decoders of hostile input
			err = errors.New("the image is broken: its decoder failed")
		}
	}()
	mime := Sniff(file)
	c, ok := codecs()[mime]
	if !ok {
		return Ref{}, nil, errors.New("no image that can be viewed")
	}
	if err := checkSize(c, file); err != nil {
		return Ref{}, nil, err
	}
	src, err := c.decode(bytes.NewReader(file))
	if err != nil {
		return Ref{}, nil, fmt.Errorf("the image is broken: %w", err)
	}
	from := src.Bounds().Size()
	if from.X <= 0 || from.Y <= 0 {
		return Ref{}, nil, errors.New("the image is empty")
	}
	turn := upright
	if mime == JPEG {
		turn = orientation(file)
	}
	small := turn.apply(shrink(src))
	if turn.sideways() {
		from.X, from.Y = from.Y, from.X
	}
	rendering, kept, err := encode(small, mime == PNG || mime == GIF)
	if err != nil {
		return Ref{}, nil, fmt.Errorf("the image cannot be encoded: %w", err)
	}
	sum, size := sha256.Sum256(rendering), small.Bounds().Size()
	return Ref{
		FromWidth: from.X, FromHeight: from.Y, SHA256: hex.EncodeToString(sum[:]), MIMEType: kept, Width: size.X,
		Height: size.Y,
	}, rendering, nil
}

// checkSize looks at the head of the file before anything of its pixels is decoded.
func checkSize(c codec, file []byte) error {
	cfg, err := c.config(bytes.NewReader(file))
	if err != nil {
		return fmt.Errorf("the image is broken: %w", err)
	}
	if int64(cfg.Width)*int64(cfg.Height) > MaxPixels {
		return fmt.Errorf("the image has %d×%d pixels, more than the %d million that can be viewed; make it smaller "+
			"first",
			cfg.Width, cfg.Height, MaxPixels/1_000_000)
	}
	return nil
}

// fit is the size of a rendering.
func fit(w, h int) (int, int) {
	scale := min(1, MaxEdge/float64(max(w, h)), math.Sqrt(MaxArea/(float64(w)*float64(h))))
	if scale == 1 {
		return w, h
	}
	side := func(n int) int { return max(1, int(float64(n)*scale)) }
	return side(w), side(h)
}

// shrink draws the image on white, in the size that fits.
func shrink(src image.Image) *image.RGBA {
	b := src.Bounds()
	w, h := fit(b.Dx(), b.Dy())
	if k := min(b.Dx()/w, b.Dy()/h); k > 1 {
		src = average(src, k)
		b = src.Bounds()
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	stddraw.Draw(out, out.Bounds(), image.White, image.Point{}, stddraw.Src)
	if b.Dx() == w && b.Dy() == h {
		stddraw.Draw(out, out.Bounds(), src, b.Min, stddraw.Over)
		return out
	}
	draw.CatmullRom.Scale(out, out.Bounds(), src, b, draw.Over, nil)
	return out
}

// average makes one pixel of k×k. It holds k lines at a time, where a scaler would hold floating-point numbers for all.
func average(src image.Image, k int) *image.RGBA {
	b := src.Bounds()
	w, h := b.Dx()/k, b.Dy()/k
	out, strip := image.NewRGBA(image.Rect(0, 0, w, h)), image.NewRGBA(image.Rect(0, 0, w*k, k))
	for y := range h {
		stddraw.Draw(strip, strip.Bounds(), src, image.Pt(b.Min.X, b.Min.Y+y*k), stddraw.Src)
		for x := range w {
			out.SetRGBA(x, y, mean(strip, x*k, k))
		}
	}
	return out
}

// mean is the middle colour of the k×k pixels of a strip from x on.
func mean(strip *image.RGBA, x, k int) color.RGBA {
	var sum [4]uint32
	for y := range k {
		line := strip.Pix[y*strip.Stride+4*x:][:4*k]
		for i, v := range line {
			sum[i%4] += uint32(v)
		}
	}
	n := uint32(k * k)
	channel := func(i int) uint8 { return uint8((sum[i] + n/2) / n) } // a byte, as they are
	return color.RGBA{channel(0), channel(1), channel(2), channel(3)}
}

// encode writes the rendering and tells its type.
func encode(img image.Image, sharp bool) ([]byte, string, error) {
	var b bytes.Buffer
	if sharp {
		if err := png.Encode(&b, img); err != nil || b.Len() <= maxPNG {
			return b.Bytes(), PNG, err
		}
		b.Reset()
	}
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality})
	return b.Bytes(), JPEG, err
}
