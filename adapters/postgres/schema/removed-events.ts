import type { Names } from './names.js'

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
