import type { ArchiveDirectory, EventsRule } from '../../../src/cleaning/rule.js'

/** The rule of the process that is killed: small files, so that each log has several. */
export const archivingRule = (
  archive: Pick<ArchiveDirectory, 'directory' | 'format'>,
): EventsRule => ({
  name: 'old',
  target: 'events',
  filter: 'filter[type_eq]=due',
  maxAge: { days: 1 },
  archive: { ...archive, maxRows: 70 },
})
