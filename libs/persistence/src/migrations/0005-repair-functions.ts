/**
 * What repair may do outside its own schema (DATAFLOW, step 6; CONTRACTS 5): functions that run with their owner's rights and take the
 * episode and the token of its lease. Who holds no live lease reads and changes nothing. SQLSTATE `FM001`: the lease is over.
 *
 * Locks: the row of `repair.work` first, which nobody else locks; then session, incident, rule, episode, as everywhere.
 */
const fence = `
CREATE FUNCTION repair.fence(p_episode text, p_lease uuid) RETURNS repair.work LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE w repair.work;
BEGIN
  SELECT * INTO w FROM repair.work WHERE episode = p_episode AND lease = p_lease AND state = 'running' AND leased_until > clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'the lease of episode % is over', p_episode USING ERRCODE = 'FM001'; END IF;
  RETURN w;
END $$;`;

/** Takes open episodes up; one that was settled or void and is open again waits anew. Gives how many wait by this call. */
const enqueue = `
CREATE FUNCTION repair.enqueue(p_episodes text[]) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH put AS (
    INSERT INTO repair.work AS w (episode, project, incident, s, session, t)
    SELECT id, project, incident_id, s, session, t FROM mailbox.episodes WHERE id = ANY(p_episodes) AND status = 'open' ORDER BY id
    ON CONFLICT (episode) DO UPDATE SET state = 'waiting', run_after = now(), waits_for = NULL, incident = excluded.incident WHERE w.state = 'done'
    RETURNING 1)
  SELECT count(*) FROM put;
$$;`;

/** An episode that has nothing left to repair. Where it spoke for its incident, the oldest live one speaks from now on. */
const release = `
CREATE FUNCTION repair.release(p_episode text, p_incident text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE v_next text;
BEGIN
  UPDATE mailbox.episodes SET status = 'void' WHERE id = p_episode AND status IN ('open', 'claimed');
  UPDATE repair.work SET state = 'done', lease = NULL, leased_until = NULL, waits_for = NULL WHERE episode = p_episode;
  SELECT id INTO v_next FROM mailbox.episodes WHERE incident_id = p_incident AND status IN ('open', 'claimed') ORDER BY opened_at, id LIMIT 1;
  UPDATE mailbox.incidents SET opened_by = coalesce(v_next, ''), status = CASE WHEN v_next IS NULL AND status = 'open' THEN 'closed' ELSE status END
    WHERE id = p_incident AND opened_by = p_episode;
  IF FOUND AND v_next IS NOT NULL THEN PERFORM repair.enqueue(ARRAY[v_next]); END IF;
END $$;`;

/**
 * Takes the next episode that may be repaired: due, of a project that is let (p_limits: project, model, per_hour, usd, run_usd, observe; 0
 * is no limit), of an incident in which no other run is in progress. Null when there is none. Claims are made one after the other, so that
 * limits hold exactly; run_usd is held back of the day's budget for every run in progress.
 */
