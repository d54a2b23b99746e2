import type { ArchiveDirectory, EventsRule } from '../../../src/cleaning/rule.js'

/** A rule that archives the events of whole partitions by day, in several files. */
export const partitionRule = (
  directory: string,
  archive: Partial<ArchiveDirectory> = {},
): EventsRule => ({
  target: 'events',
  maxAge: { days: 10 },
  archive: { directory, format: 'ndjson', maxRows: 25, ...archive },
})
