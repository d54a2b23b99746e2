import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { untilAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { DEFAULT_FILE_MODE } from '../store/file-mode.js'
import { checkPlace, createFile, fileSafe, syncDirectory, writeAll } from './archive-files.js'
import { linesOf } from './events-file.js'
import type { Archive, ArchiveTarget, ArchivingRun } from './archive-target.js'
import { lakeArchive } from './lake.js'

const compress = promisify(gzip)

const idsOf = (events: readonly AuditEvent[]): readonly string[] => events.map(({ id }) => id)

/** Once the signal aborts, the function of the host is not awaited. */
export function openArchive(
  { to: target, mode = DEFAULT_FILE_MODE }: ArchiveTarget,
  run: ArchivingRun,
): Archive {
  const { signal } = run
  if (typeof target === 'string') return fileArchive(target, run, mode)
  if (typeof target === 'object') return lakeArchive(target, run)
  return {
    async add(events) {
      await untilAborted(target(events), signal)
      return idsOf(events)
    },
    finish: async () => [],
    file: undefined,
    async close() {},
  }
}

/** Events of a file that is completed before its events are removed. */
const MAX_ROWS = 100_000

function fileArchive(directory: string, { rule, onFile }: ArchivingRun, mode: number): Archive {
  let file: string | undefined
  let handle: FileHandle | undefined
  let size = 0
  let ids: string[] = []

  const create = async (first: AuditEvent): Promise<FileHandle> => {
    await mkdir(directory, { recursive: true })
    const parts = [rule, first.created_at, randomBytes(4).toString('hex')].map(fileSafe)
    const name = path.resolve(directory, `${parts.join('-')}.ndjson.gz`)
    const created = await createFile(name, mode)
    file = name
    size = 0
    await syncDirectory(directory)
    return created
  }

  const complete = async (): Promise<readonly string[]> => {
    if (!onFile || !handle) return []
    const done = ids
    ids = []
    await handle.close()
    handle = undefined
    await onFile(file!, done)
    return done
  }

  return {
    async add(events) {
      handle ??= await create(events[0]!)
      let end = size
      try {
        for (const text of linesOf(events)) {
          // A gzip file may consist of several members (RFC 1952, section 2.2).
          const member = await compress(text)
          await writeAll(handle, member, end)
          end += member.length
        }
        await handle.sync()
        await checkPlace(handle, file!)
      } catch (error) {
        // The events of this page stay in the store, so a failure of `truncate` on a full disk does no harm.
        await handle.truncate(size).catch(() => {})
        throw error
      }
      size = end
      if (!onFile) return idsOf(events)
      ids.push(...idsOf(events))
      return ids.length >= MAX_ROWS ? complete() : []
    },
    finish: complete,
    get file() {
      return file
    },
    async close() {
      await handle?.close()
    },
  }
}
