-- Frees what others than $1 hold: the process that has the file is the only one there is, whatever the length $2 of a lease.
UPDATE jobs SET owner = '' WHERE owner <> '' AND owner <> $1 AND $2 > 0
