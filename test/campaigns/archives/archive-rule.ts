import type { ArchiveDirectory, EventsRule } from '../../../src/cleaning/rule.js'

/** A directory of files, or for `folder` one file for each run, which grows page by page. */
export type ArchiveFormat = ArchiveDirectory['format'] | 'folder'

/** The rule of the process that is killed: small files, so that each log has several. On Postgres it has no filter: whole partitions are archived. */
export const archivingRule = (
  directory: string,
  format: ArchiveFormat,
  isPartitioned: boolean,
): EventsRule => ({
  name: 'old',
  target: 'events',
  ...(!isPartitioned && { filter: 'filter[type_eq]=due' }),
  maxAge: { days: 1 },
  archive: format === 'folder' ? directory : { directory, format, maxRows: 70 },
})
