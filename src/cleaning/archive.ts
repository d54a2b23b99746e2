import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { untilAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { DEFAULT_FILE_MODE } from '../store/file-mode.js'
import type { ArchiveEvents } from './rule.js'

/** Takes the events that one run removes. */
export interface Archive {
  /** Resolves once the events are durable in the archive. */
  add(events: readonly AuditEvent[]): Promise<void>
  /** Path of the file, from the first events on. */
  readonly file: string | undefined
  close(): Promise<void>
}

const compress = promisify(gzip)

// In characters. A page of large events would be too long for one string.
const MAX_MEMBER_LENGTH = 4_194_304

/** Where a rule archives events. */
export interface ArchiveTarget {
  /** A directory, or a function of the host. */
  readonly to: string | ArchiveEvents
  /** Permissions of the file. */
  readonly mode?: number | undefined
}

/** Once the signal aborts, the function of the host is not awaited. */
export function openArchive(
  { to: target, mode = DEFAULT_FILE_MODE }: ArchiveTarget,
  rule: string,
  signal: AbortSignal,
): Archive {
  if (typeof target === 'string') return fileArchive(target, rule, mode)
  return {
    add: (events) => untilAborted(target(events), signal),
    file: undefined,
    async close() {},
  }
}

function fileArchive(directory: string, rule: string, mode: number): Archive {
  let file: string | undefined
  let handle: FileHandle | undefined
  let size = 0

  const create = async (first: AuditEvent): Promise<FileHandle> => {
    await mkdir(directory, { recursive: true })
    const parts = [rule, first.created_at, randomBytes(4).toString('hex')].map(fileSafe)
    const name = path.resolve(directory, `${parts.join('-')}.ndjson.gz`)
    const created = await open(name, 'wx', mode)
    // The umask may have taken bits away; some file systems have no permissions.
    await created.chmod(mode).catch(() => {})
    file = name
    await syncDirectory(directory)
    return created
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
        // The events of this page stay in the store. On a full disk even `truncate` may fail.
        await handle.truncate(size).catch(() => {})
        throw error
      }
      size = end
    },
    get file() {
      return file
    },
    async close() {
      await handle?.close()
    },
  }
}

/** Throws if the path leads to another file or to none, because the removed events would not be found there. */
async function checkPlace(handle: FileHandle, file: string): Promise<void> {
  const written = await handle.stat({ bigint: true })
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  if (!found || found.ino !== written.ino || found.dev !== written.dev)
    throw new Error(`the archive ${file} was deleted, moved or replaced while it was written`)
}

/** The events as lines of JSON, in strings of a bounded length. */
function* linesOf(events: readonly AuditEvent[]): Generator<string, void, void> {
  let text = ''
  for (const event of events) {
    text += `${JSON.stringify(event)}\n`
    if (text.length < MAX_MEMBER_LENGTH) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const rest = bytes.length - done
    const { bytesWritten } = await handle.write(bytes, done, rest, position + done)
    done += bytesWritten
  }
}

/** Makes the names of new files in the directory durable. */
async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open directories, and needs no sync of them.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function fileSafe(text: string): string {
  return text.replaceAll(/[^\w.-]/g, '_')
}
