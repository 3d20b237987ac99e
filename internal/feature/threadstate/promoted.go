package threadstate

import "github.com/pudu-ai/pudu/state"

// Promoted are the deferred tools whose schemas the model asked for. An update that is nil or empty keeps them. Names
// of the same catalog are added in order; those of another catalog replace what is there, because a name may mean
// another tool in it.
var Promoted = state.Reduced("promoted", mergePromoted)

// PromotedTools are names of tools in the catalog with the hash.
type PromotedTools struct {
	CatalogHash string   `json:"catalog_hash"`
	Names       []string `json:"names"`
}

func (p *PromotedTools) empty() bool { return p == nil || p.CatalogHash == "" && len(p.Names) == 0 }

func mergePromoted(old, upd *PromotedTools) (*PromotedTools, error) {
	switch {
	case upd.empty():
		return old, nil
	case old.empty() || old.CatalogHash != upd.CatalogHash:
		return &PromotedTools{upd.CatalogHash, append([]string{}, upd.Names...)}, nil
	}
	return &PromotedTools{upd.CatalogHash, union(old.Names, upd.Names)}, nil
}
