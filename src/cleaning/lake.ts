import path from 'node:path'
import type { AuditEvent } from '../event/event.js'
import type { Archive, ArchivingRun, Lake } from './archive-target.js'
import { eventsEncoder } from './events-file.js'
import { createLakeFile, type LakeFile } from './lake-file.js'
import { recoverLake } from './lake-recovery.js'

/** The folder of an event in the directory, as Hive and its readers name partitions. */
const folderOf = ({ created_at }: AuditEvent): string =>
  `year=${created_at.slice(0, 4)}/month=${created_at.slice(5, 7)}`

/** The first events that belong to the same folder, at most as many as the file takes. */
function firstPart(events: readonly AuditEvent[], room: number): readonly AuditEvent[] {
  const folder = folderOf(events[0]!)
  const end = events.findIndex((event, index) => index >= room || folderOf(event) !== folder)
  return end < 0 ? events : events.slice(0, end)
}

/**
 * Archives events in files. A file is complete before the ids of its events are returned. The events must come in the
 * order of their times.
 */
export function lakeArchive(lake: Lake, { rule, described, onFile }: ArchivingRun): Archive {
  let current: LakeFile | undefined
  let file: string | undefined
  let isRecovered = false

  const create = async (folder: string): Promise<LakeFile> => {
    if (!isRecovered) await recoverLake(lake, rule)
    isRecovered = true
    const encoder = eventsEncoder(lake.format, described, lake.columns)
    return createLakeFile({ lake, rule, folder, encoder })
  }

  const complete = async (): Promise<readonly string[]> => {
    if (!current) return []
    const { ids } = current
    file = path.resolve(lake.directory, await current.complete())
    current = undefined
    await onFile?.(file, ids)
    return ids
  }

  return {
    async add(events) {
      let durable: readonly string[] = []
      for (let rest = events; rest.length > 0;) {
        const folder = folderOf(rest[0]!)
        if (current && current.folder !== folder) durable = durable.concat(await complete())
        current ??= await create(folder)
        const part = firstPart(rest, lake.maxRows - current.ids.length)
        await current.add(part)
        rest = rest.slice(part.length)
        const isFull = current.ids.length >= lake.maxRows || current.size >= lake.maxBytes
        if (isFull) durable = durable.concat(await complete())
      }
      return durable
    },
    finish: complete,
    get file() {
      return file
    },
    async close() {
      await current?.discard()
      current = undefined
    },
  }
}
