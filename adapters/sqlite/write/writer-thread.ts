import os from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createConnection, type WriteOptions } from '../connection/connection.js'
import { openDatabase } from '../connection/database.js'
import { watchFile } from '../connection/file.js'
import { loadDriverInThread } from '../connection/thread.js'
import { createTables } from '../schema/tables.js'
import type { Appended } from './append.js'
import { type SharedCaller, sharedCaller } from './call-state.js'
import { cloneError } from './cloned-errors.js'
import { createHandOver } from './hand-over.js'
import { mailboxReceiver } from './mailbox.js'
import { createOutbox } from './outbox.js'
import { decodeRequest, type EncodedRequest } from './request-memory.js'
import type { FromThread, ToThread, WriterThreadData } from './start-writer-thread.js'
import type { WriterCall } from './thread-calls.js'
import { createWriter } from './writer.js'

/* The entry of the thread that `startWriterThread` starts. */

/** Appends need few pages. */
const MAX_CACHE_BYTES = 8 * 1024 * 1024

const port = parentPort!
const post = (message: FromThread): void => port.postMessage(message, [])

const options = workerData as WriterThreadData
const checkFile = (id: string): void => {
  if (id === options.fileId) return
  throw new Error(`${options.filename} is not the file any more that the store has opened`)
}
checkFile(watchFile(options.filename).id)
const driver = loadDriverInThread(options.driver)
const database = openDatabase(options.filename, () => {}, {
  mustExist: true,
  driver,
  cacheBytes: Math.min(options.cacheBytes, MAX_CACHE_BYTES),
})
const connection = createConnection(database, driver)
checkFile(connection.fileId)
const tables = createTables(connection)
tables.damages.watch((damage) => post({ damage }))
/** The time of the last message. */
let now = 0
const writer = createWriter(tables, createOutbox(connection), () => now)
const callers: SharedCaller[] = []
const mailbox = mailboxReceiver(options.mailbox, os.availableParallelism() > 1)
/** Calls that are not answered yet. */
let running = 0
const handOver = createHandOver()

async function append(encoded: EncodedRequest, given: WriteOptions): Promise<Appended | undefined> {
  const request = decodeRequest(encoded)
  const appended = await writer.append(request, given)
  const { drafts } = request
  // Open live events are in another table.
  if (appended?.exceptions.length === 0 && !drafts.some(({ live }) => live) && drafts.length > 0) {
    const { after, first } = appended
    handOver.add({ after, first, drafts: encoded.drafts })
  }
  return appended
}

type Method = (...args: unknown[]) => Promise<unknown>

const run = ({ method, args }: WriterCall, given: WriteOptions): Promise<unknown> =>
  method === 'append'
    ? append(args[0] as EncodedRequest, given)
    : (writer[method] as Method)(...args, given)

async function answer(message: WriterCall, isFromMailbox: boolean): Promise<void> {
  const { call } = message
  const caller = callers[call]!
  now = message.now
  running += 1
  try {
    const result = await run(message, { caller })
    caller.end()
    if (isFromMailbox && isPlain(result)) {
      if (!mailbox.answer(result)) post(call)
    } else {
      if (isFromMailbox) mailbox.answer(undefined)
      post({ call, result })
    }
  } catch (error) {
    caller.end()
    if (isFromMailbox) mailbox.answer(undefined)
    post({ call, failure: cloneError(error) })
  }
  running -= 1
  if (running === 0) answerNext()
}

/** The result of an append that stored all drafts. */
const isPlain = (result: unknown): result is Appended =>
  result !== undefined && (result as Appended).exceptions.length === 0

function answerNext(): void {
  const next = mailbox.look()
  if (!next) return
  const { call, now: calledAt, drafts } = next
  void answer({ call, now: calledAt, method: 'append', args: [{ drafts }] }, true)
}

port.on('message', (message: ToThread) => {
  mailbox.noteMessage()
  if (message === 'stop') {
    database.close()
    // Ends the thread. The port of Deno has no `close`.
    port.unref()
  } else if ('state' in message) callers.push(sharedCaller(message.state))
  else if ('batches' in message) handOver.connect(message.batches)
  else void answer(message, false)
})
post('ready')
