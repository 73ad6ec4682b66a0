#include "runnel/store/postgres_schema.h"

// The ledger of model calls (USE-8) and the budgets (USE-9): the same table and rules as in sqlite_schema.cc.
// RN005: over budget. How much is spent is counted over the calls here; postgres_bounds.cc replaces that by
// the kept sums, and the lock by user by the one on the user's sum.
namespace runnel::store::postgres {

char const* const kLedger = R"sql(
CREATE TABLE model_calls(
  row_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL CONSTRAINT uq_calls_id UNIQUE,
  owner_id text NOT NULL,
  thread_ref text NOT NULL,
  run_ref text NOT NULL,
  run_id bigint REFERENCES runs(id) ON DELETE SET NULL,
  epoch bigint NOT NULL,
  stage text NOT NULL,
  attempt bigint NOT NULL CONSTRAINT chk_call_attempt CHECK (attempt >= 1),
  provider text NOT NULL,
  model text NOT NULL,
  started_at bigint NOT NULL,
  input_estimate bigint NOT NULL CONSTRAINT chk_call_input_estimate CHECK (input_estimate >= 0),
  cost_estimate numeric(24,12) NOT NULL CONSTRAINT chk_call_cost_estimate CHECK (cost_estimate >= 0),
  reserve numeric(24,12) NOT NULL CONSTRAINT chk_call_reserve CHECK (reserve >= 0),
  currency varchar(3) NOT NULL,

  status text NOT NULL DEFAULT 'open' CONSTRAINT chk_call_status CHECK (status IN
    ('open','completed','failed','canceled','interrupted')),
  ended_at bigint,
  error_code text,
  latency_ms bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_latency CHECK (latency_ms >= 0),
  first_token_ms bigint CONSTRAINT chk_call_first_token CHECK (first_token_ms >= 0),
  input_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_input_tokens CHECK (input_tokens >= 0),
  output_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_output_tokens CHECK (output_tokens >= 0),
  total_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_total_tokens CHECK (total_tokens >= 0),
  cached_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_cached_tokens CHECK (cached_tokens >= 0),
  cache_hit_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_hit CHECK (cache_hit_tokens >= 0),
  cache_miss_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_miss CHECK (cache_miss_tokens >= 0),
  cache_write_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_write CHECK (cache_write_tokens >= 0),
  reasoning_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT chk_call_reasoning CHECK (reasoning_tokens >= 0),
  usage_complete boolean NOT NULL DEFAULT false,
  direct_cost numeric(24,12) CONSTRAINT chk_call_direct_cost CHECK (direct_cost >= 0),
  direct_observed boolean NOT NULL DEFAULT false,
  catalog_cost numeric(24,12) NOT NULL DEFAULT 0 CONSTRAINT chk_call_catalog_cost CHECK (catalog_cost >= 0),
  price_list text NOT NULL DEFAULT 'none' CONSTRAINT chk_call_price_list CHECK (price_list IN
    ('none','custom_pricing','litellm_catalog')),
  price json NOT NULL DEFAULT '{}',

  cost numeric(24,12) NOT NULL CONSTRAINT chk_call_cost CHECK (cost >= 0),
  cost_source text CONSTRAINT chk_call_cost_source CHECK (cost_source IN
    ('provider','catalog_fallback','catalog_fallback_incomplete_provider_cost','incomplete_usage_fallback')),
  message_id text,

  CONSTRAINT chk_call_ended_at CHECK ((status = 'open') = (ended_at IS NULL)),
  CONSTRAINT chk_call_held CHECK (status <> 'open' OR cost = reserve),
  CONSTRAINT chk_call_booked CHECK ((message_id IS NULL) = (cost_source IS NULL)
    AND (message_id IS NULL OR status <> 'open'))
);
CREATE INDEX idx_calls_run ON model_calls(run_id);
CREATE INDEX idx_calls_thread ON model_calls(owner_id, thread_ref);
CREATE INDEX idx_calls_owner_started ON model_calls(owner_id, started_at) INCLUDE (cost);

CREATE FUNCTION runnel_match_call_currency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.currency IS DISTINCT FROM (SELECT s.billing_currency FROM runs r
      JOIN agent_chat_sessions s ON s.id = r.thread_id WHERE r.id = NEW.run_id) THEN
    RAISE EXCEPTION 'a call must carry the currency of its thread' USING ERRCODE = 'RN002';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER trg_call_currency_match BEFORE INSERT ON model_calls
FOR EACH ROW EXECUTE FUNCTION runnel_match_call_currency();

CREATE FUNCTION runnel_refuse_call_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'RN002';
END $$;
CREATE TRIGGER trg_call_run_kept BEFORE UPDATE OF run_id ON model_calls FOR EACH ROW
WHEN (NEW.run_id IS NOT NULL)
EXECUTE FUNCTION runnel_refuse_call_change('a call stays with its run');
CREATE TRIGGER trg_call_opening_frozen
BEFORE UPDATE OF id, owner_id, thread_ref, run_ref, epoch, stage, attempt, provider, model, started_at,
  input_estimate, cost_estimate, reserve, currency ON model_calls FOR EACH ROW
EXECUTE FUNCTION runnel_refuse_call_change('what a call was opened with is frozen');
CREATE TRIGGER trg_call_ends_once
BEFORE UPDATE OF status, ended_at, error_code, latency_ms, first_token_ms, input_tokens, output_tokens,
  total_tokens, cached_tokens, cache_hit_tokens, cache_miss_tokens, cache_write_tokens, reasoning_tokens,
  usage_complete, direct_cost, direct_observed, catalog_cost, price_list, price ON model_calls FOR EACH ROW
WHEN (OLD.status <> 'open')
EXECUTE FUNCTION runnel_refuse_call_change('a call ends once');
CREATE TRIGGER trg_call_booked_once BEFORE UPDATE OF cost, cost_source, message_id ON model_calls FOR EACH ROW
WHEN (OLD.message_id IS NOT NULL)
EXECUTE FUNCTION runnel_refuse_call_change('a call is booked once');

CREATE FUNCTION runnel_money(p_pico bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$ SELECT p_pico * 0.000000000001 $$;

CREATE FUNCTION runnel_spent_since(p_owner text, p_began bigint) RETURNS numeric
LANGUAGE sql AS $$
  SELECT coalesce(sum(cost), 0) FROM model_calls WHERE owner_id = p_owner AND started_at >= p_began
$$;

-- The first budget, by its scope's name, that would be exceeded if p_more were spent; null: there is room.
-- p_budgets: {run, thread, user, day, day_began}, in pico; null: no limit.
CREATE FUNCTION runnel_full_budget(p_budgets json, p_owner text, p_thread_ref text, p_run bigint, p_more numeric)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_run numeric := runnel_money((p_budgets->>'run')::bigint) - p_more;
  v_thread numeric := runnel_money((p_budgets->>'thread')::bigint) - p_more;
  v_user numeric := runnel_money((p_budgets->>'user')::bigint) - p_more;
  v_day numeric := runnel_money((p_budgets->>'day')::bigint) - p_more;
BEGIN
  IF v_run IS NOT NULL AND p_run IS NOT NULL THEN
    IF (SELECT coalesce(sum(cost), 0) FROM model_calls WHERE run_id = p_run) > v_run THEN RETURN 'run'; END IF;
  END IF;
  IF v_thread IS NOT NULL THEN
    IF (SELECT coalesce(sum(cost), 0) FROM model_calls WHERE owner_id = p_owner AND thread_ref = p_thread_ref)
        > v_thread THEN
      RETURN 'thread';
    END IF;
  END IF;
  IF v_user IS NOT NULL THEN
    IF runnel_spent_since(p_owner, -9223372036854775808) > v_user THEN RETURN 'user'; END IF;
  END IF;
  IF v_day IS NOT NULL THEN
    IF runnel_spent_since(p_owner, (p_budgets->>'day_began')::bigint) > v_day THEN RETURN 'day'; END IF;
  END IF;
  RETURN NULL;
END $$;

-- p_budgets is null where nothing is limited.
CREATE FUNCTION runnel_open_call(p_id text, p_run bigint, p_epoch bigint, p_stage text, p_attempt bigint,
                                 p_provider text, p_model text, p_started_at bigint, p_input_estimate bigint,
                                 p_cost_estimate bigint, p_reserve bigint, p_budgets json) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_run runs;
  v_thread agent_chat_sessions;
  v_full text;
BEGIN
  IF p_budgets IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(72466, hashtext((SELECT owner_id FROM runs WHERE id = p_run)));
  END IF;
  SELECT * INTO v_run FROM runs WHERE id = p_run AND epoch = p_epoch AND status = 'running' FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'call % of run key % at epoch %', p_id, p_run, p_epoch USING ERRCODE = 'RN001';
  END IF;
  SELECT * INTO v_thread FROM agent_chat_sessions WHERE id = v_run.thread_id;

  INSERT INTO model_calls(id, owner_id, thread_ref, run_ref, run_id, epoch, stage, attempt, provider, model,
                          started_at, input_estimate, cost_estimate, reserve, cost, currency)
  VALUES (p_id, v_run.owner_id, v_thread.thread_ref, v_run.run_ref, p_run, p_epoch, p_stage, p_attempt, p_provider,
          p_model, p_started_at, p_input_estimate, runnel_money(p_cost_estimate), runnel_money(p_reserve),
          runnel_money(p_reserve), v_thread.billing_currency)
  ON CONFLICT (id) DO NOTHING;
  IF NOT FOUND THEN
    IF EXISTS (SELECT 1 FROM model_calls WHERE id = p_id AND run_id = p_run) THEN RETURN; END IF;
    RAISE EXCEPTION 'call % is another run''s', p_id USING ERRCODE = '23505';
  END IF;

  IF p_budgets IS NOT NULL THEN
    v_full := runnel_full_budget(p_budgets, v_run.owner_id, v_thread.thread_ref, p_run, 0);
    IF v_full IS NOT NULL THEN
      RAISE EXCEPTION 'call %: the budget of the %', p_id, v_full USING ERRCODE = 'RN005';
    END IF;
  END IF;
END $$;

-- p_ends and p_bookings: JSON arrays, postgres_calls.cc's; null where there is none.
CREATE FUNCTION runnel_settle_calls(p_run bigint, p_ends json, p_bookings json) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_changed bigint;
BEGIN
  UPDATE model_calls c
  SET status = e.status, error_code = e.error_code, ended_at = e.ended_at, latency_ms = e.latency_ms,
      first_token_ms = e.first_token_ms, input_tokens = e.input, output_tokens = e.output, total_tokens = e.total,
      cached_tokens = e.cached, cache_hit_tokens = e.cache_hit, cache_miss_tokens = e.cache_miss,
      cache_write_tokens = e.cache_write, reasoning_tokens = e.reasoning, usage_complete = e.complete,
      direct_cost = runnel_money(e.direct), direct_observed = e.direct_observed,
      catalog_cost = runnel_money(e.catalog), price_list = e.price_list, price = e.price::json,
      cost = runnel_money(e.provisional)
  FROM json_to_recordset(p_ends) AS e(
    id text, status text, error_code text, ended_at bigint, latency_ms bigint, first_token_ms bigint, input bigint,
    output bigint, total bigint, cached bigint, cache_hit bigint, cache_miss bigint, cache_write bigint,
    reasoning bigint, complete boolean, direct bigint, direct_observed boolean, catalog bigint, price_list text,
    price text, provisional bigint)
  WHERE c.id = e.id AND c.run_id = p_run AND c.status = 'open';
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed <> coalesce(json_array_length(p_ends), 0) THEN
    RAISE EXCEPTION 'the end of a call that is not open or not this run''s' USING ERRCODE = 'RN004';
  END IF;

  UPDATE model_calls c SET message_id = b.message, cost = runnel_money(b.cost), cost_source = b.source
  FROM json_to_recordset(p_bookings) AS b(id text, message text, cost bigint, source text)
  WHERE c.id = b.id AND c.run_id = p_run AND c.status <> 'open' AND c.message_id IS NULL
    AND EXISTS (SELECT 1 FROM agent_chat_messages m WHERE m.run_id = p_run AND m.message_id = b.message);
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed <> coalesce(json_array_length(p_bookings), 0) THEN
    RAISE EXCEPTION 'a booking of a call that has not ended, is booked, or is not this run''s, or on such a message'
    USING ERRCODE = 'RN004';
  END IF;
END $$;

CREATE FUNCTION runnel_append_settling(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint,
                                       p_next_idx bigint, p_body text, p_messages json, p_now bigint, p_ends json,
                                       p_bookings json) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF runnel_append(p_run, p_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now) THEN
    PERFORM runnel_settle_calls(p_run, p_ends, p_bookings);
  END IF;
END $$;

-- The promoted run, or null. A run that has ended already is left as it is.
CREATE FUNCTION runnel_end_settling(p_run bigint, p_epoch bigint, p_first_n bigint, p_last_n bigint,
                                    p_next_idx bigint, p_body text, p_messages json, p_now bigint, p_status text,
                                    p_error_code text, p_error_id text, p_ends json, p_bookings json) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_before runs := runnel_lock_run(p_run);
  v_next bigint := runnel_end(p_run, p_epoch, p_first_n, p_last_n, p_next_idx, p_body, p_messages, p_now, p_status,
                              p_error_code, p_error_id);
BEGIN
  IF v_before.ended_at IS NULL THEN
    IF p_ends IS NOT NULL OR p_bookings IS NOT NULL THEN
      PERFORM runnel_settle_calls(p_run, p_ends, p_bookings);
    END IF;
    UPDATE model_calls
    SET status = 'interrupted', ended_at = p_now, input_tokens = input_estimate, total_tokens = input_estimate,
        catalog_cost = cost_estimate, cost = cost_estimate
    WHERE run_id = p_run AND status = 'open';
  END IF;
  RETURN v_next;
END $$;

-- There must be room for the least that a call can cost.
CREATE FUNCTION runnel_admit_funded(p_budgets json, p_max bigint, p_owner text, p_thread_ref text, p_ref text,
                                    p_policy text, p_mode text, p_hash text, p_input text, p_agui text,
                                    p_country text, p_node text, p_now bigint, p_begin json)
RETURNS TABLE (outcome text, run bigint, thread bigint, thread_ref text, epoch bigint, status text,
               cancel_first bigint)
LANGUAGE plpgsql AS $$
BEGIN
  IF p_budgets IS NOT NULL THEN
    RETURN QUERY SELECT * FROM runnel_admitted_before(p_owner, p_ref, p_hash);
    IF FOUND THEN RETURN; END IF;
    IF runnel_full_budget(p_budgets, p_owner, p_thread_ref, NULL, runnel_money(1)) IS NOT NULL THEN
      RETURN QUERY SELECT 'over_budget', 0::bigint, 0::bigint, p_thread_ref, 0::bigint, 'queued', NULL::bigint;
      RETURN;
    END IF;
  END IF;
  RETURN QUERY SELECT * FROM runnel_admit_within(p_max, p_owner, p_thread_ref, p_ref, p_policy, p_mode, p_hash,
                                                 p_input, p_agui, p_country, p_node, p_now, p_begin);
END $$;
)sql";

}  // namespace runnel::store::postgres
