-- How many threads there are in each state that asks for a look.
SELECT state, count(*) FROM news WHERE user_id = $1 AND state <> '' GROUP BY state
