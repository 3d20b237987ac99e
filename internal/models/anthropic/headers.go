package anthropic

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	apiVersion = "2023-06-01"
	// oauthPrefix begins the OAuth tokens that `claude setup-token` makes; the API takes them as bearer tokens only.
	oauthPrefix = "sk-ant-oat"
	betaHeader  = "Anthropic-Beta"
	betaOAuth   = "oauth-2025-04-20"
	// betaInterleaved lets a model with a thinking budget think between its tool calls too. Adaptive ones always do.
	betaInterleaved = "interleaved-thinking-2025-05-14"
)

// endpoint adds the path to the base address. A base that is no address is returned as it is: the call reports it.
func endpoint(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	path := strings.TrimRight(u.Path, "/")
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/messages"), "/v1")
	u.Path, u.RawPath = path, ""
	return u.JoinPath("v1/messages").String()
}

// headers are those of a request, and those of one that thinks between tool calls.
func headers(cfg Config) (plain, interleaved http.Header) {
	plain = http.Header{"Anthropic-Version": {apiVersion}}
	var betas []string
	switch {
	case cfg.AuthToken != "":
		plain.Set("Authorization", "Bearer "+cfg.AuthToken)
	case strings.HasPrefix(cfg.APIKey, oauthPrefix):
		plain.Set("Authorization", "Bearer "+cfg.APIKey)
		betas = append(betas, betaOAuth)
	case cfg.APIKey != "":
		plain.Set("X-Api-Key", cfg.APIKey)
	}
	for k, v := range cfg.Headers {
		if http.CanonicalHeaderKey(k) == betaHeader {
			betas = append(betas, splitList(v)...)
			continue
		}
		plain.Set(k, v)
	}
	interleaved = plain.Clone()
	setBetas(plain, betas)
	setBetas(interleaved, append(betas, betaInterleaved))
	return plain, interleaved
}

func splitList(s string) (out []string) {
	for v := range strings.SplitSeq(s, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// setBetas names each beta once, in an order that does not change from one process to the next.
func setBetas(h http.Header, betas []string) {
	if len(betas) == 0 {
		return
	}
	betas = slices.Clone(betas)
	slices.Sort(betas)
	h.Set(betaHeader, strings.Join(slices.Compact(betas), ","))
}
