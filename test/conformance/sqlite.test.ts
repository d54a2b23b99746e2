import Database from 'better-sqlite3'
import { sqliteStore } from 'daybook/sqlite'
import type { CreateStore } from 'daybook/testing'
import { tempDir } from '../support/temp.js'
import { describeStore } from './describe-store.js'

const createSqliteStore: CreateStore = ({ clock }) => {
  const temp = tempDir()
  const filename = temp.file('audit.db')
  const open = () => sqliteStore({ filename, clock })
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
    store: open(),
    reopen: async () => open(),
    transaction: async () => begin('DEFERRED'),
    // The file has one lock for writing.
    interrupt: async () => begin('IMMEDIATE').rollback,
    dispose: async () => temp.remove(),
  }
}

describeStore('sqlite', createSqliteStore)
