import type { ArchiveDirectory, EventsRule } from '../../../src/cleaning/rule.js'

/** The rule of the process that is killed: small files, so that each log has several. On Postgres it has no filter: whole partitions are archived. */
export const archivingRule = (
  archive: Pick<ArchiveDirectory, 'directory' | 'format'>,
  isPartitioned: boolean,
): EventsRule => ({
  name: 'old',
  target: 'events',
  ...(!isPartitioned && { filter: 'filter[type_eq]=due' }),
  maxAge: { days: 1 },
  archive: { ...archive, maxRows: 70 },
})
