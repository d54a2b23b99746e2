import { createFirstTimer } from '../../../src/async/timers.js'
import { AuditLogError, outcomeUnknown } from '../../../src/errors.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { SqliteDatabase } from './database.js'
import type { WalSync } from './wal-sync.js'

const unfinished = (): Error => new Error('the disk has not finished the commit')

/** When a call is given up. */
export type WriteOptions = Pick<AppendOptions, 'signal' | 'deadline'>

/** Waits for the disk, on a connection whose commits do not. */
export interface Durability {
  /**
   * Resolves once everything that this connection has committed is on the disk; rejects with `OUTCOME_UNKNOWN` if the disk fails,
   * or if the caller gives up before.
   */
  readonly durable: (options: WriteOptions) => Promise<void>
  /**
   * Resolves once everything that is visible now is on the disk, also what other connections have committed. Rejects with
   * `STORE_FAILED` if the disk fails.
   */
  readonly durableReads: (options: WriteOptions) => Promise<void>
  /** Resolves once no sync takes long. Rejects with `ABORTED` if the caller gives up before. */
  ready(options: WriteOptions): Promise<void>
}

/** The commits of a connection. */
export interface Commits {
  /** The number of commits so far. */
  readonly commits: () => number
  /** Removes the remains of a commit that failed on the disk; `tryWrite` does so first. */
  readonly settle: () => void
  /** Notes that a sync has failed: until `settle`, a later one proves nothing. */
  readonly distrust: (error: unknown) => void
  /** The error of a commit or of a sync that failed and is not settled yet. */
  readonly unsettled: () => unknown
}

export interface DurabilityDependencies {
  readonly database: SqliteDatabase
  /** `undefined` if each commit waits for the disk itself. */
  readonly sync: WalSync | undefined
  readonly transactions: Commits
  readonly retry: <Result>(act: () => Result, options: WriteOptions) => Promise<Result>
}

/** While a sync has not ended after this long, nothing more is written: it would have to wait too. */
const SLOW_MS = 100
/** How long a call without a deadline waits for the disk after its signal has aborted. */
const COMMIT_MS = 500

/** The error of a caller that gives up before its write has begun. */
const stopped = (): AuditLogError =>
  new AuditLogError('ABORTED', 'the operation was aborted', {
    cause: new Error('the disk has not finished an earlier commit'),
  })

export function createDurability({
  database,
  sync,
  transactions,
  retry,
}: DurabilityDependencies): Durability {
  if (!sync) {
    const nothing = async (): Promise<void> => {}
    return { ready: nothing, durable: nothing, durableReads: nothing }
  }
  /** The state that the last successful sync has made durable. */
  let known: Visible | undefined

  const visible = (): Visible => ({
    commits: transactions.commits(),
    version: database.pragma('data_version', { simple: true }),
  })

  const syncAll = async (): Promise<void> => {
    try {
      await sync.sync()
    } catch (error) {
      transactions.distrust(error)
      throw error
    }
    // Another sync may have failed meanwhile.
    const failure = transactions.unsettled()
    if (failure !== undefined) throw failure
  }

  return {
    async ready(options) {
      for (;;) {
        const oldest = sync.oldest()
        if (!oldest || performance.now() - oldest.since < SLOW_MS) return
        await within(
          oldest.ended.catch(() => {}),
          options,
          stopped,
          0,
        )
      }
    },
    async durable(options) {
      const commits = transactions.commits()
      try {
        await within(syncAll(), options, unfinished, COMMIT_MS)
      } catch (cause) {
        throw outcomeUnknown('the disk did not confirm a commit of the SQLite store', cause)
      }
      if (known) known = { ...known, commits: Math.max(known.commits, commits) }
    },
    async durableReads(options) {
      if (transactions.unsettled() !== undefined) await retry(transactions.settle, options)
      const now = visible()
      if (known && known.commits >= now.commits && known.version === now.version) return
      try {
        await within(syncAll(), options, stopped, 0)
      } catch (cause) {
        if (cause instanceof AuditLogError) throw cause
        const message = 'the SQLite store failed: the disk did not confirm what was read'
        throw new AuditLogError('STORE_FAILED', message, { cause })
      }
      if (!known || known.commits <= now.commits) known = now
    },
  }
}

interface Visible {
  /** Of this connection. */
  readonly commits: number
  /** Changes with commits of others: https://www.sqlite.org/pragma.html#pragma_data_version */
  readonly version: unknown
}

/** One timer for all calls that wait with a deadline. */
const waiting = new Set<{ readonly dueAt: () => number; readonly giveUp: () => void }>()
const timer = createFirstTimer((now) => {
  let next = Infinity
  for (const { dueAt, giveUp } of waiting) {
    const due = dueAt()
    if (due <= now) giveUp()
    else next = Math.min(next, due)
  }
  return next
})

/** Resolves with `act`; rejects with `error()` at the deadline, or `graceMs` after the signal aborts: with 0 at once, otherwise only without a deadline. */
async function within(
  act: Promise<void>,
  { signal, deadline }: WriteOptions,
  error: () => Error,
  graceMs: number,
): Promise<void> {
  if (!signal && deadline === undefined) return act
  let dueAt = deadline ?? Infinity
  let giveUp = (): void => {}
  const givenUp = new Promise<never>((_, reject) => (giveUp = () => reject(error())))
  const call = { dueAt: () => dueAt, giveUp: () => giveUp() }
  const onAbort = (): void => {
    if (graceMs === 0) giveUp()
    else if (deadline === undefined) timer.watch((dueAt = performance.now() + graceMs))
  }
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  waiting.add(call)
  if (dueAt !== Infinity) timer.watch(dueAt)
  try {
    return await Promise.race([act, givenUp])
  } finally {
    waiting.delete(call)
    signal?.removeEventListener('abort', onAbort)
  }
}
