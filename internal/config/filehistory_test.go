package config

import (
	"strings"
	"testing"
)

func TestFileHistory(t *testing.T) {
	cfg, warnings := mustParse(t, "file_history: {bytes: 2G, file_bytes: 1M, files: 7}\nsandbox: {limits: {disk: 4G}}",
		nil)
	if h := cfg.FileHistory; h.Bytes != 2<<30 || h.FileBytes != 1<<20 || h.Files != 7 || len(warnings) > 0 {
		t.Errorf("%+v, warnings %v", h, warnings)
	}
	for text, want := range map[string]string{
		"file_history: {bytes: 4G}\nsandbox: {limits: {disk: 4G}}": "file_history.bytes",
		"file_history: {bytes: 1M, file_bytes: 2M}":                "file_history.file_bytes",
	} {
		if _, warnings := mustParse(t, text, nil); len(warnings) != 1 || !strings.Contains(warnings[0].String(), want) {
			t.Errorf("%s: %v", text, warnings)
		}
	}
	for text, want := range map[string]string{
		"bytes: much": "file_history.bytes", "bytes: 0": "file_history.bytes", "files: 0": "file_history.files",
		"file_bytes: -1": "file_history.file_bytes", "byte: 1": "bytes",
	} {
		if _, _, err := parsed(t, "file_history:\n  "+text, nil); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "config.yaml:2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
