-- For each row of the log, the idx of the first polled event behind it (TASK-3), so that a poll finds where to read
-- without a look at the facts before. It is null in rows that were written before this step; a poll of such a run reads
-- its log from the beginning.
--
-- No index: a poll asks for the end of a log, and finds its place after a few rows from there.
ALTER TABLE log ADD COLUMN next_idx INTEGER;
