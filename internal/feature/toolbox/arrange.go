package toolbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Mount is where a sandbox sees a version.
const Mount = "/mnt/toolbox"

// Environment are the variables of commands that are to find what is in it: modules, fonts, and settings of matplotlib.
// Its own files go to /tmp, not among those of the person.
func Environment() map[string]string {
	return map[string]string{
		"PYTHONPATH":      Mount + "/" + modules,
		"MPLCONFIGDIR":    "/tmp/matplotlib",
		"MATPLOTLIBRC":    Mount + "/" + settings + "/matplotlibrc",
		"FONTCONFIG_FILE": Mount + "/" + settings + "/fonts.conf",
		"PUDU_FONTS":      Mount + "/" + fonts,
	}
}

// Note tells the model in a line what a version has; empty for none.
func Note(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "python3 in the sandbox has these packages: " + strings.Join(names, ", ") +
		". A font with Chinese characters: " + Mount + "/" + fonts + "/" + Font + "."
}

// The font that has Chinese characters: its file in the wheel, and its name below fonts.
const (
	fontIn = "paperang_p2_fonts_cjk/fonts/wqy-microhei.ttc"
	// Font is the name of the file below fonts; it is a TrueType collection, of which the first is the proportional
	// one.
	Font = "wqy-microhei.ttc"
)

// matplotlibrc has charts written in files, and Chinese in the font that is there: what the first family lacks is taken
// from the second. A program that asks for sans-serif gets one font alone, so that it is the one that has both.
const matplotlibrc = `backend: Agg
font.family: DejaVu Sans, WenQuanYi Micro Hei
font.sans-serif: WenQuanYi Micro Hei, DejaVu Sans
savefig.bbox: tight
savefig.dpi: 150
`

// fontsConf adds the folder of fonts to those of the machine, for programs that ask fontconfig.
const fontsConf = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <cachedir>/tmp/fontconfig</cachedir>
  <dir prefix="relative">../fonts</dir>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
</fontconfig>
`

// arrange puts the font where programs look for it, and writes the settings.
func arrange(dir string) error {
	err := errors.Join(
		writePublic(filepath.Join(dir, settings, "matplotlibrc"), []byte(matplotlibrc)),
		writePublic(filepath.Join(dir, settings, "fonts.conf"), []byte(fontsConf)))
	font := filepath.Join(dir, modules, filepath.FromSlash(fontIn))
	if _, errFont := os.Stat(font); isMissing(errFont) { // a lock without the font
		return err
	}
	err = errors.Join(err, copyFile(font, filepath.Join(dir, fonts, Font)))
	// which matplotlib searches without fontconfig
	own := filepath.Join(dir, modules, "matplotlib", "mpl-data", "fonts", "ttf")
	if _, errOwn := os.Stat(own); errOwn == nil {
		err = errors.Join(err, copyFile(font, filepath.Join(own, Font)))
	}
	return err
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // there is no secret in it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Chmod(0o644)
}
