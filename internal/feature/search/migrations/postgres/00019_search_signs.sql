-- PostgreSQL finds the pairs that begin with a sign by its index of terms as it is. This step only keeps the count of those of SQLite.

-- +goose Up
SELECT 1;
