-- Whether others than $1 hold jobs.
SELECT owner FROM jobs WHERE owner <> '' AND owner <> $1 LIMIT 1