const claim = `
CREATE FUNCTION repair.claim(p_lease uuid, p_lease_s float8, p_limits jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE w repair.work; e mailbox.episodes; i mailbox.incidents; v_notices text[]; v_crashed boolean; v_other repair.work;
BEGIN
  PERFORM pg_advisory_xact_lock(4320617003);
  WITH lim AS (SELECT * FROM jsonb_to_recordset(p_limits) AS l(project text, per_hour int, usd float8, run_usd float8, observe boolean)),
  why AS (
    SELECT p.project, CASE
      WHEN l.project IS NULL THEN 'model'
      WHEN l.observe THEN 'observe_only'
      WHEN l.per_hour > 0 AND (SELECT count(*) FROM repair.runs r WHERE r.project = p.project AND r.started_at > now() - interval '1 hour'
        AND (r.model IS NOT NULL OR r.ended_at IS NULL)) >= l.per_hour THEN 'hourly_limit'
      WHEN l.usd > 0 AND coalesce((SELECT d.cost_usd FROM scoring.spend d WHERE d.project = p.project AND d.day = (now() AT TIME ZONE 'utc')::date), 0)
        + l.run_usd * (1 + (SELECT count(*) FROM repair.work r WHERE r.project = p.project AND r.state = 'running')) > l.usd THEN 'cost_limit'
    END AS reason FROM (SELECT DISTINCT project FROM repair.work WHERE state = 'waiting') p LEFT JOIN lim l USING (project))
  UPDATE repair.work x SET waits_for = why.reason FROM why WHERE x.project = why.project AND x.state = 'waiting'
    AND (coalesce(x.waits_for, '') <> 'backoff' OR x.run_after <= clock_timestamp()) AND x.waits_for IS DISTINCT FROM why.reason;
  FOR w IN
    SELECT * FROM repair.work x WHERE x.run_after <= clock_timestamp()
      AND ((x.state = 'waiting' AND x.waits_for IS NULL) OR (x.state = 'running' AND x.leased_until < clock_timestamp()))
      AND x.project IN (SELECT l.project FROM jsonb_to_recordset(p_limits) AS l(project text, observe boolean) WHERE NOT l.observe)
    ORDER BY x.run_after, x.queued_at, x.episode LIMIT 16 FOR UPDATE SKIP LOCKED
  LOOP
    v_crashed := w.state = 'running';
    SELECT x.* INTO i FROM mailbox.incidents x WHERE x.id = (SELECT incident_id FROM mailbox.episodes WHERE id = w.episode) FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    SELECT * INTO e FROM mailbox.episodes WHERE id = w.episode FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND OR e.incident_id <> i.id;
    IF e.status NOT IN ('open', 'claimed') THEN
      UPDATE repair.work SET state = 'done', lease = NULL, leased_until = NULL, waits_for = NULL WHERE episode = w.episode;
      CONTINUE;
    END IF;
    SELECT array_agg(n.id ORDER BY n.id) INTO v_notices FROM mailbox.notices n WHERE n.id = ANY(e.notice_ids) AND n.status = 'pending';
    IF v_notices IS NULL THEN PERFORM repair.release(e.id, i.id); CONTINUE; END IF;
    SELECT * INTO v_other FROM repair.work x WHERE x.incident = i.id AND x.episode <> w.episode AND x.state = 'running' FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
      UPDATE repair.work SET run_after = greatest(v_other.leased_until, clock_timestamp() + interval '1 second') WHERE episode = w.episode;
      CONTINUE;
    END IF;
    UPDATE mailbox.episodes SET status = 'claimed' WHERE id = e.id;
    UPDATE repair.work SET state = 'running', waits_for = NULL, incident = i.id, lease = p_lease, runs = runs + 1,
      leased_until = clock_timestamp() + p_lease_s * interval '1 second' WHERE episode = w.episode;
    -- A run that died has asked its model, as far as anybody knows: it counts for the hour.
    UPDATE repair.runs r SET ended_at = clock_timestamp(), status = 'failed', model = coalesce(r.model, l.model, '')
      FROM jsonb_to_recordset(p_limits) AS l(project text, model text) WHERE v_crashed AND l.project = r.project AND r.episode = w.episode AND r.ended_at IS NULL;
    INSERT INTO repair.runs (episode, run, project) VALUES (w.episode, w.runs + 1, w.project);
    RETURN jsonb_build_object('episode', e.id, 'project', e.project, 's', e.s, 'session', e.session, 't', e.t, 'incident', i.id, 'notice_ids', to_jsonb(v_notices),
      'recommended_scope', e.recommended_scope, 'run', w.runs + 1, 'failures', w.failures, 'crashed', v_crashed,
      'candidate', (SELECT r.id FROM rules.rules r WHERE r.episode = e.id AND r.edited_from IS NULL),
      'cover', (SELECT jsonb_build_object('rule_id', r.id, 'status', r.status, 'withdrawn', r.withdrawn_at IS NOT NULL,
          'shown', EXISTS (SELECT 1 FROM validation.exposures x WHERE x.s = e.s AND r.id = ANY(x.rule_ids)))
        FROM rules.rules r WHERE r.id = i.rule_id));
  END LOOP;
  RETURN NULL;
END $$;`;

const renew = `
CREATE FUNCTION repair.renew(p_episode text, p_lease uuid, p_lease_s float8) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE repair.work SET leased_until = clock_timestamp() + p_lease_s * interval '1 second'
    WHERE episode = p_episode AND lease = p_lease AND state = 'running' AND leased_until > clock_timestamp();
  RETURN FOUND;
END $$;`;

