import { AuditLogError, outcomeUnknown } from '../../../src/errors.js'
import { encodeRequest } from './request-memory.js'
import type { KeptThread } from './kept-thread.js'
import type { WriterThread } from './start-writer-thread.js'
import { type CallOptions, ThreadEnded, UnconfirmedWrite } from './thread-call.js'
import type { Writer } from './writer.js'

/** The place of the options among the arguments of each method. */
const OPTIONS_AT: Readonly<Record<Exclude<keyof Writer, 'append'>, 0 | 1>> = {
  importEvents: 1,
  removeBefore: 1,
  removeIds: 1,
  releasePages: 0,
  checkpoint: 0,
  reportSuppressed: 1,
  recordSuppressed: 1,
  replaceStates: 1,
  changeLive: 1,
  touchLive: 1,
  closeLive: 1,
  closeAbandoned: 1,
  moveOutbox: 0,
  setDamaged: 1,
  requestRebuild: 0,
  analyze: 0,
}

type Method = (...args: unknown[]) => Promise<unknown>

/**
 * Writes in the thread while it runs, and with `inline` otherwise. If a commit is not confirmed, `append` rejects with
 * `UnconfirmedWrite`, and the other methods with `OUTCOME_UNKNOWN`. Rejects with `CLOSED` unless `isOpen` returns true.
 */
export function createThreadedWriter(
  thread: Pick<KeptThread, 'current'>,
  inline: Writer,
  isOpen: () => boolean,
): Writer {
  let inlineCalls = 0

  /** The two threads never write at the same time, so calls keep their order. */
  const run = async (
    inThread: (thread: WriterThread) => Promise<unknown>,
    inMain: () => Promise<unknown>,
  ): Promise<unknown> => {
    if (!isOpen()) throw new AuditLogError('CLOSED', 'the SQLite store is closed')
    const running = thread.current()
    if (running && inlineCalls === 0) {
      try {
        return await inThread(running)
      } catch (error) {
        if (!(error instanceof ThreadEnded)) throw error
      }
    }
    inlineCalls += 1
    try {
      return await inMain()
    } finally {
      inlineCalls -= 1
    }
  }

  const forward = ([name, at]: [string, number]): [string, Method] => {
    const method = name as keyof typeof OPTIONS_AT
    const call: Method = async (...args) => {
      const given = (args[at] ?? {}) as CallOptions
      const request = { method, args: args.slice(0, at) }
      try {
        return await run(
          (running) => running.call(request, given),
          () => (inline[method] as Method)(...args),
        )
      } catch (error) {
        if (!(error instanceof UnconfirmedWrite)) throw error
        throw outcomeUnknown(
          'the SQLite store did not confirm in time that the write is kept',
          error,
        )
      }
    }
    return [name, call]
  }

  const methods = Object.fromEntries(Object.entries(OPTIONS_AT).map(forward))
  return {
    ...(methods as unknown as Omit<Writer, 'append'>),
    append: (request, given) =>
      run(
        (running) => {
          const encoded = encodeRequest(request)
          return running.call({ method: 'append', args: [encoded] }, given, [encoded.drafts])
        },
        () => inline.append(request, given),
      ) as ReturnType<Writer['append']>,
  }
}
