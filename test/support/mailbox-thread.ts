import { parentPort, workerData } from 'node:worker_threads'
import { type MailboxMemory, mailboxReceiver } from '../../adapters/sqlite/write/mailbox.js'

/* Looks into a mailbox after each message, and posts the call back that it finds, and whether that is its answer. */

const { mailbox: memory } = workerData as { readonly mailbox: MailboxMemory }
const mailbox = mailboxReceiver(memory, true)

parentPort!.on('message', () => {
  mailbox.noteMessage()
  const found = mailbox.look()
  if (!found) return
  const isAnswered = mailbox.answer({ first: found.now + 1, after: found.now - 1 })
  parentPort!.postMessage({ found, isByMessage: !isAnswered }, [])
})
parentPort!.postMessage('ready', [])
