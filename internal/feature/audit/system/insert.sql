INSERT INTO audit (id, at, who, role, via, verb, what, object, refused, times, request)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
