import Database from 'better-sqlite3'
import type { Clock, EventStore } from 'daybook'
import type { StoreUnderTest } from 'daybook/testing'
import { createSqliteStore, type WriterKind } from '../../adapters/sqlite/sqlite-store.js'
import { tempDir } from '../support/temp.js'
import { describeStore } from './describe-store.js'

async function openStore(filename: string, clock: Clock, writer: WriterKind): Promise<EventStore> {
  const { store, startWriter } = createSqliteStore({ filename, clock, writer })
  if ((await startWriter()) !== (writer === 'thread')) throw new Error('the thread has not started')
  return store
}

const storeWith =
  (writer: WriterKind) =>
  async ({ clock }: { readonly clock: Clock }): Promise<StoreUnderTest> => {
    const temp = tempDir()
    const filename = temp.file('audit.db')
    const open = () => openStore(filename, clock, writer)
    const begin = (kind: string) => {
      const handle = new Database(filename)
      handle.exec(`BEGIN ${kind}`)
      const end = async (command: string) => {
        handle.exec(command)
        handle.close()
      }
      return { handle, commit: () => end('COMMIT'), rollback: () => end('ROLLBACK') }
    }
    return {
      store: await open(),
      reopen: open,
      transaction: async () => begin('DEFERRED'),
      // The file has one lock for writing.
      interrupt: async () => begin('IMMEDIATE').rollback,
      dispose: async () => temp.remove(),
    }
  }

/** Cases about reading, which is done in the thread of the caller whatever thread writes. */
const READING = /^(?:count|excess|explain|filter|free text|get|groups|list|pages|sort): /

describeStore('sqlite', storeWith('thread'), (name) => !READING.test(name))
describeStore('sqlite inline', storeWith('inline'))
