-- The runs of a thread in the order in which they began: epochs increase within a thread, and a run that has not begun
-- has the epoch 0. A reader of the whole thread asks for the next one each time a run ends (RUN-15).
CREATE INDEX idx_runs_thread_epoch ON runs(thread_id, epoch);
DROP INDEX idx_runs_thread;
