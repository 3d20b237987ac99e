-- How many threads there are in each state that asks for a look. What is in the bin (a mark from 4 on) asks for none.
SELECT n.state, count(*) FROM news n JOIN threads t ON t.id = n.thread_id AND t.user_id = n.user_id AND t.marks < 4
WHERE n.user_id = $1 AND n.state <> '' GROUP BY n.state
