import { createHash, randomBytes } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { AuditEvent } from '../event/event.js'
import { checkPlace, createFile, makeDirectory, syncDirectory, writeAll } from './archive-files.js'
import { EXTENSIONS, type EventsEncoder } from './events-file.js'
import type { Lake } from './archive-target.js'
import { fileName, partialName } from './lake-names.js'
import { writeEntry, type ManifestEntry } from './manifest.js'

/** A file of the archive that is being written. Its name does not match the patterns of readers. */
export interface LakeFile {
  readonly folder: string
  /** Ids of the events added so far. */
  readonly ids: readonly string[]
  /** Bytes written so far. */
  readonly size: number
  add(events: readonly AuditEvent[]): Promise<void>
  /** Resolves to the file's path in the directory once it is durable there and in the manifest. */
  complete(): Promise<string>
  /** Removes the file. */
  discard(): Promise<void>
}

export interface LakeFilePlan {
  readonly lake: Lake
  /** The name of the rule. */
  readonly rule: string
  /** Relative to the directory. */
  readonly folder: string
  readonly encoder: EventsEncoder
}

export async function createLakeFile({
  lake,
  rule,
  folder,
  encoder,
}: LakeFilePlan): Promise<LakeFile> {
  const place = path.join(lake.directory, folder)
  await makeDirectory(place)
  const random = randomBytes(4).toString('hex')
  const partial = path.join(place, partialName(rule, random))
  const handle = await createFile(partial, lake.mode)
  const hash = createHash('sha256')
  const ids: string[] = []
  let first = ''
  let last = ''
  let size = 0

  const write = async (bytes: Uint8Array): Promise<void> => {
    await writeAll(handle, bytes, size)
    hash.update(bytes)
    size += bytes.length
  }

  /** Nothing is removed from the store before this resolves. */
  const publish = async (): Promise<string> => {
    const name = fileName({ rule, first, last, random, extension: EXTENSIONS[lake.format] })
    const file = path.join(place, name)
    const entry: ManifestEntry = {
      file: `${folder}/${name}`,
      rule,
      count: ids.length,
      first_created_at: first,
      last_created_at: last,
      bytes: size,
      sha256: hash.digest('hex'),
    }
    await rename(partial, file)
    try {
      await checkPlace(handle, file)
      await syncDirectory(place)
      await syncDirectory(path.dirname(place))
    } catch (error) {
      // Otherwise each failed run would leave another copy of the same events.
      await rm(file, { force: true }).catch(() => {})
      throw error
    }
    await writeEntry(lake, entry)
    return entry.file
  }

  return {
    folder,
    ids,
    get size() {
      return size
    },
    async add(events) {
      first ||= events[0]!.created_at
      last = events.at(-1)!.created_at
      await write(await encoder.add(events))
      for (const { id } of events) ids.push(id)
    },
    async complete() {
      await write(await encoder.finish())
      await handle.sync()
      const file = await publish()
      await handle.close()
      return file
    },
    async discard() {
      await handle.close().catch(() => {})
      await rm(partial, { force: true }).catch(() => {})
    },
  }
}