/** The pending notices of the episode with their turn's report, and what its host said. Not its traces. */
const readEpisode = `
CREATE FUNCTION repair.read_episode(p_episode text, p_lease uuid) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE w repair.work;
BEGIN
  w := repair.fence(p_episode, p_lease);
  RETURN (SELECT jsonb_build_object(
    'notices', (SELECT jsonb_agg(jsonb_build_object('id', n.id, 'session_id', n.session, 'turn_index', n.t, 'severity', n.severity, 'signatures', n.signatures, 'summary', n.summary,
        'metrics', n.metrics, 'flagged_traces', n.flagged_traces, 'scope_hints', n.scope_hints, 'recommended_scope', n.recommended_scope) ORDER BY n.id)
      FROM mailbox.notices n WHERE n.id = ANY(e.notice_ids) AND n.status = 'pending'),
    'report', v.report, 'signals', v.signals, 'end_state', t.end_state, 'agent_version', t.agent_version, 'model', t.model,
    'task_summary', convert_from(b.body, 'UTF8')::jsonb -> 'task_summary')
    FROM mailbox.episodes e LEFT JOIN gating.turn_evals v ON v.s = e.s AND v.t = e.t LEFT JOIN scoring.turns t ON t.s = e.s AND t.t = e.t
    LEFT JOIN scoring.turn_bodies b ON b.s = e.s AND b.t = e.t WHERE e.id = p_episode);
END $$;`;

/** One trace of the episode's turn with its scores and the turn's tools; null for a trace that none of its pending notices flags. */
const readTrace = `
CREATE FUNCTION repair.read_trace(p_episode text, p_lease uuid, p_trace text) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE w repair.work; v_body jsonb; v_trace jsonb;
BEGIN
  w := repair.fence(p_episode, p_lease);
  IF NOT EXISTS (SELECT 1 FROM mailbox.episodes e JOIN mailbox.notices n ON n.id = ANY(e.notice_ids)
    WHERE e.id = p_episode AND n.status = 'pending' AND p_trace = ANY(n.flagged_traces)) THEN RETURN NULL; END IF;
  SELECT convert_from(b.body, 'UTF8')::jsonb INTO v_body FROM scoring.turn_bodies b WHERE b.s = w.s AND b.t = w.t;
  SELECT x INTO v_trace FROM jsonb_array_elements(CASE jsonb_typeof(v_body -> 'traces') WHEN 'array' THEN v_body -> 'traces' ELSE '[]' END) AS x WHERE x ->> 'trace_id' = p_trace LIMIT 1;
  RETURN jsonb_build_object('trace_id', p_trace, 'trace', v_trace, 'tools', v_body -> 'tools',
    'scores', (SELECT coalesce(jsonb_agg(jsonb_build_object('metric', c.metric, 'tier', c.tier, 'status', c.status, 'value', c.value, 'reason', c.reason, 'code', c.code, 'spans', c.spans) ORDER BY c.ordinal), '[]')
      FROM scoring.scores c WHERE c.s = w.s AND c.t = w.t AND c.trace = p_trace));
END $$;`;

/** Locks the project's rules and gives their version: what is inserted next was compared with all of them. */
const lockRules = `
CREATE FUNCTION repair.lock_rules(p_episode text, p_lease uuid) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE w repair.work; v_version bigint;
BEGIN
  w := repair.fence(p_episode, p_lease);
  INSERT INTO rules.versions (project) VALUES (w.project) ON CONFLICT DO NOTHING;
  SELECT version INTO v_version FROM rules.versions WHERE project = w.project FOR UPDATE;
  RETURN v_version;
END $$;`;

/**
 * Adds the one candidate of an episode, in the transaction that holds lock_rules. Everything that is repair's to say is in p_rule; status,
 * project, episode and notices are not. Gives the new version; null when the episode has its candidate already.
 */
