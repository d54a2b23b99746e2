import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { threadFile } from '../../../adapters/sqlite/connection/thread.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import {
  type MailboxCall,
  mailboxReceiver,
  mailboxSender,
  newMailbox,
} from '../../../adapters/sqlite/write/mailbox.js'
import { draft, range } from '../../../src/testing/conformance/helpers.js'
import { tempDir } from '../../support/temp.js'

const file = threadFile(new URL('../../support/', import.meta.url).href, 'mailbox-thread.ts')
const bytes = (text: string): ArrayBuffer => Uint8Array.from(Buffer.from(text)).buffer

const workers: Worker[] = []
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.terminate()
})

const ignore = (): void => {}

interface ThreadAnswer {
  readonly found: MailboxCall
  readonly isByMessage: boolean
}

async function startThread(answerMs = 0) {
  const memory = newMailbox()
  const sender = mailboxSender(memory, answerMs)
  const worker = new Worker(file, { workerData: { mailbox: memory } })
  workers.push(worker)
  await once(worker, 'message')
  const letLook = (): void => {
    sender.noteMessage()
    worker.postMessage('look', [])
  }
  /** Resolves to what the thread has found, and how it has answered. */
  const handOver = async (call: MailboxCall, onAnswer = ignore): Promise<ThreadAnswer> => {
    const answer = once(worker, 'message')
    for (let turn = 0; !sender.put(call, onAnswer); turn++) {
      // It looks for a moment only.
      if (turn % 50 === 0) letLook()
      await nextTurn()
    }
    const [answered] = (await answer) as [ThreadAnswer]
    return answered
  }
  return { sender, letLook, handOver }
}

describe('a mailbox', () => {
  it('hands a call to a thread that looks, and the result back', async () => {
    const { sender, handOver } = await startThread()
    for (let call = 0; call < 6; call++) {
      const given = { call, now: 1000 + call, drafts: bytes(`drafts ${call}`) }
      expect(await handOver(given)).toEqual({ found: given, isByMessage: true })
      expect(sender.result()).toEqual({ first: 1001 + call, after: 999 + call, exceptions: [] })
    }
  })

  it.each([
    ['in the mailbox if the caller looks until then', 60_000, false],
    ['in a message if the caller never looks', 0, true],
  ])('has each answer once: %s', async (_, answerMs, byMessage) => {
    const { sender, handOver } = await startThread(answerMs)
    for (let call = 0; call < 2; call++) {
      let answers = 0
      const given = { call, now: 1000 + call, drafts: bytes('') }
      const { isByMessage } = await handOver(given, () => void answers++)
      expect(isByMessage).toBe(byMessage)
      while (answers === 0 && !isByMessage) await nextTurn()
      expect(sender.result()).toEqual({ first: 1001 + call, after: 999 + call, exceptions: [] })
      for (let turn = 0; turn < 3; turn++) await nextTurn()
      expect(answers).toBe(isByMessage ? 0 : 1)
    }
  })

  it('has its answer once, whenever the caller stops looking', async () => {
    const { handOver } = await startThread(0.01)
    for (let call = 0; call < 4; call++) {
      let answers = 0
      const given = { call, now: 1000 + call, drafts: bytes('') }
      const { isByMessage } = await handOver(given, () => void answers++)
      while (answers === 0 && !isByMessage) await nextTurn()
      for (let turn = 0; turn < 3; turn++) await nextTurn()
      expect(answers).toBe(isByMessage ? 0 : 1)
    }
  })

  it('takes no call while the thread does not look', () => {
    const memory = newMailbox()
    const sender = mailboxSender(memory, 0)
    expect(sender.put({ call: 0, now: 1, drafts: bytes('') }, ignore)).toBe(false)
    // No call comes within its look.
    const receiver = mailboxReceiver(memory, true)
    receiver.noteMessage()
    sender.noteMessage()
    expect(receiver.look()).toBe(undefined)
    expect(sender.put({ call: 0, now: 1, drafts: bytes('') }, ignore)).toBe(false)
  })

  it('takes no call while a message is on its way', async () => {
    const { sender, letLook, handOver } = await startThread()
    await handOver({ call: 1, now: 1, drafts: bytes('') })
    letLook()
    sender.noteMessage()
    for (let turn = 0; turn < 100; turn++) {
      expect(sender.put({ call: 2, now: 1, drafts: bytes('') }, ignore)).toBe(false)
      await nextTurn()
    }
  })

  it('takes no drafts of more than 64 KiB', async () => {
    const { sender, letLook, handOver } = await startThread()
    letLook()
    const large = new ArrayBuffer(64 * 1024 + 1)
    for (let turn = 0; turn < 100; turn++) {
      expect(sender.put({ call: 1, now: 1, drafts: large }, ignore)).toBe(false)
      await nextTurn()
    }
    const { found } = await handOver({ call: 1, now: 1, drafts: large.slice(1) })
    expect(found.drafts.byteLength).toBe(64 * 1024)
  })
})

it('appends of one caller and of several, and other writes, keep their order', async () => {
  const temp = tempDir()
  const { store, startWriter } = createSqliteStore({ filename: temp.file('audit.db') })
  await startWriter()
  const drafts = range(0, 159).map((n) => draft({}, { type: `test:${n}` }))
  try {
    for (let at = 0; at < drafts.length; at += 8) {
      for (const draft of drafts.slice(at, at + 5)) await store.append([draft])
      await Promise.all([
        ...drafts.slice(at + 5, at + 8).map((draft) => store.append([draft])),
        store.updateState('key', () => at),
      ])
    }
    const { events } = await store.list({ where: undefined, sorts: [], limit: 1000 })
    expect(events.map(({ type }) => type)).toEqual(drafts.map(({ type }) => type))
  } finally {
    await store.close()
    temp.remove()
  }
})
