package config

import (
	"strings"
	"testing"
)

func TestShownURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://h:1/v1": "http://h:1/v1",
		"https://user:hunter2@h/v1?key=hunter2#hunter2":   "https://h/v1",
		"https://hunter2@h":                               "https://h",
		"https://h/v1?":                                   "https://h/v1",
		"https://h/@cf/v1":                                "https://h/@cf/v1",
		"user:hunter2@h/v1":                               "h/v1",
		"https:/user:hunter2@h/v1":                        "h/v1",
		"https://user:hun?ter2@h/v1":                      "h/v1",
		"https://user:hun/ter2@h/v1":                      "h/v1",
		"localhost:8000/v1?key=hunter2":                   "localhost:8000/v1",
		"https://h/v1?key=hunter2&api-version=2024-10-21": "https://h/v1",
		"": "",
	} {
		if got := ShownURL(in); got != want || strings.Contains(got, "hunter") {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
