package models_test

import (
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestModels: what a client is to choose from is what may be shown, by the names for people where there are any.
func TestModels(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) {
		c.Models = []gateway.Model{
			{Name: "a", DisplayName: "A", Model: "v/a", Description: "one", Thinking: true, ReasoningEffort: true,
				Vision: true}, {Name: "hid", Hidden: true}, {Name: "b"},
		}
	})
	const a = `{"name":"a","model":"v/a","display_name":"A","description":"one","supports_thinking":true,
		"supports_reasoning_effort":true,"supports_vision":true}`
	const b = `{"name":"b","model":"","display_name":"b","description":null,"supports_thinking":false,
		"supports_reasoning_effort":false,"supports_vision":false}`
	k.Play([]gateways.Scenario{
		{
			Name: "list", Method: "GET", Path: "/models", Status: 200,
			Want: `{"models":[` + a + `,` + b + `],"token_usage":{"enabled":true}}`,
		},
		{
			Name: "a hidden one can be looked at", Method: "GET", Path: "/models/hid", Status: 200,
			Want: `{"name":"hid"}`,
		},
		{Name: "one", Method: "GET", Path: "/models/a", Status: 200, Want: a},
	})
}
