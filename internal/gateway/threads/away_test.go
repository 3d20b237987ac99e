package threads_test

import (
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestADatabaseThatIsAway: whichever call the store refuses, nobody is told that all went well.
func TestADatabaseThatIsAway(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "count")
	k.Run("asks", "ask")
	k.Play([]gateways.Scenario{{
		Name: "a state", Method: "GET", Path: "/threads/t/state", Status: 200,
		Keep: map[string]string{"checkpoint_id": "at"},
	}})
	ended := func() { k.Run("gone", "hello") }
	k.Away([]gateways.Errand{
		{Method: "POST", Path: "/threads"},
		{Method: "POST", Path: "/threads", Body: `{"thread_id":"t"}`},
		{Method: "POST", Path: "/threads", Body: `{"supersteps":[{"updates":[{"values":{"title":"x"}}]}]}`},
		{Method: "POST", Path: "/threads/search", Body: `{"ids":["asks"]}`},
		{Method: "POST", Path: "/threads/count"},
		{Method: "GET", Path: "/threads/t"},
		{Method: "PATCH", Path: "/threads/t", Body: `{"metadata":{"a":1}}`},
		{Method: "DELETE", Path: "/threads/gone", Before: ended},
		{Method: "POST", Path: "/threads/t/copy"},
		{Method: "GET", Path: "/threads/asks/state"},
		{Method: "POST", Path: "/threads/t/state", Body: `{"values":{"title":"x"}}`},
		{Method: "GET", Path: "/threads/t/state/{at}"},
		{Method: "POST", Path: "/threads/t/state/checkpoint"},
		{Method: "GET", Path: "/threads/t/history"},
		{Method: "POST", Path: "/threads/asks/history"},
		{Method: "POST", Path: "/threads/t/history", Body: `{"before":"{at}","metadata":{"source":"loop"}}`},
	})
}
