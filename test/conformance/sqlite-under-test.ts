import type { Clock, EventStore } from 'daybook'
import type { StoreUnderTest } from 'daybook/testing'
import { createSqliteStore, type WriterKind } from '../../adapters/sqlite/sqlite-store.js'
import { tempDir } from '../support/temp.js'
import { beginOnSqlite } from './host-transactions.js'

async function openStore(filename: string, clock: Clock, writer: WriterKind): Promise<EventStore> {
  const { store, startWriter } = createSqliteStore({ filename, clock, writer })
  if ((await startWriter()) !== (writer === 'thread')) throw new Error('the thread has not started')
  return store
}

/** Opens each case on a file of its own. */
export const sqliteStoreWith =
  (writer: WriterKind) =>
  async ({ clock }: { readonly clock: Clock }): Promise<StoreUnderTest> => {
    const temp = tempDir()
    const filename = temp.file('audit.db')
    const open = () => openStore(filename, clock, writer)
    return {
      store: await open(),
      reopen: open,
      transaction: async () => beginOnSqlite(filename),
      interrupt: async () => beginOnSqlite(filename, 'IMMEDIATE').rollback,
      dispose: async () => temp.remove(),
    }
  }

/** Cases about reading, which is done in the thread of the caller whatever thread writes. */
const READING = /^(?:count|excess|explain|filter|free text|get|groups|list|pages|sort): /

/** The cases that write. */
export const writes = (name: string): boolean => !READING.test(name)
