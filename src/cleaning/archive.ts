import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { untilAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { ArchiveEvents } from './rule.js'

/** Where the events of one run go. */
export interface Archive {
  /** Resolves once they are safe there. */
  add(events: readonly AuditEvent[]): Promise<void>
  /** Path of the file, once there is one. */
  readonly file: string | undefined
  close(): Promise<void>
}

const compress = promisify(gzip)

// Of large events this is a few; a page of them would make too long a text.
const MEMBER_LENGTH = 4_194_304

/** What the host's function does is not waited for once the signal aborts. */
export function openArchive(
  target: string | ArchiveEvents,
  rule: string,
  signal: AbortSignal,
): Archive {
  if (typeof target === 'string') return fileArchive(target, rule)
  return {
    add: (events) => untilAborted(target(events), signal),
    file: undefined,
    async close() {},
  }
}

function fileArchive(directory: string, rule: string): Archive {
  let file: string | undefined
  let handle: FileHandle | undefined
  let size = 0

  const create = async (first: AuditEvent): Promise<FileHandle> => {
    await mkdir(directory, { recursive: true })
    const parts = [rule, first.created_at, randomBytes(4).toString('hex')].map(fileSafe)
    const name = path.resolve(directory, `${parts.join('-')}.ndjson.gz`)
    const created = await open(name, 'wx')
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
          // Members one after another are one gzip file.
          const member = await compress(text)
          await writeAll(handle, member, end)
          end += member.length
        }
        await handle.sync()
      } catch (error) {
        // What was written of a page that stays in the store; a full disk may refuse even this.
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

/** The events as lines of JSON, in texts that are not too long. */
function* linesOf(events: readonly AuditEvent[]): Generator<string, void, void> {
  let text = ''
  for (const event of events) {
    text += `${JSON.stringify(event)}\n`
    if (text.length < MEMBER_LENGTH) continue
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

/** Makes the names of new files in it durable. */
async function syncDirectory(directory: string): Promise<void> {
  // Windows opens no directories, and does without.
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
