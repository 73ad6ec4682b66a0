-- The ids under which runs go on after a pause (AGUI-4). AG-UI ends a run at an interrupt, so its client continues under
-- another run id, which is an alias of the same run and log. A row is written in the transaction that lets the run go on:
-- with the id that the client has chosen, or with `<run id>~2` and so on.
--
-- `after_epoch` and `after_n` are the end of the log at that time, its RunPaused: a stream under the alias begins behind
-- it. Pauses from before this step have no row; their aliases are minted ones, and are found in the log.
--
-- An id is unique per owner: no alias is also a run's own id. An admission looks for aliases, and an alias for runs. As
-- with runs, the ids of a deleted thread are free at once, although its rows are deleted later.
CREATE TABLE run_aliases(
  owner_id TEXT NOT NULL,
  alias TEXT NOT NULL CONSTRAINT chk_run_alias CHECK (alias <> ''),
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  after_epoch INTEGER NOT NULL,
  after_n INTEGER NOT NULL,
  PRIMARY KEY (owner_id, alias)
) WITHOUT ROWID;
CREATE UNIQUE INDEX uq_run_aliases_call ON run_aliases(run_id, call_id);

CREATE TRIGGER trg_run_alias_is_free BEFORE INSERT ON run_aliases
BEGIN
  DELETE FROM run_aliases
  WHERE owner_id = NEW.owner_id AND alias = NEW.alias
    AND (SELECT s.owner_id = '' FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
         WHERE r.id = run_aliases.run_id);
  SELECT RAISE(ABORT, 'this id is a run''s own')
  WHERE EXISTS (SELECT 1 FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
                WHERE r.owner_id = NEW.owner_id AND r.run_ref = NEW.alias AND s.owner_id <> '');
END;

CREATE TRIGGER trg_run_alias_frozen BEFORE UPDATE ON run_aliases
BEGIN
  SELECT RAISE(ABORT, 'what an alias stands for is frozen');
END;
