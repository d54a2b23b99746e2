import { mkdir, open, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { createPausingLoop } from '../async/loops.js'
import { AuditLogError, untilAborted } from '../errors.js'
import { type Duration, subtract } from '../event/duration.js'
import type { WaitOptions } from '../store/store.js'

/** A place outside of the database that keeps signed heads. */
export interface LedgerAnchor {
  /** Shown in the status of the ledger. */
  readonly name: string
  /** Keeps a head, the text of a note of about 200 bytes. Resolves once it is kept, within a minute. */
  publish(note: string): Promise<unknown>
  /** Returns the head that was kept last; `undefined` before the first. Verifications use it as one from outside. */
  latest?(): Promise<string | undefined>
}

/** An anchor, and how often it gets a head. */
export interface ScheduledAnchor {
  readonly anchor: LedgerAnchor
  /** Time from one head to the next. Nothing is published while there is no new event. */
  readonly every: Duration
}

/** Condition of an anchor, as plain JSON. */
export interface AnchorStatus {
  readonly name: string
  /** Number of leaves under the head that this process published last; 0 before the first. */
  readonly size: number
  /** Time of that publication, ISO 8601. */
  readonly at?: string
  /** The error of the last attempt. */
  readonly error?: string
}

const PUBLISH_MS = 60_000
/** Interval of attempts while another process seals, or after an error. */
const RETRY_MS = 10_000

const FILE = /^\d{4}-\d\d-\d\d\.txt$/

/** The notes of a file. A note ends with its signatures, each of which begins with a dash. */
const notesOf = (text: string): string[] => text.match(/(?:[^\n]+\n){3}\n(?:— [^\n]+\n)+/g) ?? []

/**
 * An anchor in a directory: a file for each day in UTC, `2026-03-02.txt`, to which heads are appended. The directory should be on storage that refuses changes
 * of what was written. `publish` rejects with the error of the file system.
 */
export function directoryAnchor(directory: string): LedgerAnchor {
  if (typeof directory !== 'string' || directory === '')
    throw new AuditLogError('INVALID_OPTION', 'directoryAnchor takes the path of a directory')
  return {
    name: directory,
    async publish(note) {
      await mkdir(directory, { recursive: true })
      const name = `${new Date().toISOString().slice(0, 10)}.txt`
      const file = await open(path.join(directory, name), 'a', 0o600)
      try {
        await file.writeFile(note)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    async latest() {
      const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      const newest = names
        .filter((name) => FILE.test(name))
        .toSorted()
        .at(-1)
      if (newest === undefined) return undefined
      return notesOf(await readFile(path.join(directory, newest), 'utf8')).at(-1)
    },
  }
}

export interface AnchoringContext {
  readonly anchors: readonly ScheduledAnchor[]
  /** True while this process seals the log. */
  readonly isSealing: () => boolean
  /** Seals what is visible, and returns the signed head. */
  readonly checkpoint: (options: WaitOptions) => Promise<string>
}

export interface Anchoring {
  status(): readonly AnchorStatus[]
  stop(): Promise<void>
}

const msOf = (every: Duration): number => {
  const now = Date.now() * 1000
  return (now - subtract(now, every)) / 1000
}

const sizeOf = (note: string): number => Number(note.split('\n')[1])

/** Gives heads to the anchors, in the process that seals. */
export function startAnchoring({ anchors, isSealing, checkpoint }: AnchoringContext): Anchoring {
  const closing = new AbortController()
  const statuses: AnchorStatus[] = anchors.map(({ anchor: { name } }) => ({ name, size: 0 }))

  const publish = async (i: number): Promise<void> => {
    const { anchor } = anchors[i]!
    const { name, size: last } = statuses[i]!
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(PUBLISH_MS)])
    const note = await checkpoint({ signal })
    const size = sizeOf(note)
    if (size > last) await untilAborted(Promise.resolve(anchor.publish(note)), signal)
    if (size > last) statuses[i] = { name, size, at: new Date().toISOString() }
    else {
      const { error: _error, ...known } = statuses[i]!
      statuses[i] = known
    }
  }

  const loops = anchors.map(({ every }, i) =>
    createPausingLoop(
      async () => {
        const everyMs = msOf(every)
        if (!isSealing()) return Math.min(everyMs, RETRY_MS)
        try {
          await publish(i)
          return everyMs
        } catch (error) {
          if (!closing.signal.aborted)
            statuses[i] = {
              ...statuses[i]!,
              error: (error as Error | undefined)?.message ?? String(error),
            }
          return Math.min(everyMs, RETRY_MS)
        }
      },
      { firstMs: Math.min(msOf(every), 1000) },
    ),
  )

  return {
    status: () => [...statuses],
    async stop() {
      closing.abort()
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}
