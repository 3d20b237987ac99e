package gateway_test

import (
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestADatabaseThatIsAway: whichever call the store refuses, nobody is told that all went well. Threads and runs have a
// test of their own.
func TestADatabaseThatIsAway(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	k.Vars["run"] = k.Run("t", "count").ID
	k.Put("t", "uploads/a.txt", "x")
	k.Put("t", "outputs/a.txt", "hello")
	const own = "00000000-0000-4000-8000-000000000903"
	k.Play([]gateways.Scenario{
		{
			Name: "an assistant", Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"` + own + `","graph_id":"lead_agent"}`, Status: 200,
		},
		{
			Name: "its second version", Method: "PATCH", Path: "/assistants/" + own, Body: `{"name":"second"}`,
			Status: 200,
		},
		{
			Name: "an item", Method: "PUT", Path: "/store/items", Body: `{"namespace":["a"],"key":"k","value":{}}`,
			Status: 204,
		},
	})
	k.Vars["own"] = own
	k.Away([]gateways.Errand{
		{Method: "POST", Path: "/assistants", Body: `{"graph_id":"lead_agent"}`},
		{Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"{own}","graph_id":"lead_agent","if_exists":"do_nothing"}`},
		{Method: "POST", Path: "/assistants/search"},
		{Method: "POST", Path: "/assistants/count"},
		{Method: "GET", Path: "/assistants/{own}"},
		{Method: "PATCH", Path: "/assistants/{own}", Body: `{"name":"x"}`},
		{Method: "POST", Path: "/assistants/{own}/versions"},
		{Method: "POST", Path: "/assistants/{own}/latest", Body: `{"version":1}`},
		{Method: "GET", Path: "/assistants/{own}/graph"},
		{Method: "GET", Path: "/assistants/{own}/schemas"},
		{Method: "GET", Path: "/assistants/{own}/subgraphs"},
		{Method: "DELETE", Path: "/assistants/{own}"},
		{Method: "PUT", Path: "/store/items", Body: `{"namespace":["a"],"key":"k","value":{}}`},
		{Method: "GET", Path: "/store/items?namespace=a&key=k"},
		{Method: "POST", Path: "/store/items/search"},
		{Method: "POST", Path: "/store/namespaces"},
		{Method: "DELETE", Path: "/store/items", Body: `{"namespace":["a"],"key":"k"}`},
		{Method: "GET", Path: "/threads/t/uploads/list"},
		{Method: "DELETE", Path: "/threads/t/uploads/a.txt"},
		{Method: "GET", Path: "/threads/t/artifacts/mnt/user-data/outputs/a.txt"},
		{
			Method: "PUT", Path: "/threads/t/artifacts/mnt/user-data/outputs/a.txt",
			Body: `{"content":"hello","expected_sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}`,
		},
		{Method: "GET", Path: "/threads/t/runs/{run}"},
	})
}
