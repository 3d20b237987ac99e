package picture

import (
	"encoding/binary"
	"image"
)

// turned is how a camera was held, as EXIF counts it: 1 to 8.
type turned int

const upright turned = 1

// sideways reports whether width and height change places.
func (t turned) sideways() bool { return t >= 5 }

// apply returns the image the right way up.
func (t turned) apply(src *image.RGBA) *image.RGBA {
	if t == upright {
		return src
	}
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	size := image.Rect(0, 0, w, h)
	if t.sideways() {
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			to := t.place(x, y, w, h)
			out.SetRGBA(to.X, to.Y, src.RGBAAt(x, y))
		}
	}
	return out
}

// place is where a pixel of the picture as it is stored belongs.
func (t turned) place(x, y, w, h int) image.Point {
	switch t {
	case 2:
		return image.Pt(w-1-x, y)
	case 3:
		return image.Pt(w-1-x, h-1-y)
	case 4:
		return image.Pt(x, h-1-y)
	case 5:
		return image.Pt(y, x)
	case 6:
		return image.Pt(h-1-y, x)
	case 7:
		return image.Pt(h-1-y, w-1-x)
	case 8:
		return image.Pt(y, w-1-x)
	}
	return image.Pt(x, y)
}

// orientation finds how the camera was held in the EXIF segment of a JPEG; upright if nothing says.
func orientation(jpeg []byte) turned {
	const exif = "Exif\x00\x00"
	for rest := jpeg[min(2, len(jpeg)):]; len(rest) > 4 && rest[0] == 0xff; {
		marker, size := rest[1], int(binary.BigEndian.Uint16(rest[2:]))
		if marker == 0xda || size < 2 || 2+size > len(rest) { // the picture itself, or nonsense
			return upright
		}
		body := rest[4 : 2+size]
		if marker == 0xe1 && len(body) > len(exif) && string(body[:len(exif)]) == exif {
			return tiffOrientation(body[len(exif):])
		}
		rest = rest[2+size:]
	}
	return upright
}

// tiffOrientation reads tag 0x112 of the first directory of a TIFF head.
func tiffOrientation(b []byte) turned {
	if len(b) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(b[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return upright
	}
	entries := b[at+2:]
	for range order.Uint16(b[at:]) {
		if len(entries) < 12 {
			return upright
		}
		if v := order.Uint16(entries[8:]); order.Uint16(entries) == 0x112 && v >= 1 && v <= 8 {
			return turned(v)
		}
		entries = entries[12:]
	}
	return upright
}
