package store_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/feature/items"

	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestItemsThatAreTooLargeTogether: the client is told to ask for fewer.
func TestItemsThatAreTooLargeTogether(t *testing.T) {
	k := gateways.New(t, nil)
	value := []byte(`{"v":"` + strings.Repeat("v", 1<<20-8) + `"}`)
	for i := range 17 {
		err := k.Items.For(k.User).
			Put(t.Context(), items.Item{Namespace: []string{"a"}, Key: fmt.Sprint(i), Value: value})
		if err != nil {
			t.Fatal(err)
		}
	}
	k.Play([]gateways.Scenario{{
		Name: "search", Method: "POST", Path: "/store/items/search", Body: `{"limit":17}`,
		Status: http.StatusUnprocessableEntity,
		Want:   `{"detail":"The items of the page are too large together; ask for fewer"}`,
	}})
}
