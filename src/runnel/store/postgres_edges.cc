#include "runnel/store/postgres_schema.h"

// Tickets (HTTP-4), and admission that keeps to a number of runs per user (HTTP-6).
namespace runnel::store::postgres {

char const* const kEdges = R"sql(
CREATE TABLE tickets(
  hash text PRIMARY KEY,
  owner_id text NOT NULL,
  kind text NOT NULL CONSTRAINT chk_ticket_kind CHECK (kind IN ('sse','websocket')),
  run_id bigint REFERENCES runs(id) ON DELETE CASCADE,
  created_at bigint NOT NULL,
  good_until bigint NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT chk_ticket_run CHECK ((kind = 'sse') = (run_id IS NOT NULL))
);
CREATE INDEX idx_tickets_good_until ON tickets(good_until);
CREATE INDEX idx_tickets_run ON tickets(run_id);

CREATE INDEX idx_runs_owner_active ON runs(owner_id) WHERE ended_at IS NULL;

CREATE FUNCTION runnel_put_ticket(p_hash text, p_owner text, p_kind text, p_thread_ref text, p_ref text, p_now bigint,
                                  p_good_until bigint, p_expires_at bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_run bigint;
BEGIN
  IF p_kind = 'sse' THEN
    SELECT r.id INTO v_run FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
    WHERE r.owner_id = p_owner AND r.run_ref = p_ref AND s.thread_ref = p_thread_ref FOR KEY SHARE OF r;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'a ticket for a run that does not exist' USING ERRCODE = 'RN003';
    END IF;
  END IF;
  INSERT INTO tickets(hash, owner_id, kind, run_id, created_at, good_until, expires_at)
  VALUES (p_hash, p_owner, p_kind, v_run, p_now, p_good_until, p_expires_at) ON CONFLICT (hash) DO NOTHING;
END $$;

-- Admits of one owner come one after the other, so that each counts those before it. The lock is taken before any
-- thread's row; the first number sets it apart from other advisory locks.
CREATE FUNCTION runnel_admit_within(p_max bigint, p_owner text, p_thread_ref text, p_ref text, p_policy text,
                                    p_mode text, p_hash text, p_input text, p_agui text, p_country text, p_node text,
                                    p_now bigint, p_begin json)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint)
LANGUAGE plpgsql AS $$
BEGIN
  IF p_max > 0 THEN
    PERFORM pg_advisory_xact_lock(72465, hashtext(p_owner));
    RETURN QUERY SELECT * FROM runnel_admitted_before(p_owner, p_ref, p_hash);
    IF FOUND THEN RETURN; END IF;
    IF (SELECT count(*) FROM (SELECT 1 FROM runs r WHERE r.owner_id = p_owner AND r.ended_at IS NULL LIMIT p_max) c)
        >= p_max THEN
      RETURN QUERY SELECT 'too_many_runs', 0::bigint, 0::bigint, p_thread_ref, 0::bigint, 'queued', NULL::bigint;
      RETURN;
    END IF;
  END IF;
  RETURN QUERY SELECT * FROM runnel_admit(p_owner, p_thread_ref, p_ref, p_policy, p_mode, p_hash, p_input, p_agui,
                                          p_country, p_node, p_now, p_begin);
END $$;
)sql";

}  // namespace runnel::store::postgres
