import { type Engine, PINNED_PATH } from './engine.js'
import type { Names } from './names.js'

/**
 * Decides whether an event that is about to become visible passes its throttle. `opens_in` is 0 if it
 * does, and the throttle is closed then. One lock covers all throttles, so that no two transactions
 * wait for each other's rows.
 */
export const claimThrottleFunction = (names: Names, engine: Engine): string => `
  CREATE FUNCTION ${names.claimThrottle}(
    _key text, _type text, _scope json, _period bigint, _suffix text, _time bigint, _present bigint,
    OUT opens_in bigint, OUT suppressed bigint, OUT since bigint
  ) LANGUAGE plpgsql VOLATILE ${PINNED_PATH} AS $daybook$
  DECLARE
    _throttle ${names.throttles};
  BEGIN
    ${engine.lockThrottles(names)}
    SELECT * INTO _throttle FROM ${names.throttles} WHERE key = _key FOR UPDATE;
    opens_in := 0;
    IF _throttle.stored_at > _present THEN
      UPDATE ${names.throttles} SET stored_at = _present WHERE key = _key;
      opens_in := _period;
    ELSIF _throttle.stored_at + _period > _present THEN
      opens_in := _throttle.stored_at + _period - _present;
    ELSE
      suppressed := coalesce(_throttle.suppressed, 0);
      since := _throttle.first_at;
      INSERT INTO ${names.throttles} AS throttle (key, type, scope, period, stored_at, stored_suffix)
      VALUES (_key, _type, _scope, _period, least(_time, _present), _suffix)
      ON CONFLICT (key) DO UPDATE SET
        type = excluded.type, scope = excluded.scope, period = excluded.period,
        stored_at = excluded.stored_at, stored_suffix = excluded.stored_suffix,
        reported = throttle.suppressed,
        reported_first_at = throttle.first_at, reported_last_at = throttle.last_at,
        suppressed = 0, first_at = NULL, last_at = NULL;
    END IF;
  END
  $daybook$;
`