const addCandidate = `
CREATE FUNCTION repair.add_candidate(p_episode text, p_lease uuid, p_rule jsonb) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE w repair.work; v_version bigint;
BEGIN
  w := repair.fence(p_episode, p_lease);
  IF EXISTS (SELECT 1 FROM rules.rules WHERE episode = p_episode AND edited_from IS NULL) THEN RETURN NULL; END IF;
  UPDATE rules.versions SET version = version + 1, at = now() WHERE project = w.project RETURNING version INTO v_version;
  INSERT INTO rules.rules (id, project, seq, rule, rationale, metric, tags, scope, scope_rationale, applicability, failure_signatures, source_notices, episode, author, model, normal_hash, allocation, hold, held_until)
  SELECT p_rule ->> 'id', w.project, v_version, p_rule ->> 'rule', p_rule ->> 'rationale', p_rule ->> 'metric', ARRAY(SELECT jsonb_array_elements_text(p_rule -> 'tags')),
    p_rule ->> 'scope', p_rule ->> 'scope_rationale', p_rule ->> 'applicability', ARRAY(SELECT jsonb_array_elements_text(p_rule -> 'failure_signatures')), e.notice_ids, e.id, 'repair',
    p_rule ->> 'model', p_rule ->> 'normal_hash', coalesce((p_rule ->> 'allocation')::float8, 0.5), p_rule ->> 'hold', now() + (p_rule ->> 'hold_s')::float8 * interval '1 second'
  FROM mailbox.episodes e WHERE e.id = p_episode;
  IF p_rule ->> 'scope_description' IS NOT NULL THEN
    INSERT INTO rules.scopes AS d (project, scope, description, seq) VALUES (w.project, p_rule ->> 'scope', p_rule ->> 'scope_description', v_version)
    ON CONFLICT (project, scope) DO UPDATE SET description = excluded.description, seq = excluded.seq WHERE d.description <> excluded.description;
  END IF;
  RETURN v_version;
END $$;`;

/** Books a run that has ended: its row, and what it cost. Gives the result with its times. */
const book = `
CREATE FUNCTION repair.book(w repair.work, p_result jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE v_result jsonb; v_cost float8 := coalesce((p_result #>> '{usage,cost_usd}')::float8, 0);
BEGIN
  UPDATE repair.runs SET ended_at = clock_timestamp(), status = p_result ->> 'status', model = p_result ->> 'model',
    result = p_result || jsonb_build_object('started_at', (extract(epoch FROM started_at) * 1000000)::bigint, 'ended_at', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
    WHERE episode = w.episode AND run = w.runs RETURNING result INTO v_result;
  IF v_cost > 0 THEN
    INSERT INTO scoring.spend AS d (project, day, cost_usd) VALUES (w.project, (now() AT TIME ZONE 'utc')::date, v_cost)
    ON CONFLICT (project, day) DO UPDATE SET cost_usd = d.cost_usd + excluded.cost_usd;
  END IF;
  RETURN v_result;
END $$;`;

/**
 * Ends an episode, and with it every live one of its incident: their notices are acknowledged, all of an episode or none. No row when a
 * notice of the run (p_notices) is not pending any more; else one per episode, its own first, with the kind and the rule that it ended by.
 */
