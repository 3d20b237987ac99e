package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChooseServer(t *testing.T) {
	for _, c := range []struct {
		name, addr string
		env        map[string]string
		want       string
		local      bool
	}{
		{"nothing", "", nil, "127.0.0.1:2026", true},
		{"flag", "0.0.0.0:1", map[string]string{"PUDU_ADDR": "127.0.0.1:2"}, "0.0.0.0:1", false},
		{"variable", "", map[string]string{"PUDU_ADDR": "localhost:2"}, "localhost:2", true},
		{"alias", "", map[string]string{"GATEWAY_HOST": "0.0.0.0", "GATEWAY_PORT": "8001"}, "0.0.0.0:8001", false},
		{"alias in part", "", map[string]string{"GATEWAY_PORT": "8001"}, "127.0.0.1:8001", true},
		{"every address", ":80", nil, "0.0.0.0:80", false},
		{"IPv6", "[::1]:0", nil, "[::1]:0", true},
		{"every address of IPv6", "[::]:80", nil, "[::]:80", false},
		{"another address", "192.168.1.5:80", nil, "192.168.1.5:80", false},
		{"a name", "pudu.example:80", nil, "pudu.example:80", false},
		{"a name that begins like this machine's", "localhost.example:80", nil, "localhost.example:80", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := (&Config{Env: EnvFrom(vars(c.env))}).ChooseServer(c.addr, "")
			if err != nil || s.Addr != c.want || s.Local() != c.local {
				t.Errorf("%q, local %v, %v", s.Addr, s.Local(), err)
			}
		})
	}
}

func TestChooseServerReadsTheRest(t *testing.T) {
	s, err := (&Config{Env: EnvFrom(vars(map[string]string{
		"PUDU_TOKEN": " secret ", "GATEWAY_CORS_ORIGINS": "http://a:1/, https://b", "PUDU_NATS": "nats://n",
		"PUDU_WEBHOOK_NETWORKS": "10.0.0.0/8", "PUDU_LOG_FORMAT": "json", "PUDU_TRUSTED_PROXIES": "192.0.2.0/24",
		"PUDU_RATE_LIMITS": "work=60, cheap=0",
	}))}).ChooseServer("", "")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"http://a:1", "https://b"}, s.Origins); d != "" || s.Token.Reveal() != "secret" ||
		s.NATS.Reveal() != "nats://n" || len(s.Webhooks) != 1 || fmt.Sprint(s.Proxies) != "[192.0.2.0/24]" ||
		!s.JSONLog || fmt.Sprint(s.Rates) != "map[cheap:0 work:60]" {
		t.Errorf("%+v", s)
	}
}

func TestChooseServerRefuses(t *testing.T) {
	for want, env := range map[string]map[string]string{
		`PUDU_ADDR: "nowhere" is no address`:       {"PUDU_ADDR": "nowhere"},
		`"127.0.0.1:99999" is no address`:          {"GATEWAY_PORT": "99999"},
		`PUDU_WEBHOOK_NETWORKS: "x" is no network`: {"PUDU_WEBHOOK_NETWORKS": "x"},
		`PUDU_TRUSTED_PROXIES: "x" is no network`:  {"PUDU_TRUSTED_PROXIES": "x"},
		`PUDU_LOG_FORMAT: "xml" is neither`:        {"PUDU_LOG_FORMAT": "xml"},
		`PUDU_RATE_LIMITS: "free=1" is no rate`:    {"PUDU_RATE_LIMITS": "work=1,free=1"},
		`PUDU_RATE_LIMITS: "work" is no rate`:      {"PUDU_RATE_LIMITS": "work"},
		`PUDU_RATE_LIMITS: "work=-1" is no rate`:   {"PUDU_RATE_LIMITS": "work=-1"},
	} {
		if _, err := (&Config{Env: EnvFrom(vars(env))}).ChooseServer("", ""); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", env, err, want)
		}
	}
}
