import type { Names } from './names.js'

/*
 * The events that were removed by their ids since a segment was built. `removed_events` has the time of each such
 * event, and the number of removed events once it was removed, which is higher than that of a segment that has the
 * event. An event of the same time that was imported after the removal may be in a segment whose number is higher.
 */

/** SQL that is true for a segment `s` that may have the event of the row `r`. */
export const isListedSql =
  's.first <= r.created_at AND s.last >= r.created_at AND s.removed < r.removed'

/** SQL that counts the events in the table `deleted`; `counted` has the new number. */
export const countRemovedSql = ({ indexState }: Names): string =>
  `UPDATE ${indexState} SET removed = removed + (SELECT count(*) FROM deleted), ${NEWEST_REMOVED}
   WHERE EXISTS (SELECT FROM deleted) RETURNING removed AS number`

const NEWEST_REMOVED =
  'newest_removed = greatest(newest_removed, (SELECT max(created_at) FROM deleted))'

/** SQL that notes only the newest time of the open events in the table `deleted`. */
export const noteNewestRemovedSql = ({ indexState }: Names): string =>
  `UPDATE ${indexState} SET ${NEWEST_REMOVED} WHERE EXISTS (SELECT FROM deleted)`

/** SQL that notes the times of the events in the table `deleted`, after they were `counted`. */
export const noteRemovedSql = ({ removed }: Names): string =>
  `INSERT INTO ${removed} (created_at, removed)
   SELECT deleted.created_at, counted.number FROM deleted CROSS JOIN counted
   ON CONFLICT (created_at) DO UPDATE SET removed = excluded.removed`