const settle = `
CREATE FUNCTION repair.settle(p_episode text, p_lease uuid, p_notices text[], p_result jsonb)
RETURNS TABLE (episode text, project text, s uuid, session text, t bigint, notice_ids text[], kind text, rule_id text, result jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE w repair.work; i mailbox.incidents; v_result jsonb; v_status text := p_result ->> 'status'; v_others text; v_rule text; v_pending bigint;
BEGIN
  w := repair.fence(p_episode, p_lease);
  IF v_status NOT IN ('candidate_added', 'duplicate', 'already_covered', 'no_proposal', 'unactionable') THEN
    RAISE EXCEPTION 'a run that ended % settles nothing', v_status;
  END IF;
  PERFORM 1 FROM mailbox.session_alerts a WHERE a.s IN (SELECT e.s FROM mailbox.episodes e WHERE (e.id = p_episode OR e.incident_id = w.incident) AND e.status IN ('open', 'claimed'))
    ORDER BY a.s FOR UPDATE;
  SELECT x.* INTO i FROM mailbox.incidents x WHERE x.id = w.incident FOR UPDATE;
  SELECT count(*) INTO v_pending FROM mailbox.notices n JOIN mailbox.episodes e ON e.id = p_episode AND n.id = ANY(e.notice_ids) WHERE n.id = ANY(p_notices) AND n.status = 'pending';
  IF v_pending <> cardinality(p_notices) THEN RETURN; END IF;
  v_rule := coalesce(p_result ->> 'candidate_rule_id', p_result ->> 'existing_rule_id');
  IF v_status IN ('no_proposal', 'unactionable') THEN v_rule := NULL; END IF;
  v_others := CASE v_status WHEN 'candidate_added' THEN 'already_covered' ELSE v_status END;
  v_result := repair.book(w, p_result);
  RETURN QUERY
    WITH live AS (
      SELECT e.id, e.id = p_episode AS own, CASE WHEN e.id = p_episode THEN p_notices ELSE e.notice_ids END AS notices
      FROM mailbox.episodes e WHERE (e.id = p_episode OR e.incident_id = w.incident) AND e.status IN ('open', 'claimed')
        AND (e.id = p_episode OR NOT EXISTS (SELECT 1 FROM mailbox.notices n WHERE n.id = ANY(e.notice_ids) AND n.status <> 'pending'))
      ORDER BY e.id FOR UPDATE),
    closed AS (
      UPDATE mailbox.episodes e SET status = 'settled', settled_at = clock_timestamp(), outcome = jsonb_build_object('status', CASE WHEN live.own THEN v_status ELSE v_others END,
        'rule_id', v_rule, 'decided_by', CASE WHEN live.own THEN NULL ELSE p_episode END)
      FROM live WHERE e.id = live.id RETURNING e.id, e.project, e.s, e.session, e.t, live.own, live.notices),
    told AS (
      UPDATE mailbox.notices n SET status = 'acknowledged', resolution = jsonb_build_object('kind', CASE WHEN closed.own THEN v_status ELSE v_others END, 'rule_id', v_rule,
        'note', p_result ->> 'note', 'at', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
      FROM closed WHERE n.id = ANY(closed.notices) AND n.status = 'pending' RETURNING n.id),
    done AS (
      UPDATE repair.work x SET state = 'done', lease = NULL, leased_until = NULL, waits_for = NULL, last_error = NULL FROM closed WHERE x.episode = closed.id RETURNING x.episode)
    SELECT closed.id, closed.project, closed.s, closed.session, closed.t, closed.notices, CASE WHEN closed.own THEN v_status ELSE v_others END, v_rule,
      CASE WHEN closed.own THEN v_result END FROM closed ORDER BY closed.own DESC, closed.id;
  UPDATE mailbox.incidents x SET status = CASE WHEN v_rule IS NOT NULL AND x.fingerprint IS NOT NULL THEN 'covered' ELSE 'closed' END, rule_id = v_rule
    WHERE x.id = i.id AND NOT EXISTS (SELECT 1 FROM mailbox.episodes e WHERE e.incident_id = i.id AND e.status IN ('open', 'claimed'));
END $$;`;

/**
 * Ends a run that resolved nothing: its notices stay pending. After p_after_s the episode is due again, or it waits for an operator when
 * p_blocked. Gives the result with its times.
 */
const giveBack = `
CREATE FUNCTION repair.give_back(p_episode text, p_lease uuid, p_result jsonb, p_counts boolean, p_after_s float8, p_blocked boolean) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE w repair.work; v_result jsonb;
BEGIN
  w := repair.fence(p_episode, p_lease);
  v_result := repair.book(w, p_result);
  UPDATE repair.work SET state = CASE WHEN p_blocked THEN 'blocked' ELSE 'waiting' END, waits_for = CASE WHEN p_blocked THEN 'operator' WHEN p_after_s > 0 THEN 'backoff' END,
    failures = failures + CASE WHEN p_counts THEN 1 ELSE 0 END, run_after = clock_timestamp() + p_after_s * interval '1 second', lease = NULL, leased_until = NULL,
    last_error = coalesce(p_result ->> 'error_category', p_result ->> 'status') WHERE episode = p_episode;
  RETURN v_result;
END $$;`;

export const repairFunctions = [
  fence,
  enqueue,
  release,
  claim,
  renew,
  readEpisode,
  readTrace,
  lockRules,
  addCandidate,
  book,
  settle,
  giveBack,
].join('\n');

/** Only those that repair calls itself; the others run inside them. */
const forRepair = [
  'enqueue(text[])',
  'claim(uuid, float8, jsonb)',
  'renew(text, uuid, float8)',
  'read_episode(text, uuid)',
  'read_trace(text, uuid, text)',
  'lock_rules(text, uuid)',
  'add_candidate(text, uuid, jsonb)',
  'settle(text, uuid, text[], jsonb)',
  'give_back(text, uuid, jsonb, boolean, float8, boolean)',
];
const inside = ['fence(text, uuid)', 'release(text, text)', 'book(repair.work, jsonb)'];

export const repairFunctionNames: Readonly<Record<'forRepair' | 'inside', readonly string[]>> = { forRepair, inside };
